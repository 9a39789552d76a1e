"""TIMEX values (ISO 8601 with the extensions of TIMEX3) and the days that they mean.

Written of a time found in a text, and read back: a model replies with one, and a table keeps it.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from quern.jobs.text.dates import When

# Seasons begin on the first day of a month of the northern hemisphere; winter is of the year it begins in.
_SEASONS: Final = {"SP": 3, "SU": 6, "FA": 9, "WI": 12}
_VALUE: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?:W(?P<week>\d\d)|Q(?P<quarter>[1-4])|H(?P<half>[12])|(?P<season>SP|SU|FA|WI)"
    r"|(?P<month>\d\d)(?:-(?P<day>\d\d))?))?|(?P<decade>\d{3})X"
)


_COUNTED: Final = re.compile(
    r"\b(?:year|month)(?=s?\b.*\b(?:ago|earlier|later|before|after|time)\b)|[年月](?=之?[前后後])", re.I
)


@dataclass(frozen=True)
class Period:
    """The days that a TIMEX value means."""

    from_day: date  # The first.
    to_day: date  # The last.
    precision: str  # The unit that it is given in; `range` where it names both ends.

    def contradicts(self, other: Period) -> bool:
        """Whether nothing can have been at both."""
        return self.to_day < other.from_day or other.to_day < self.from_day


def timex(when: When) -> str:
    """The value of the days that a time found in a text means; empty where they are open, wrong or unsure."""
    first, last = when.from_day, when.to_day
    if first is None or last is None or when.flaw:
        return ""
    if first == last and (unit := _COUNTED.search(when.text)):
        # Counted in years or months, a day is no more exact than these.
        return f"{first.year:04d}" if unit[0][0] in "yY年" else f"{first.year:04d}-{first.month:02d}"
    return of_days(first, last)


def of_days(first: date, last: date) -> str:
    """The shortest value that means exactly the days from `first` to `last`."""
    if first == last:
        return first.isoformat()
    if last - first == timedelta(6) and first.weekday() == 0:
        week = first.isocalendar()
        return f"{week.year:04d}-W{week.week:02d}"
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    if first.day != 1 or last.day != monthrange(last.year, last.month)[1]:
        return f"{first.isoformat()}/{last.isoformat()}"
    # The value of whole months.
    year, month = f"{first.year:04d}", first.month
    if months == 1:
        return f"{year}-{month:02d}"
    if months == 3 and month % 3 == 1:
        return f"{year}-Q{month // 3 + 1}"
    if months == 3 and month % 3 == 0:
        return f"{year}-{next(name for name, start in _SEASONS.items() if start == month)}"
    if months == 6 and month in (1, 7):
        return f"{year}-H{1 if month == 1 else 2}"
    if months == 12 and month == 1:
        return year
    if months == 120 and month == 1 and first.year % 10 == 0:
        return f"{year[:3]}X"
    if first.month == 1 and last.month == 12:
        return f"{year}/{last.year:04d}"
    return f"{year}-{month:02d}/{last.year:04d}-{last.month:02d}"


def period(value: str) -> Period | None:
    """The days that a value means; None where it is none, or its days are in no calendar."""
    first, slash, last = value.partition("/")
    if slash:
        begin, end = _single(first), _single(last)
        if begin is None or end is None or end.to_day < begin.from_day:
            return None
        return Period(begin.from_day, end.to_day, "range")
    return _single(value)


def _single(value: str) -> Period | None:
    """The days of a value that is no range."""
    match = _VALUE.fullmatch(value)
    if match is None:
        return None
    try:
        if match["decade"]:
            return _months(int(match["decade"]) * 10, 1, 120, "decade")
        year = int(match["year"])
        if match["week"]:
            first = date.fromisocalendar(year, int(match["week"]), 1)
            return Period(first, first + timedelta(6), "week")
        if match["quarter"]:
            return _months(year, 3 * int(match["quarter"]) - 2, 3, "quarter")
        if match["half"]:
            return _months(year, 1 if match["half"] == "1" else 7, 6, "half")
        if match["season"]:
            return _months(year, _SEASONS[match["season"]], 3, "season")
        if match["day"]:
            only = date(year, int(match["month"]), int(match["day"]))
            return Period(only, only, "day")
        if match["month"]:
            return _months(year, int(match["month"]), 1, "month")
        return _months(year, 1, 12, "year")
    except (ValueError, OverflowError):  # No such day, month, week or year, or days after 9999.
        return None


def _months(year: int, month: int, count: int, precision: str) -> Period:
    end = year * 12 + month - 1 + count
    last = date(end // 12, end % 12 + 1, 1) - timedelta(1) if end // 12 <= date.max.year else date.max
    return Period(date(year, month, 1), last, precision)
