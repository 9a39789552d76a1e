"""The date that a sentence gives its event: which of the times that it names is that of what happened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal

from quern.jobs.events.passage import Passage
from quern.jobs.events.telling import gone, perfect, plans, telling
from quern.jobs.events.timex import Period, of_days, period, timex
from quern.jobs.queries.rules.units import word_count
from quern.jobs.text.dates import When, dates

MONTH: Final = timedelta(31)
# Of several dates in a sentence the most exact is the event's; of as exact ones the first.
_EXACT: Final = {"day": 0, "week": 1, "month": 2, "range": 3, "season": 4, "quarter": 4, "half": 5, "year": 6}
_DECADE: Final = 9
# A time that is told in words alone (`this weekend`) is to come where it says so.
_NUMBER: Final = re.compile(r"\d|[〇零一二三四五六七八九十]")
_OF: Final = re.compile(r"\bof\s+$")
_DETERMINER: Final = re.compile(r"(?:\b(?:the|an?|its|their|his|her|our)|['’]s)\s+$", re.I)
_NOUN: Final = re.compile(r"\s+[A-Za-z]")
_BOUND: Final = re.compile(
    r"\b(?:until|till|up\s+to|(?P<since>since))\s+(?:the\s+)?(?:(?:very\s+)?(?:late|early|end\s+of|beginning\s+of|"
    r"start\s+of|mid)[\s-]+)?(?:in|on)?\s*$",
    re.I,
)
# `The boiler, installed in 1979, had failed`.
_ASIDE: Final = re.compile(r",\s+(?:\w+ed|built|made|born|held|begun)\s+(?:in|on)\s+$")
# A clause that no comma ends before the time.
_RELATIVE: Final = re.compile(
    r"(?:\b(?:who|whose|whom|which)\b|\b(?<!said )(?<!told )(?<!announced )that\s+"
    r"(?:was|were|had|ran|stood|hung|\w+ed)\b)[^,;:]*$"
)
_MAIN_CLAUSE: Final = 2  # Words before it: who or what, and what happened.
_MORE_DIGITS: Final = re.compile(r",?\s*(?:of\s+)?\d{3,}\b")

DateFrom = Literal["text", "document"]


@dataclass(frozen=True)
class Dating:
    """When the event of a sentence is.

    Attributes:
        timex: The day or days, as a TIMEX value.
        date_from: Where that was taken from.
        expected: Whether it was yet to come.
    """

    timex: str
    date_from: DateFrom
    expected: bool = False


def own_dating(said: str, times: Sequence[When], published: date | None) -> Dating | None:
    """The date that a sentence gives its event: the most exact; a later one than the report's only where planned.

    A time that the text speaks before or after of gives way to one that it speaks at. A time until which something
    lasted is none, and an old one in a relative clause is of that clause.
    """
    ahead = plans(said)
    found: list[tuple[bool, bool, int, int, str]] = []
    for when in times:
        days = period(value) if (value := timex(when)) else None
        if days is None or _unreadable(said, when) or _spans(days, published) or _names_thing(said, when, days):
            continue
        if _bounds(said, when) or _in_clause(said, when, days, published):
            continue
        later = published is not None and days.from_day > published
        if later and not ahead and when.open:
            # A year that the text leaves open is then the last one, not the next.
            days = _year_before(days)
            if days is None:
                continue
            later, value = False, of_days(days.from_day, days.to_day)
        elif later and not ahead and _NUMBER.search(when.text):
            continue
        found.append((later, bool(when.signal), exactness(days), when.start, value))
    if not found:
        return None
    later, *_, value = min(found)
    return Dating(value, "text", later)


def exactness(days: Period) -> int:
    """How exact days are: 0 for a single one, more the vaguer."""
    return _EXACT.get(days.precision, _DECADE)


def known_days(passage: Passage) -> list[Period]:
    """The days that the chunk names and the day of its publication: what a model may date its events by."""
    found = [period(value) for when in dates(passage.text, passage.published) if (value := timex(when))]
    own = [Period(passage.published, passage.published, "day")] if passage.published else []
    return [*(days for days in found if days), *own]


def undatable(said: str, when: When) -> bool:
    """Whether a time shows that a sentence is not of the day of its report: it tells how long something lasts.

    Where the time is of a relative clause, what stands before that has to tell something.
    """
    if when.flaw or _unreadable(said, when):
        return True
    clause = _RELATIVE.search(said, 0, when.start)
    if clause is not None:
        return telling(said[: clause.start()].rstrip(" ,") + ".") is None
    return _bounds(said, when)


def _names_thing(said: str, when: When, days: Period) -> bool:
    """Whether a year tells which thing is meant, not when it was: `the bell of 1886`, `the 1991 agreement`."""
    if days.precision != "year":
        return False
    of = _OF.search(said, 0, when.start) is not None
    return of or (_DETERMINER.search(said, 0, when.start) is not None and _NOUN.match(said, when.end) is not None)


def _bounds(said: str, when: When) -> bool:
    """Whether a time ends how long something lasts, or begins it: `until 1949`; not what `has` been so since."""
    bound = _BOUND.search(said, 0, when.start)
    return bound is not None and not (bound["since"] and (perfect(said) or gone(said)))


def _in_clause(said: str, when: When, days: Period, published: date | None) -> bool:
    """Whether a time is of a clause about one that the sentence names: `the mayor, who was born in 1949`.

    A day near the report's own is of its news, wherever it stands.
    """
    if published is not None and abs(published - days.from_day) <= MONTH:
        return False
    if _ASIDE.search(said, 0, when.start) is not None and said.startswith(",", when.end):
        return True
    clause = _RELATIVE.search(said, 0, when.start)
    return clause is not None and word_count(said[: clause.start()]) >= _MAIN_CLAUSE


def _unreadable(said: str, when: When) -> bool:
    """Whether a day is of a year that none can be: `31 December 9999`, `1 May 0000`."""
    return when.open and _MORE_DIGITS.match(said, when.end) is not None


def _spans(days: Period, published: date | None) -> bool:
    """Whether a time is how long something lasts at the time of the report: `over the next four years`."""
    if published is None or days.precision != "range" or not days.from_day <= published <= days.to_day:
        return False
    return days.to_day - days.from_day > MONTH


def _year_before(days: Period) -> Period | None:
    """The same days a year earlier; None where that year lacks one of them."""
    try:
        first, last = (day.replace(year=day.year - 1) for day in (days.from_day, days.to_day))
    except ValueError:  # 29 February.
        return None
    return replace(days, from_day=first, to_day=last)
