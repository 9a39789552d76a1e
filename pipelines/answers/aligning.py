"""What of the questions the best hits of their answers match, aligned in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quern.jobs.reasoning.alignment.alignment import Alignment
from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.roles import Parsed
from quern.jobs.reasoning.alignment.task import AlignInput, align_task, aligned
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.runner import Reasoner
from quern.pipelines.answers.compose import aligned_hit, question_parts
from quern.schemas.answers import AlignedHit, Hit, QuestionPart
from quern.schemas.settings import AlignSettings


@dataclass(frozen=True)
class AnswerAlignment:
    """The constituents of a question, and what of them its best hits match.

    Attributes:
        notes: Why another parser than the one that was asked for found the constituents.
    """

    parts: list[QuestionPart]
    hits: list[AlignedHit]
    notes: list[str]


def parsed_questions(settings: AlignSettings, given: Sequence[AnswerInput]) -> list[Parsed | None]:
    """The questions with their constituents; none where nothing is to be aligned."""
    return [*parsed([g.question for g in given], settings.parser)] if settings.hits else [None for _ in given]


def aligned_evidence(
    reasoner: Reasoner, settings: AlignSettings, questions: Sequence[Parsed | None], given: Sequence[AnswerInput]
) -> list[list[Alignment]]:
    """The alignment of each question with the best of its evidence.

    Raises:
        GeneratorError: A model aligns, and cannot be asked any more.
    """
    best = [[] if q is None else g.evidence[: settings.hits] for q, g in zip(questions, given, strict=True)]
    inputs = [AlignInput(q, e) for q, of in zip(questions, best, strict=True) for e in of if q is not None]
    outputs = [d.output for d in reasoner.run(align_task(), inputs)] if settings.model else map(aligned, inputs)
    one_by_one = iter(outputs)
    return [[next(one_by_one) for _ in of] for of in best]


def answer_alignment(question: Parsed | None, found: Sequence[Alignment], hits: Sequence[Hit]) -> AnswerAlignment:
    """The alignment of one question as its answer tells it; `hits` are the chunks of its evidence, in its order."""
    if question is None:
        return AnswerAlignment([], [], [])
    return AnswerAlignment(
        question_parts(question),
        [aligned_hit(alignment, hit) for alignment, hit in zip(found, hits, strict=False)],
        [f"Its parts were found by a simpler parser: {question.flaw}."] if question.flaw else [],
    )
