"""Which questions are answered and which refused: the probability against the accepted risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.confidence.features import features
from quern.jobs.reasoning.confidence.model import fitted
from quern.jobs.reasoning.confidence.reasons import Code, reason_of
from quern.jobs.reasoning.questions.course import asks_events
from quern.jobs.reasoning.rules import rules_digest
from quern.schemas.settings import AnswerSettings

_OF_EVENTS: Final = 0.9  # Where dated events of the evidence tell what happened, no words of it can be missing.


def identity(settings: AnswerSettings) -> object:
    """Everything that a judgement depends on beside question, evidence and draft, JSON-like."""
    return [rules_digest(), settings.model_dump(mode="json")]


@dataclass(frozen=True)
class Judgement:
    """What is thought of a drafted answer.

    Attributes:
        probability: Calibrated probability that the evidence answers the question.
        reason: Why the question is refused; None where it is answered.
        detail: The reason in a sentence; empty where the question is answered.
    """

    probability: float
    reason: Code | None = None
    detail: str = ""

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
