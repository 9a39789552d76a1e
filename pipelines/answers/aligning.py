"""What of the questions the best hits of their answers match, aligned in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quern.jobs.reasoning.alignment.constituents import parsed
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


def alignments(
    reasoner: Reasoner, settings: AlignSettings, given: Sequence[AnswerInput], hits: Sequence[Sequence[Hit]]
) -> list[AnswerAlignment]:
    """The alignment of each question; `hits` are the chunks of the evidence of `given`, in its order.

    Raises:
        GeneratorError: A model aligns, and cannot be asked any more.
    """
    if not settings.hits:
        return [AnswerAlignment([], [], []) for _ in given]
    questions = parsed([g.question for g in given], settings.parser)
    inputs = [AlignInput(q, e) for q, g in zip(questions, given, strict=True) for e in g.evidence[: settings.hits]]
    outputs = [d.output for d in reasoner.run(align_task(), inputs)] if settings.model else map(aligned, inputs)
    one_by_one = iter(outputs)
    return [
        AnswerAlignment(
            question_parts(question),
            [aligned_hit(next(one_by_one), hit) for hit in of[: settings.hits]],
            [f"Its parts were found by a simpler parser: {question.flaw}."] if question.flaw else [],
        )
        for question, of in zip(questions, hits, strict=True)
    ]
