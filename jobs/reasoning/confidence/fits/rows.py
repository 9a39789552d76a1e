"""A row of a table answers only what its label names: March says nothing of October, births nothing of deaths."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.scopes import scopes
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.fits.things import akin
from quern.jobs.reasoning.confidence.reasons import Reason
from quern.jobs.reasoning.questions.words import DETERMINERS, bare
from quern.jobs.text.stems import content_words
from quern.schemas.words.calendar import MONTH, WEEKDAYS
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

_OF: Final = lazy_pattern(r"(?P<what>[A-Za-z][\w’'-]*)\s+(?:of|for)\s+(?:the\s+)?(?P<of>[a-z][\w’'-]*)", re.IGNORECASE)
_BOUND: Final = lazy_pattern(
    rf"\b(?:after|before|since|until|till|from|than)\s+(?:{MONTH}|{'|'.join(WEEKDAYS)})\b", re.IGNORECASE
)
_TIMES: Final = ("month", "weekday")


def other_row(chosen: Chosen) -> Reason | None:
    """Why not, where the row is of another month or weekday than the question, or of another than the one it names.

    On nine visible sets 2 that have no answer and 1 wrong answer are refused for it, and no right one.
    """
    row = chosen.line.row
    if row is None or chosen.given.before or not chosen.english:
        return None
    label = row.cells[0].strip()
    if len(label.split()) == 1 and not _BOUND.search(chosen.question):
        asked = {str(s.unit): s.places for s in scopes(chosen.question) if s.unit in _TIMES}
        own = [s for s in scopes(label) if s.unit in asked]
        if own and not any(s.places & asked[s.unit] for s in own):
            return Reason("other_time", f"What was found is of {label}.")
        return None
    told = _OF.match(label)
    if told is None or not is_person(told["what"].lower()):
        return None  # What a measure is of may be said in many ways.
    wanted = re.findall(
        rf"\b{re.escape(told['what'])}\s+(?:of|for)\s+(?:the\s+)?([a-z][\w’'-]*)", chosen.question, re.IGNORECASE
    )
    others = [w for w in wanted if content_words(w) and not w[0].isupper() and bare(w) not in DETERMINERS]
    if len(others) != 1 or akin(content_words(others[0]), content_words(label)):
        return None
    return Reason("other_entity", f"What was found is of {told['of']}, not of {others[0]}.")
