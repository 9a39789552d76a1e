"""The row of a table that has most of something, or least: `which trial followed the most hives`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.tables import Row
from quern.jobs.reasoning.answering.typed.value import times
from quern.jobs.reasoning.answering.wording import said_by_others
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_ASKS: Final = lazy_pattern(
    r"\b(?:(?P<most>most|largest|biggest|highest|greatest|longest|tallest|heaviest|deepest|widest|busiest)|"
    r"(?P<least>least|fewest|smallest|lowest|shortest|lightest|shallowest|narrowest)|"
    r"(?P<late>latest|newest|youngest|most recent)|(?P<early>oldest|earliest)|"
    r"(?P<dear>dearest|costliest|most expensive|priciest)|(?P<cheap>cheapest|least expensive))\b",
    re.IGNORECASE,
)
_CHANGES: Final = lazy_pattern(
    r"\b(?:(?P<up>grew|grow|grown|growth|rose|rise|risen|increase[ds]?|gain(?:ed|s)?)|"
    r"(?P<down>fell|fall|fallen|decrease[ds]?|dropp?(?:ed|s)?|declined?|shrank|shrunk|lost))\b",
    re.IGNORECASE,
)
_NUMBER: Final = lazy_pattern(r"\s*(?:about |some )?[^\d\s]{0,2}(\d[\d,]*(?:\.\d+)?)\s*\D{0,15}")
# A row that adds up the others is none of them.
_SUM: Final = lazy_pattern(r"(?:grand |sub)?-?(?:total|sum|all|average|mean|median)\b", re.IGNORECASE)
_YEAR: Final = lazy_pattern(r"(?:1\d|20)\d\d")
_LOOKED_AT: Final = 12  # Of the best lines, those whose tables are looked at.
_PRICES: Final = lazy_pattern(
    r"\b(?:prices?|costs?|fares?|fees?|rates?|charges?|crowns?|euros?|dollars?|pounds?|yuan)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Extreme:
    """The row that has most or least.

    Attributes:
        label: The label of the row.
        cells: The cells that decide: one, or the two between which it changed.
        number: Number of its sentence.
    """

    label: str
    cells: tuple[str, ...]
    number: int


def extreme(question: str, best: Sequence[Line], noun: frozenset[str] = frozenset()) -> Extreme | None:
    """The row asked for of the table with the best line whose header has the words of the question.

    Behind the best lines only tables are looked at that speak of the `noun` that is asked for, in their title or rows.
    """
    asks = _ASKS.search(question)
    if asks is None:
        return None
    seen: set[tuple[int, tuple[str, ...]]] = set()
    for n, line in enumerate(best):
        if line.row is None or not line.row.header or (line.evidence, line.row.header) in seen:
            continue
        seen.add((line.evidence, line.row.header))
        if n >= _LOOKED_AT and not (line.signals.title > 0.0 and line.signals.named >= 1.0 and noun):
            continue
        table = [(o.row, o.number) for o in best if _beside(o, line) and o.row is not None]
        table = [(row, number) for row, number in table if not _SUM.match(row.cells[0])]
        if len(table) > 1 and (found := _of_table(question, asks, table)) is not None:
            return found
    return None


def _beside(one: Line, other: Line) -> bool:
    """Whether two lines are of one table."""
    return (
        one.row is not None
        and other.row is not None
        and one.evidence == other.evidence
        and one.row.header == other.row.header
    )


def _of_table(question: str, asks: re.Match[str], table: Sequence[tuple[Row, int]]) -> Extreme | None:
    header = table[0][0].header
    if asks["early"] or asks["late"]:
        return _by_date(asks["late"] is not None, table)
    most = asks["most"] is not None or asks["dear"] is not None
    columns = [n for n in range(1, len(header)) if all(_value(row.cells[n]) is not None for row, _ in table)]
    columns = [n for n in columns if not all(_YEAR.fullmatch(row.cells[n]) for row, _ in table)]
    named = _named(question, header, columns)
    if asks["dear"] or asks["cheap"]:
        named = [n for n in columns if _PRICES.search(header[n])]
    changes = _CHANGES.search(question)
    if changes is not None and len(columns) > 1:
        first, last = (named[0], named[-1]) if len(named) > 1 else (columns[0], columns[-1])
        most = most == (changes["up"] is not None)
        shown: tuple[int, ...] = (first, last)
        sizes = [_of(row, last) - _of(row, first) for row, _ in table]
    elif len(named) == 1:
        shown = (named[0],)
        sizes = [_of(row, named[0]) for row, _ in table]
    else:
        return None
    return _extreme_of(sizes, most, shown, table)


def _named(question: str, header: Sequence[str], columns: Sequence[int]) -> list[int]:
    """The columns that the question names, by its own words or, where it names none so, by others that say the same."""
    asked = content_words(question)
    named = [n for n in columns if content_words(header[n]) & asked]
    return named or [n for n in columns if said_by_others(asked, content_words(header[n]))]


def _by_date(latest: bool, table: Sequence[tuple[Row, int]]) -> Extreme | None:
    """The row with the first or last date of the one column of dates; the label itself where that is the date."""
    days = [[_day(cell) for cell in row.cells] for row, _ in table]
    columns = [n for n in range(len(table[0][0].cells)) if all(own[n] is not None for own in days)]
    if len(columns) != 1:
        return None
    at = columns[0]
    sizes = [float(day.toordinal()) for own in days if (day := own[at]) is not None]
    return _extreme_of(sizes, latest, (at,) if at else (1,), table)


def _day(cell: str) -> date | None:
    """The day of a cell that is a date and nothing else."""
    if _YEAR.fullmatch(cell.strip()):
        return date(int(cell), 1, 1)
    known = [w for w in times(cell, None) if w.from_day is not None and len(w.text) >= len(cell.strip()) - 1]
    return known[0].from_day if len(known) == 1 else None


def _extreme_of(
    sizes: Sequence[float], most: bool, shown: tuple[int, ...], table: Sequence[tuple[Row, int]]
) -> Extreme | None:
    won = max(sizes) if most else min(sizes)
    if list(sizes).count(won) > 1:
        return None
    row, number = table[list(sizes).index(won)]
    return Extreme(row.cells[0], tuple(row.cells[n] for n in shown), number)


def _of(row: Row, column: int) -> float:
    return _value(row.cells[column]) or 0.0


def _value(cell: str) -> float | None:
    found = _NUMBER.fullmatch(cell)
    return float(found[1].replace(",", "")) if found else None
