"""A comparison by value needs a value of each side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.parts.phrasing import side_name
from quern.jobs.reasoning.answering.parts.values import quantities_told, time_told
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.fits.things import akin
from quern.jobs.reasoning.confidence.reasons import Reason
from quern.jobs.reasoning.questions.outline import outline
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_LOOSE: Final = frozenset(
    {"", "compare", "compared", "differ", "different", "differed", "difference"}
)  # What is set beside each other need be no value.
_SAME: Final = lazy_pattern(r"equal\b", re.IGNORECASE)
_SIDES: Final = 2
_NAMES: Final = lazy_pattern(r"\b[A-Z][\w’'-]*")


def one_side(chosen: Chosen) -> Reason | None:
    """Why not, where a question asks which of two has more of something and both values are not told.

    Nor does it stand where a side has a name and no page that a value is taken from names it. Refused on all sets: 3
    that have no answer, 1 wrong answer, no right one.
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
    if unnamed := _unnamed(chosen, section.sides):
        return Reason("other_entity", f"What was found tells nothing of {unnamed} to compare.")
    values = max(len(quantities(short)), len(dates(short, None)))
    if (values >= _SIDES or _SAME.match(short)) and any(b.answer for b in given.before):
        return None
    told = [bool(quantities_told(given, b) or time_told(given, b)) for b in given.before]
    of = [side for side, has in zip(section.sides, told, strict=True) if not has] or section.sides
    found = [b.answer for b, has in zip(given.before, told, strict=True) if has and b.answer]
    beside = f" Of the other it says: {found[0]}" if len(found) == 1 and len(of) == 1 else ""
    return Reason("only_related", f"What was found tells no value of {' and '.join(of)} to compare.{beside}")


def _unnamed(chosen: Chosen, sides: Sequence[str]) -> str:
    """The side whose own name stands in none of the chunks that the short answer rests on; empty where each does."""
    given = chosen.given
    at = {given.sentences[n - 1].evidence for n in chosen.draft.sentences[0].rests_on}
    words = content_words(" ".join(f"{given.evidence[n].title or ''} {given.evidence[n].text}" for n in sorted(at)))
    names = [content_words(" ".join(_NAMES.findall(side))) for side in sides]
    own = (names[0] - content_words(sides[1]), names[1] - content_words(sides[0]))
    return next((side for side, name in zip(sides, own, strict=True) if name and not akin(name, words)), "")
