"""Which questions are answered and which refused: the probability against the accepted risk."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, repeat
from typing import Final

from quern.jobs.reasoning.answering.course import span_without_topic, stages
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.task import Draft, answer_task
from quern.jobs.reasoning.confidence.counted_items import counted_items
from quern.jobs.reasoning.confidence.doubts import odds_by_reader
from quern.jobs.reasoning.confidence.features import (
    UNKNOWN,
    Encode,
    Features,
    converses,
    features,
    sentence_similarities,
)
from quern.jobs.reasoning.confidence.fits.misfit import misfit
from quern.jobs.reasoning.confidence.model import fitted
from quern.jobs.reasoning.confidence.reasons import (
    Code,
    of_another,
    of_other_number,
    of_same_things,
    of_sibling,
    reason_of,
)
from quern.schemas.settings import AnswerSettings

# What of its question the first chunk matches on average, over the sets that the model of confidence is fitted to. Less
# than that lowers the probability, more raises it. At the weight of .5 (`answer.verified`) no set that is held out has
# fewer refused at 8 % false refusals: sample corpus .42 to .50, lihua_world .51 to .52, clapnq .58 to .61, and what is
# struck out more too or as often. At 1.0 cmrc2018 and musique_train100 lose, and as a feature fitted to the other sets
# it weighs 1.4 and refuses .15 less of musique_train100.
_USUAL_SHARE: Final = 0.55
# Log odds that evidence which is no conversation answers, beside those of the model: people who ask of pages use words
# that these do not, where the model takes a missing word for a missing answer. Left free in fits with and without
# readers' questions it weighs .5 and .6. Of 262 of these 132 are right or rightly refused with .25, 125 without it and
# 135 with .4, where citations of the sample corpus fall to a precision of .945 as more doubtful questions are answered.
_OF_PROSE: Final = 0.25
# The same beside it where the evidence names all that the question names, its times too, and something of what it asks
# of them. Of freely worded questions the model tells those with an answer from those without no better than chance
# (area .43 of 156, .51 of 262), the laws of `fits` do: of 61 that these let pass and the model refused with .4 to .7,
# 56 had their answer in the evidence. Fitted where no law speaks, unanswered ones a fifth of each set: 1.0 on both sets
# and 119 questions of the sample corpus; .8, 1.0 and 1.3 with each of the three left out.
_OF_SAME_THINGS: Final = 1.0
_OF_ANOTHER: Final = (
    0.5  # Of the two answerable questions that a value on the page of another was told for, one was right.
)
_OF_SPAN: Final = 0.9  # Where what happened in a span is told by dated events of it: there is no word left to miss.
# Where as many things are listed as the question says that there are: `which three` by three. By reason alone.
_OF_COUNTED: Final = 0.8
_OF_OTHERS: Final = 0.2  # The same where an identifier or a qualifier of the question stands nowhere. By reason alone.
# The same where the answer does not fit what was asked: of 47 such questions 37 have no answer, 8 another one.
_OF_MISFIT: Final = 0.2

# Raised when the same evidence, draft and settings are judged otherwise: features, reasons, or what is above.
_VERSION: Final = 16


def identity(settings: AnswerSettings) -> object:
    """Everything that a judgement depends on beside question, evidence, draft and vectors, JSON-like."""
    return [_VERSION, answer_task(settings).version, asdict(fitted()), settings.model_dump(mode="json")]


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
    verified: Iterable[float | None] = (),
) -> list[Judgement]:
    """A judgement for each question, of the whole of its evidence; a draft that says nothing is refused anyway.

    With an embedder `encode`, the `answer.compared` likeliest sentences of each are compared with their question. A
    question that stands at the end of its DAG (`whole`) is answered too where all its leaves are, for its words need
    not stand in one place. Of lihua_world's 43 such questions 4 are refused wrongly instead of 9, and no more of the 9
    that have no answer are answered; on the sample corpus nothing changes.

    Where evidence was verified as it was looked for, `verified` has what of each question its first chunk matches.
    """
    near: Iterable[float] = repeat(UNKNOWN)
    if encode is not None and settings.compared:
        near = sentence_similarities(inputs, encode, settings.compared)
    rows = zip(inputs, drafts, near, chain(verified, repeat(None)), strict=False)
    return [
        _judged(given, draft, _probability(given, features(given, cosine), settings, share), settings.risk, parts=whole)
        for given, draft, cosine, share in rows
    ]


def _probability(given: AnswerInput, seen: Features, settings: AnswerSettings, share: float | None) -> float:
    """The probability by the model, and by verification where there was one."""
    if not given.evidence:
        return 0.0
    probability = fitted().probability(seen)
    if not converses(given):
        same = _OF_SAME_THINGS * (not given.before and of_same_things(given))
        probability = _shifted(probability, _OF_PROSE + same + odds_by_reader(given))
    return probability if share is None else moved(probability, share, settings.verified)


def moved(probability: float, share: float, weight: float) -> float:
    """A probability as verification moves it: by what of the question the first chunk matches, as log odds."""
    if not weight:
        return probability
    return _shifted(probability, weight * (share - _USUAL_SHARE))


def _shifted(probability: float, odds: float) -> float:
    """A probability moved by log odds."""
    return 1.0 / (1.0 + math.exp(-math.log(probability / (1.0 - probability)) - odds))


def _judged(given: AnswerInput, draft: Draft, probability: float, risk: float, *, parts: bool) -> Judgement:
    if parts and given.before:
        probability = max(probability, min(b.probability for b in given.before))
    if draft.sentences and span_without_topic(given.question) is not None and stages(given):
        probability = max(probability, _OF_SPAN)
    if counted_items(given, draft):
        probability = max(probability, _OF_COUNTED)
    other = of_another(given, draft)
    surely = of_other_number(given) or of_sibling(given, draft)
    unfit = misfit(given, draft) if surely is None else None
    if surely is not None or unfit is not None or other is not None:
        most = _OF_OTHERS if surely is not None else _OF_MISFIT if unfit is not None else _OF_ANOTHER
        probability = min(probability, most)
    elif given.evidence and draft.sentences and 1.0 - probability <= risk:
        return Judgement(probability)
    usual = reason_of(given)
    reason = surely or (usual if usual.code == "nothing_found" else unfit or other or usual)
    return Judgement(probability, reason.code, reason.detail)
