"""Which questions are answered and which refused, and why: the calibrated probability against the accepted risk."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.confidence.features import features, holds, points, words_of
from quern.jobs.reasoning.logistic import LogisticModel
from quern.jobs.reasoning.questions.course import asks_events
from quern.jobs.tasks.task import rules_digest
from quern.jobs.text.stems import content_words
from quern.schemas.settings import AnswerSettings

_OF_EVENTS: Final = 0.9  # Where dated events of the evidence tell what happened, no words of it can be missing.


def identity(settings: AnswerSettings) -> object:
    """Everything that a judgement depends on beside question, evidence and draft, JSON-like."""
    return [rules_digest(), settings.model_dump(mode="json")]


@dataclass(frozen=True)
class Judgement:
    """What is thought of a drafted answer."""

    probability: float  # Calibrated probability that the evidence answers the question.
    reason: Code | None = None  # Why the question is refused; None where it is answered.
    detail: str = ""  # The reason in a sentence; empty where the question is answered.

    @property
    def refused(self) -> bool:
        """Whether there is to be no answer."""
        return self.reason is not None


def judged(
    inputs: Sequence[AnswerInput],
    drafts: Sequence[Draft],
    settings: AnswerSettings,
    *,
    whole: bool = False,
) -> list[Judgement]:
    """A judgement for each question, of all its evidence; a draft that says nothing is refused anyway.

    A question at the end of its plan (`whole`) is at least as probable as the least probable of its parts: its words
    need not stand in one place.
    """
    return [_judged(given, draft, settings, whole=whole) for given, draft in zip(inputs, drafts, strict=True)]


def _judged(given: AnswerInput, draft: Draft, settings: AnswerSettings, *, whole: bool) -> Judgement:
    probability = probability_of(given)
    if whole and given.before:
        probability = max(probability, min(before.probability for before in given.before))
    if len(draft.sentences) > 1 and asks_events(given.question) and any(e.events for e in given.evidence):
        probability = max(probability, _OF_EVENTS)
    if given.evidence and draft.sentences and 1.0 - probability <= settings.risk:
        return Judgement(probability)
    reason = reason_of(given)
    return Judgement(probability, reason.code, reason.detail)


def probability_of(given: AnswerInput) -> float:
    """The probability that the evidence answers, by the packaged model."""
    return fitted().probability(features(given)) if given.evidence else 0.0


FILE: Final = Path(__file__).with_name("model.json")


@lru_cache(maxsize=1)
def fitted() -> LogisticModel:
    """The packaged model, fitted by `python -m tests.benchmarks confidence --fit` to questions with known evidence."""
    return LogisticModel(**json.loads(FILE.read_text(encoding="utf-8")))


Code = Literal["nothing_found", "other_entity", "other_time", "only_related"]
_WORD: Final = re.compile(r"[\w'’-]+")


@dataclass(frozen=True)
class Reason:
    """Why there is no answer."""

    code: Code  # `nothing_found`, `other_entity`, `other_time` or `only_related`.
    detail: str  # What exactly, in a sentence.


def reason_of(given: AnswerInput) -> Reason:
    """Why the evidence may not answer the question."""
    asked = points(given.question)
    absent = asked.words.difference(*map(words_of, given.evidence))
    if not given.evidence or (asked.words and absent == asked.words):
        return Reason("nothing_found", "Nothing in the corpus speaks of what is asked.")
    if other := asked.names & absent:
        return Reason("other_entity", f"What was found does not name {as_asked(given.question, other)}.")
    if times := [w.text for w in asked.dates if not any(holds(e, w) for e in given.evidence)]:
        return Reason("other_time", f"What was found is not of {', '.join(times)}.")
    if absent:
        return Reason("only_related", f"What was found says nothing of {as_asked(given.question, absent)}.")
    return Reason("only_related", "What was found is about the same things, and does not say what is asked.")


def as_asked(question: str, stems: frozenset[str]) -> str:
    """The words of the question that have one of these stems, as they stand there."""
    words = [w for w in dict.fromkeys(_WORD.findall(question)) if content_words(w) & stems]
    return ", ".join(words) or "it"
