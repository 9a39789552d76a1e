"""What is made of a question before anything is looked for: refused, rewritten, clarified.

The stages of Xinyu AI Search (query preprocessing), over a batch of questions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from quern.jobs.reasoning.questions.asked import QuestionInput
from quern.jobs.reasoning.questions.clarify import CLARIFY, Clarification, ClarifyInput
from quern.jobs.reasoning.questions.refusal import Encode, refusal_task
from quern.jobs.reasoning.questions.rewrite import REWRITE, Change, RewriteInput, Rewriting
from quern.jobs.reasoning.questions.times import Span, spans
from quern.jobs.reasoning.questions.vocabulary import Vocabulary
from quern.jobs.reasoning.runner import Reasoner
from quern.schemas.settings import QuestionSettings
from quern.schemas.settings.search.question import Category

__all__ = ["Change", "Span", "Understood", "understood"]


@dataclass(frozen=True)
class Understood:
    """A question as it is to be answered.

    Attributes:
        question: What to look for: the question, rewritten.
        refused: What it is refused as; None where it is to be answered.
        changes: What was changed in it.
        options: Readings of it that the corpus knows, likeliest first; empty where it has one.
        spans: The times that its asker named relative to now, as days; a preamble's are not among them.
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
    now: Sequence[date | None],
    encode: Encode | None = None,
) -> list[Understood]:
    """What each of the questions is understood to be, in their order.

    Args:
        reasoner: What carries out the tasks: rules, or a model.
        questions: Questions without fault (`.faults`).
        vocabulary: That of the snapshot which is asked.
        settings: Which categories are refused, and whether questions are rewritten.
        now: The day that relative times of each question count from; None leaves them as they are.
        encode: Embeds questions for the rule of refusal; without it the rule refuses nothing.

    Raises:
        GeneratorError: The model cannot be asked any more.
    """
    inputs = [QuestionInput(question) for question in questions]
    refusals = [done.output for done in reasoner.run(refusal_task(settings, encode), inputs)]
    seen = [Understood(q, r.category if r.refused else None) for q, r in zip(questions, refusals, strict=True)]
    asked = [n for n, one in enumerate(seen) if settings.rewrite and one.refused is None]
    rewritings = reasoner.run(REWRITE, [RewriteInput(questions[n], vocabulary, now[n]) for n in asked])
    open_still = reasoner.run(CLARIFY, [ClarifyInput(done.output.question, vocabulary) for done in rewritings])
    for n, rewriting, clarification in zip(asked, rewritings, open_still, strict=True):
        day = now[n]
        named = spans(questions[n], day) if day else []
        seen[n] = _noted(rewriting.output, clarification.output, named)
    return [one if one.refused is None else _refused(one) for one in seen]


def _noted(rewriting: Rewriting, clarification: Clarification, named: Sequence[Span]) -> Understood:
    return Understood(
        rewriting.question,
        changes=tuple(rewriting.changes),
        options=tuple(clarification.choices),
        spans=tuple(span for span in named if span.words in rewriting.question),
        notes=(*map(_told, rewriting.changes), *_asked_back(clarification)),
    )


def _told(change: Change) -> str:
    """A change as a sentence."""
    if change.why == "preamble":
        return f"The question was read as “{change.after}”"
    if change.why == "time":
        return f"“{change.before}” was read as {change.after.removeprefix(change.before).strip(' ()（）')}."
    return f"“{change.before}” was read as “{change.after}”."


def _asked_back(clarification: Clarification) -> list[str]:
    """What a question leaves open, as sentences."""
    if not clarification.needs_more:
        return []
    choices = "; ".join(clarification.choices)
    return [f"{clarification.prompt} {f'It may be: {choices}. ' if choices else ''}The likeliest reading was answered."]


def _refused(one: Understood) -> Understood:
    why = f"Questions of the category {str(one.refused).replace('_', ' ')} are not answered."
    return Understood(one.question, one.refused, notes=(why,))
