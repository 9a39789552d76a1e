"""What is made of a question before anything is looked for: refused, clarified, rewritten.

The stages of Xinyu AI Search (query preprocessing), over a batch of questions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from quern.jobs.reasoning.questions.refusal import RefusalInput, refusal_task
from quern.jobs.reasoning.questions.rewrite import REWRITE, Change, RewriteInput, Rewriting
from quern.jobs.reasoning.questions.vocabulary import Vocabulary
from quern.jobs.reasoning.runner import Reasoner
from quern.schemas.settings import QuestionSettings
from quern.schemas.settings.search.question import Category


@dataclass(frozen=True)
class Span:
    """Days that a question is about, both ends included.

    Attributes:
        words: The words of the question that say so.
    """

    first: date
    last: date
    words: str


@dataclass(frozen=True)
class Understood:
    """A question as it is to be answered.

    Attributes:
        question: What to look for: the question, rewritten.
        refused: What it is refused as; None where it is to be answered.
        changes: What was changed in it.
        options: Readings of it that the corpus knows, likeliest first; empty where it has one.
        spans: The times that it names relative to now.
        notes: What a reader of the answer should know of the above, in sentences.
    """

    question: str
    refused: Category | None = None
    changes: tuple[Change, ...] = ()
    options: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()


def understood(
    reasoner: Reasoner,
    questions: Sequence[str],
    vocabulary: Vocabulary,
    settings: QuestionSettings,
    now: date | None,
) -> list[Understood]:
    """What each of the questions is understood to be, in their order.

    Args:
        reasoner: What carries out the tasks: rules, or a model.
        questions: Questions without fault (`.faults`).
        vocabulary: That of the snapshot which is asked.
        settings: Which categories are refused, and whether questions are rewritten.
        now: The day that relative times count from where the settings name none.

    Raises:
        GeneratorError: The model cannot be asked any more.
    """
    refusals = [done.output for done in reasoner.run(refusal_task(settings), [RefusalInput(q) for q in questions])]
    asked = [n for n, refusal in enumerate(refusals) if settings.rewrite and not refusal.refused]
    inputs = [RewriteInput(questions[n], vocabulary, settings.now or now) for n in asked]
    rewritings = dict(zip(asked, (done.output for done in reasoner.run(REWRITE, inputs)), strict=True))
    return [
        _noted(rewritings[n])
        if n in rewritings
        else Understood(q, refusals[n].category if refusals[n].refused else None)
        for n, q in enumerate(questions)
    ]


def _noted(rewriting: Rewriting) -> Understood:
    return Understood(rewriting.question, changes=tuple(rewriting.changes))
