"""A question's path: retrieve → evidence → answer → compose, over batches of questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from quern.indexes.catalog import Manifest
from quern.jobs.reasoning.answer import AnswerInput, answer_task
from quern.jobs.reasoning.runner import Reasoner
from quern.pipelines.answers.compose import composed
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import load_evidence
from quern.pipelines.retrieve.recipe import Recipe
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Answer, Question
from quern.schemas.settings import GeneratorSettings, Settings

BATCH_QUESTIONS = 256


def answer_questions(searcher: Searcher, questions: Iterable[Question], recipe: Recipe) -> Iterator[Answer]:
    """Answers in the order of the questions, computed in batches of `BATCH_QUESTIONS`.

    Their sentences are chosen by what `generator` names: the rule, or a model, for which the rule stands in where it
    gives no valid reply.

    Raises:
        GeneratorError: The model cannot be used, or cannot be asked any more.
    """
    settings, stream = searcher.settings, iter(questions)
    task = answer_task(settings.answer)
    with Reasoner(settings.generator, settings.engine) as reasoner:
        while asked := list(islice(stream, BATCH_QUESTIONS)):
            batch = Batch(searcher, [q.question for q in asked])
            found = load_evidence(batch, recipe.rank(batch))
            inputs = [AnswerInput(q.question, f.evidence) for q, f in zip(asked, found, strict=True)]
            chosen = reasoner.run(task, inputs)
            for question, given, done, f in zip(asked, inputs, chosen, found, strict=True):
                yield composed(question, given, done, f.hits, f.path, recipe.name)


def settings_to_ask_by(manifest: Manifest) -> Settings:
    """The settings that a snapshot is asked by unless the user says otherwise: its own, and answers by rules.

    A model that wrote its synthetic queries answers only where this command names it: it may be gone, or cost money.
    """
    return manifest.known_settings().model_copy(update={"generator": GeneratorSettings()})
