"""Which questions are answered and which refused: the probability against the accepted risk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.task import Draft
from quern.jobs.reasoning.confidence.features import UNKNOWN, Encode, Features, features, sentence_similarities
from quern.jobs.reasoning.confidence.model import fitted
from quern.jobs.reasoning.confidence.reasons import Code, of_another, reason_of
from quern.schemas.settings import AnswerSettings

_OF_ANOTHER = 0.5  # Of the two answerable questions that a value on the page of another was told for, one was right.


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
    encode: Encode | None = None,
    *,
    whole: bool = False,
) -> list[Judgement]:
    """A judgement for each question, of the whole of its evidence; a draft that says nothing is refused anyway.

    With an embedder `encode`, the `answer.compared` likeliest sentences of each are compared with their question. A
    question that stands at the end of its DAG (`whole`) is answered too where all its leaves are, for its words need
    not stand in one place. Of lihua_world's 43 such questions 4 are refused wrongly instead of 9, and no more of the 9
    that have no answer are answered; on the sample corpus nothing changes.
    """
    near: Iterable[float] = repeat(UNKNOWN)
    if encode is not None and settings.compared:
        near = sentence_similarities(inputs, encode, settings.compared)
    rows = zip(inputs, drafts, near, strict=False)
    return [_judged(given, draft, features(given, cosine), settings.risk, parts=whole) for given, draft, cosine in rows]


def _judged(given: AnswerInput, draft: Draft, seen: Features, risk: float, *, parts: bool) -> Judgement:
    probability = fitted().probability(seen) if given.evidence else 0.0
    if parts and given.before:
        probability = max(probability, min(b.probability for b in given.before))
    if (other := of_another(given, draft)) is not None:
        probability = min(probability, _OF_ANOTHER)
    elif given.evidence and draft.sentences and 1.0 - probability <= risk:
        return Judgement(probability)
    reason = other or reason_of(given)
    return Judgement(probability, reason.code, reason.detail)
