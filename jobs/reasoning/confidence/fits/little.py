"""A sentence that says next to nothing of what is asked, which the reader doubts, answers nothing."""

from __future__ import annotations

from typing import Final

from quern.jobs.reasoning.answering.kinds.units import MONEY
from quern.jobs.reasoning.answering.ranked import reading
from quern.jobs.reasoning.answering.wording import stems_said
from quern.jobs.reasoning.confidence.features import asked
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.reasons import Reason, as_asked
from quern.jobs.text.stems import content_words

_LEAST: Final = 1 / 3  # Of the words of a question that are of no name, those that stand in the sentence's chunk...
_SURE: Final = 0.9
_PAYS: Final = content_words("pay paid pays cost costs price priced charge charged fee much money")
_DOUBT: Final = 1.0  # ...where the reader's log odds that nothing answers are at least so much.


def little_said(chosen: Chosen) -> Reason | None:
    """Why not, where names alone are in common: `Wilf Arkwright cut the ribbon` for who designed the bridge.

    On six visible sets over the sample corpus 3 that have no answer are refused for it, and no right answer. Where only
    the sentences beside were asked for the words, 6 right ones were.
    """
    if not chosen.english or chosen.converses or chosen.given.before or chosen.line.row is not None:
        return None
    none = reading(chosen.given, chosen.kind).none
    points = asked(chosen.question)
    plain = points.words - points.names
    if chosen.kind.units & MONEY and any(v.fit >= _SURE for v in chosen.line.values):
        plain -= _PAYS  # `Tandems 5 crowns` says what one pays.
    if none is None or none < _DOUBT or not plain:
        return None
    told = stems_said(plain, content_words(chosen.chunk))
    if len(told) > _LEAST * len(plain):
        return None
    return Reason("only_related", f"What was found says nothing of {as_asked(chosen.question, plain - told)}.")
