"""A question's path: retrieve → evidence → answer → compose, over batches of questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from quern.indexes.catalog import Manifest
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.sentences import strength
from quern.jobs.reasoning.answering.task import Draft, answer_task
from quern.jobs.reasoning.runner import Done, Reasoner
from quern.pipelines.answers.compose import Citations, sentences_of
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import Found, load_evidence
from quern.pipelines.retrieve.recipe import Recipe
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Answer, Question
from quern.schemas.settings import GeneratorSettings, Settings

BATCH_QUESTIONS = 256


@dataclass
class Tally:
    """What a run came to, whatever it answered.

    Attributes:
        computed: Times that a question or a part of one was reasoned about.
        reused: Times that what is remembered of an earlier run stood for that.
        fell_back: Times that the rule stood in for a model.
    """

    computed: int = 0
    reused: int = 0
    fell_back: int = 0

    def take(self, reasoner: Reasoner) -> None:
        """Take what a reasoner has done so far."""
        self.computed, self.reused, self.fell_back = reasoner.computed, reasoner.reused, reasoner.fallen_back


def answer_questions(
    searcher: Searcher,
    questions: Iterable[Question],
    recipe: Recipe,
    memo: Path | None = None,
    tally: Tally | None = None,
) -> Iterator[Answer]:
    """Answers in the order of the questions, computed in batches of `BATCH_QUESTIONS`.

    They are drafted by what `generator` names: the rule, or a model, for which the rule stands in where it gives no
    valid reply. With a `memo`, a directory, questions that were answered before from the same evidence by the same
    settings and model are not reasoned about again. `tally` is told how many.

    Raises:
        GeneratorError: The model cannot be used, or cannot be asked any more.
    """
    settings, stream = searcher.settings, iter(questions)
    task = answer_task(settings.answer)
    with Reasoner(settings.generator, settings.engine, memo=memo) as reasoner:
        while asked := list(islice(stream, BATCH_QUESTIONS)):
            batch = Batch(searcher, [q.question for q in asked])
            found = load_evidence(batch, recipe.rank(batch))
            inputs = [AnswerInput(q.question, f.evidence) for q, f in zip(asked, found, strict=True)]
            drafts = reasoner.run(task, inputs)
            for question, given, draft, f in zip(asked, inputs, drafts, found, strict=True):
                yield _answer(question, given, draft, f, recipe.name)
            if tally is not None:
                tally.take(reasoner)


def _answer(question: Question, given: AnswerInput, draft: Done[Draft], found: Found, recipe: str) -> Answer:
    citations = Citations(given, found.hits)
    return Answer(
        query_id=question.query_id,
        question=question.question,
        sentences=sentences_of(draft.output, citations),
        probability=strength(given),
        reason=None if draft.output.sentences else "only_related" if found.hits else "nothing_found",
        by=draft.by,
        recipe=recipe,
        citations=citations.all(),
        hits=found.hits,
        path=found.path,
        type=question.type,
        expected=question.answer,
    )


def settings_to_ask_by(manifest: Manifest) -> Settings:
    """The settings that a snapshot is asked by unless the user says otherwise: its own, and answers by rules.

    A model that wrote its synthetic queries answers only where this command names it: it may be gone, or cost money.
    """
    return manifest.known_settings().model_copy(update={"generator": GeneratorSettings()})
