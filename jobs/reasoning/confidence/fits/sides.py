"""A comparison by value needs a value of each side."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.parts.phrasing import side_name
from quern.jobs.reasoning.answering.parts.values import quantities_told, time_told
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.reasons import Reason
from quern.jobs.reasoning.questions.outline import outline
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.schemas.words.patterns import lazy_pattern

_LOOSE: Final = frozenset(
    {"", "compare", "compared", "differ", "different", "differed", "difference"}
)  # What is set beside each other need be no value.
_SAME: Final = lazy_pattern(r"equal\b", re.IGNORECASE)
_SIDES: Final = 2


def one_side(chosen: Chosen) -> Reason | None:
    """Why not, where a question asks which of two has more of something and both values are not told.

    Refused on all sets: 2 that have no answer, 1 wrong answer, no right one.
    """
    given = chosen.given
    sections = outline(given.question).sections
    if len(sections) != 1 or sections[0].way != "compare" or sections[0].word in _LOOSE:
        return None
    (section,) = sections
    if len(given.before) != _SIDES or len(section.sides) != _SIDES:
        return None
    short = chosen.draft.short
    if short.strip(" .").casefold() in (side_name(side).casefold() for side in section.sides):
        return None  # A sentence that compares both says so itself.
    values = max(len(quantities(short)), len(dates(short, None)))
    if (values >= _SIDES or _SAME.match(short)) and any(b.answer for b in given.before):
        return None
    told = [bool(quantities_told(given, b) or time_told(given, b)) for b in given.before]
    of = [side for side, has in zip(section.sides, told, strict=True) if not has] or section.sides
    found = [b.answer for b, has in zip(given.before, told, strict=True) if has and b.answer]
    beside = f" Of the other it says: {found[0]}" if len(found) == 1 and len(of) == 1 else ""
    return Reason("only_related", f"What was found tells no value of {' and '.join(of)} to compare.{beside}")
