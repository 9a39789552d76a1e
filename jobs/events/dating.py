"""The date of an event: one of the times that its sentence names, else that of the sentence before or of the report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from quern.jobs.events.passage import Passage, Sentence
from quern.jobs.events.telling import Telling, is_name, plans, telling
from quern.jobs.events.timex import Period, of_days, period, timex
from quern.jobs.queries.rules.units import word_count
from quern.jobs.text.dates import When, dates

# Characters from the beginning of a document whose events may bear its own date: as long as articles of news are.
LEAD: Final = 6000
OPENING: Final = 1  # Sentences 0 and 1: what, and when.
_MONTH: Final = timedelta(31)
_WEEK: Final = timedelta(7)
# Of several dates in a sentence the most exact is the event's; of as exact ones the first.
_EXACT: Final = ("day", "week", "month", "range", "season", "quarter", "half", "year", "decade")
_NUMBER: Final = re.compile(r"\d|[〇零一二三四五六七八九十]")
# A clause that no comma ends before the time: `the mayor, who was born in 1949`.
_RELATIVE: Final = re.compile(
    r"(?:\b(?:who|whose|whom|which)\b|\b(?<!said )(?<!told )(?<!announced )that\s+"
    r"(?:was|were|had|ran|stood|hung|\w+ed)\b)[^,;:]*$"
)
DateFrom = Literal["text", "document"]


@dataclass(frozen=True)
class Dating:
    """When the event of a sentence is."""

    timex: str  # The day or days, as a TIMEX value.
    date_from: DateFrom  # Where that was taken from.
    expected: bool = False  # Whether it was yet to come.


@dataclass(frozen=True)
class Carried:
    """The last date that a sentence before gave, and the line that it stands in."""

    line: int = -1
    dating: Dating | None = None


def own_dating(said: str, times: Sequence[When], published: date | None) -> Dating | None:
    """The date that a sentence gives its event: the most exact; a later one than the report's only where planned.

    A time that the text speaks before or after of gives way to one that it speaks at. An old one in a relative clause
    is of that clause.
    """
    ahead = plans(said)
    candidates: list[tuple[bool, bool, int, int, str]] = []
    for when in times:
        days = period(value) if (value := timex(when)) else None
        if days is None:
            continue
        if published is not None:
            during = days.precision == "range" and days.from_day <= published <= days.to_day
            if during and days.to_day - days.from_day > _MONTH:
                continue  # How long something lasts at the time of the report: `over the next four years`.
        # A day near the report's own is of its news, wherever it stands.
        if published is None or abs(published - days.from_day) > _MONTH:
            clause = _RELATIVE.search(said, 0, when.start)
            if clause is not None and word_count(said[: clause.start()]) > 1:
                continue
        later = published is not None and days.from_day > published
        if later and not ahead and when.open:
            # A year that the text leaves open is then the last one, not the next.
            try:
                first, last = (day.replace(year=day.year - 1) for day in (days.from_day, days.to_day))
            except ValueError:  # 29 February.
                continue
            days, later, value = Period(first, last, days.precision), False, of_days(first, last)
        elif later and not ahead and _NUMBER.search(when.text):
            continue
        candidates.append((later, bool(when.signal), exactness(days), when.start, value))
    if not candidates:
        return None
    later, *_, value = min(candidates)
    return Dating(value, "text", later)


def exactness(days: Period) -> int:
    """How exact days are: 0 for a single one, more the vaguer."""
    return _EXACT.index(days.precision)


def known_days(passage: Passage) -> list[Period]:
    """The days that the chunk names and the day of its publication: what a model may date its events by."""
    periods = [period(value) for when in dates(passage.text, passage.published) if (value := timex(when))]
    own = [Period(passage.published, passage.published, "day")] if passage.published else []
    return [*(days for days in periods if days), *own]


def undatable(said: str, when: When) -> bool:
    """Whether a time shows that a sentence is not of the day of its report: it is flawed, or all that is told is of it.

    Where the time is of a relative clause, what stands before that has to tell something.
    """
    if when.flaw:
        return True
    clause = _RELATIVE.search(said, 0, when.start)
    return clause is not None and telling(said[: clause.start()].rstrip(" ,") + ".") is None


def borrowed(
    sentence: Sentence, tells: Telling, passage: Passage, carried: Carried, news: Dating | None
) -> Dating | None:
    """The date of an event whose sentence has none.

    It is that of the sentence before in its paragraph, else the day that the news is of, else the report's. A document
    that has a name for its title, as in an encyclopaedia, goes from time to time, and what it tells was not new then.
    """
    if tells in ("state", "plan") or is_name(passage.title):
        return None
    before = carried.dating
    if before and carried.line == sentence.line and not before.expected and len(before.timex) == len("2024-03-02"):
        return before
    if passage.published is None or passage.start + sentence.start > LEAD:
        return None
    return news or Dating(passage.published.isoformat(), "document")


def is_background(own: Dating, published: date | None, place: int) -> bool:
    """Whether the date in the first sentence of a report is too old, and too vague, to be that of its news."""
    days = period(own.timex)
    if published is None or days is None or own.expected or days.to_day >= published:
        return False
    return place == 0 and days.to_day - days.from_day > _MONTH


def news_day(own: Dating, published: date | None) -> Dating | None:
    """The day of the news, where the opening of a report gives one of the week before its own."""
    days = period(own.timex)
    if published is None or days is None or own.expected or days.precision != "day":
        return None
    return own if timedelta(0) <= published - days.from_day <= _WEEK else None
