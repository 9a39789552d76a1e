"""How long lies between two dates, in words that are no more exact than the dates."""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Final, NamedTuple

from quern.jobs.text.numbers import english_value
from quern.schemas.words.patterns import lazy_pattern

_DAYS: Final = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "fortnight": 14.0, "month": 30.44, "year": 365.25}
# The largest unit that is told: below so many days, days; then weeks; then months; then years.
_MOST_DAYS: Final = 13
_MOST_WEEKS_IN_DAYS: Final = 62
_MOST_MONTHS: Final = 24
# Shares of a month and of a year by which a whole number of them may be missed and still be told as it is.
_NEAR: Final = {"month": 0.34, "year": 0.05}
_WORDS: Final = "no one two three four five six seven eight nine ten".split()


def counted(number: float, unit: str) -> str:
    """A number with its unit, small whole numbers in words: `seven metres`."""
    whole = round(number)
    if abs(number - whole) < 1e-9:
        word = _WORDS[whole] if 0 <= whole < len(_WORDS) else f"{whole:,}"
    else:
        word = f"{number:,.2f}".rstrip("0").rstrip(".")
    if unit in ("", "per cent"):
        return f"{word} {unit}".strip()
    plural = {"person": "people", "foot": "feet", "inch": "inches", "century": "centuries"}.get(unit, f"{unit}s")
    return f"{word} {unit if number == 1 else plural}"


def between(one: date, other: date, exact: bool, unit: str = "") -> str:
    """How long lies between two days: `three weeks`, `13 months`, `about six months`.

    Args:
        one: A day.
        other: Another, before or after it.
        exact: Whether the days are known, and not only their months or years.
        unit: `day`, `week`, `month` or `year` where the question asks for it; else the one that suits the length.
    """
    early, late = sorted((one, other))
    days, months = (late - early).days, _months(early, late)
    unit = unit or _unit(days, months, exact)
    if unit in ("month", "year"):
        full = months if unit == "month" else months / 12
        near = abs(full - round(full)) <= _NEAR[unit]
        return (
            f"{'' if near and exact else 'about '}{counted(round(full), unit)}" if round(full) else counted(days, "day")
        )
    number = days / _DAYS[unit]
    return f"{'' if number == round(number) and exact else 'about '}{counted(round(number), unit)}"


def days_of(number: str, unit: str) -> float:
    """Days of `number` units, the number in digits or words, `a` for one; no limit where it is no number."""
    value = 1 if number in ("a", "an") else int(number) if number.isdigit() else english_value(number)
    return math.inf if value is None else value * _DAYS[unit]


def so_asked(word: str, days: float) -> bool | None:
    """Whether one event lies `days` before another as a question takes it to: `before`, `after`, `more than a week`.

    None where it takes nothing of it to be so.
    """
    if word in ("before", "after"):
        return days > 0.0 if word == "before" else days < 0.0
    limit = _LIMIT.fullmatch(word)
    if limit is None:
        return None
    return (abs(days) > days_of(limit["number"], limit["unit"])) == (limit["way"] in ("more", "longer"))


_LIMIT: Final = lazy_pattern(r"(?P<way>\w+)\s+than\s+(?P<number>\w+)\s+(?P<unit>day|week|month|year)s?")


_HOUR: Final = lazy_pattern(
    r"(?P<hour>\d{1,2})(?:[.:](?P<minute>[0-5]\d))?\s*(?P<half>[ap])\.?m\b|(?P<hours>\d{1,2})[.:](?P<minutes>[0-5]\d)(?!\d)|"
    r"(?P<word>noon|midnight)|(?P<full>[a-z]+|\d{1,2})\s+o['’]clock",
    re.IGNORECASE,
)


class Clock(NamedTuple):
    """A time of the day: its words, and the minutes since midnight."""

    text: str
    minutes: int


def clock(text: str) -> Clock | None:
    """The first time of the day that a text tells; None where it tells none."""
    m = _HOUR.search(text)
    if m is None:
        return None
    if m["word"]:
        return Clock(m[0], 12 * 60 if m["word"].lower() == "noon" else 0)
    if m["full"]:
        full = float(m["full"]) if m["full"].isdigit() else english_value(m["full"].lower())
        return None if full is None or full > 24 else Clock(m[0], int(full) * 60)
    hour, minute = int(m["hour"] or m["hours"]), int(m["minute"] or m["minutes"] or 0)
    if m["half"]:
        hour = hour % 12 + (12 if m["half"].lower() == "p" else 0)
    return Clock(m[0], hour * 60 + minute) if hour <= 24 else None


def _unit(days: int, months: float, exact: bool) -> str:
    if days <= _MOST_DAYS:
        return "day"
    if days <= _MOST_WEEKS_IN_DAYS:
        return "week" if days % 7 == 0 or not exact else "day"
    return "month" if months <= _MOST_MONTHS else "year"


def _months(early: date, late: date) -> float:
    """Months by the calendar, the days of the last one as a share of it."""
    return (late.year - early.year) * 12 + late.month - early.month + (late.day - early.day) / _DAYS["month"]
