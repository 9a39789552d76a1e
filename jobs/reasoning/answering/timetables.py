"""Hours of a timetable by one that a question names: `if I miss the 10.05, when is the next`, `when is the 10.05 back`.

The first stands in the same column, the second in the same row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.spans_of_time import clock
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_HOUR: Final = lazy_pattern(r"(?<![\d.])(?:[01]?\d|2[0-4])[.:][0-5]\d(?![\d%.])(?:\s*[ap]\.?m\b)?", re.IGNORECASE)
_CELL: Final = lazy_pattern(r"(?:[01]?\d|2[0-4])[.:][0-5]\d(?:\s*[ap]\.?m\.?)?", re.IGNORECASE)
_BEFORE: Final = lazy_pattern(r"\b(?:previous|one\s+before|last\s+(?:\w+\s+){0,3}before)\b", re.IGNORECASE)
_AFTER: Final = lazy_pattern(
    r"\b(?:next|following|one\s+after|(?:first|earliest)\s+(?:\w+\s+){0,3}after)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Departure:
    """An hour of a timetable and the number of its row."""

    text: str
    number: int


def departure(question: str, best: Sequence[Line]) -> Departure | None:
    """The hour next to that of the question in its column, or beside it in its row; None where no table has the hour.

    Which is asked for is told by `next` or `the one before`; not where both are.
    """
    found = _HOUR.search(question)
    after, before = _AFTER.search(question), _BEFORE.search(question)
    named = clock(found[0]) if found else None
    if named is None or (after is not None and before is not None):
        return None
    if after is None and before is None:
        return _in_row(question, named.minutes, best)
    for line in best:
        for at, cell in enumerate(line.row.cells if line.row is not None else ()):
            if _minutes(cell) != named.minutes:
                continue
            hours = [(m, o) for o in best if (m := _beside(line, o, at)) is not None]
            later = [(m, o) for m, o in hours if (m > named.minutes if after else m < named.minutes)]
            if later:
                _, row = min(later, key=lambda hour: (abs(hour[0] - named.minutes), hour[1].number))
                return Departure(row.row.cells[at] if row.row else "", row.number)
    return None


def _in_row(question: str, minutes: int, best: Sequence[Line]) -> Departure | None:
    """A later hour of a row that has the one named: of several the one whose head shares most with the question."""
    asked = content_words(question)
    for line in best:
        if line.row is None or minutes not in map(_minutes, line.row.cells):
            continue
        heads = line.row.header or ("",) * len(line.row.cells)
        hours = [(head, cell) for head, cell in zip(heads, line.row.cells, strict=True) if _minutes(cell) is not None]
        others = [(head, cell) for head, cell in hours if (_minutes(cell) or 0) > minutes]
        if others:
            _, cell = max(others, key=lambda o: len(content_words(o[0]) & asked))
            return Departure(cell, line.number)
    return None


def _beside(line: Line, other: Line, at: int) -> int | None:
    """The minutes since midnight in column `at` of another row of the table of `line`; None where it is in none."""
    if line.row is None or other.row is None or line.evidence != other.evidence:
        return None
    same = line.row.header == other.row.header and len(line.row.cells) == len(other.row.cells)
    return _minutes(other.row.cells[at]) if same else None


def _minutes(cell: str) -> int | None:
    hour = clock(cell) if _CELL.fullmatch(cell.strip()) else None
    return hour.minutes if hour else None
