"""What two amounts of a sentence come to, where a question asks for both together and no likely sentence says it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.siblings import siblings
from quern.jobs.reasoning.answering.spans_of_time import counted
from quern.jobs.reasoning.answering.typed.value import amounts
from quern.schemas.words.patterns import lazy_pattern

_ASKED: Final = lazy_pattern(
    r"\b(?:add(?:s|ed)?\s+up\s+to|(?:came?|comes?|amount(?:s|ed)?)\s+to\s+(?:\w+\s+){0,4}?together|the\s+sum\s+of|"
    r"(?:both|the\s+two|the\s+[a-z]+s)\s+(?:(?:[a-z]+\s+)?together|combined|in\s+total|in\s+all|altogether))\b",
    re.IGNORECASE,
)
_SAID: Final = lazy_pattern(r"\b(?:together|combined|altogether|total\w*|in\s+all|sum)\b", re.IGNORECASE)
_SURE: Final = 0.9  # How well both values fit at least.
_LIKELY: Final = 4  # Of the best sentences, those that may have them.


def total(question: str, kind: Kind, best: Sequence[Line]) -> tuple[str, int] | None:
    """What both come to, with both: `650,000 crowns (410,000 crowns and 240,000 crowns)`, and their sentence's number.

    Of two clauses that have a name each and one unit. None where another is asked for, or a sentence tells a total.
    """
    if kind.name not in ("how_many", "how_much") or not _ASKED.search(question):
        return None
    likely = [line for line in best[:_LIKELY] if line.row is None]
    if any(_SAID.search(line.text) and line.values for line in likely):
        return None
    for line in likely:
        sure = [v for v in line.values if v.fit >= _SURE]
        beside = siblings(question, kind, line.text, sure)
        told = [q for v in sure for q in amounts(v.text)[:1]]
        if beside is None or not beside.named or len(beside.groups) != 2 or len(told) != 2:
            continue
        one, other = told
        if one.unit == other.unit:
            return f"{counted(one.value + other.value, one.unit)} ({one.text} and {other.text})", line.number
    return None
