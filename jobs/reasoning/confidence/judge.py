"""Which questions are answered and which refused: the probability against the accepted risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.task import Draft
from quern.jobs.reasoning.confidence.features import features
from quern.jobs.reasoning.confidence.model import fitted
from quern.jobs.reasoning.confidence.reasons import Code, reason_of
from quern.schemas.settings import AnswerSettings


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


def judged(inputs: Sequence[AnswerInput], drafts: Sequence[Draft], settings: AnswerSettings) -> list[Judgement]:
    """A judgement for each question, of the whole of its evidence; a draft that says nothing is refused anyway."""
    return [_judged(given, draft, settings.risk) for given, draft in zip(inputs, drafts, strict=True)]


def _judged(given: AnswerInput, draft: Draft, risk: float) -> Judgement:
    probability = fitted().probability(features(given)) if given.evidence else 0.0
    if given.evidence and draft.sentences and 1.0 - probability <= risk:
        return Judgement(probability)
    reason = reason_of(given)
    return Judgement(probability, reason.code, reason.detail)
