"""The times that a question names: the span of days that is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final, NamedTuple

from quern.jobs.text.dates import When, dates
from quern.jobs.text.quantities import singular
from quern.schemas.words.patterns import lazy_pattern

# A year before a noun or behind a name: `the 2024 census`, `Lantern Tide 2026`.
_BARE_YEAR: Final = lazy_pattern(
    r"(?<![\d.,/-])(?P<year>(?:1[5-9]|20)\d\d)(?![\d/-]|[.,]\d)(?=\s+(?P<noun>[a-z]+)|[?.,]|\s*$|\s+[A-Z])"
)


class Asked(NamedTuple):
    """A time of a question: where it begins, its words, its first and last day, whether it is a season."""

    start: int
    text: str
    first: date
    last: date
    season: bool = False


def asked_times(question: str) -> Iterator[Asked]:
    """The times of a question whose days are known."""
    known = [w for w in dates(question, None) if w.from_day and w.to_day]
    for w in known:
        if w.from_day and w.to_day:
            yield Asked(w.start, w.text, w.from_day, w.to_day, w.precision == "season")
    for m in _BARE_YEAR.finditer(question):
        counts = m["noun"] is not None and singular(m["noun"]) != m["noun"]  # `2000 lanterns`.
        if not counts and not any(w.start < m.end() and m.start() < w.end for w in known):
            year = int(m["year"])
            yield Asked(m.start(), m[0], date(year, 1, 1), date(year, 12, 31))


def meet(asked: Iterable[Asked], said: Iterable[When]) -> bool:
    """Whether one of the times has a day in common with one that is asked about."""
    days = [(w.from_day, w.to_day) for w in said]
    return any(a.first <= last and first <= a.last for a in asked for first, last in days if first and last)
