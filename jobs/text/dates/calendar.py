"""What the times of a text mean: spans of the calendar, and how they are moved, narrowed and joined."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal, TypeVar

Precision = Literal["day", "week", "month", "season", "year", "range"]
Signal = Literal["", "before", "until", "after", "since"]
Part = Literal["start", "mid", "end"]
# `ambiguous`: day and month may be exchanged; `impossible`: no such day; `contradictory`: the text itself calls it by
# another weekday or day; `lunar`: a day of the Chinese calendar.
Flaw = Literal["", "ambiguous", "impossible", "contradictory", "lunar"]
# In which order a text writes day and month in digits.
Order = Literal["day first", "month first"]

_PRECISIONS: Final[dict[str, Precision]] = {
    "day": "day", "weekday": "day", "week": "week", "weekend": "week", "fortnight": "week", "month": "month",
    "quarter": "season", "half": "season", "season": "season", "year": "year", "decade": "year", "century": "year",
    "range": "range",
}  # fmt: skip
_MONTHS: Final = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
_DAYS: Final = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}

_T = TypeVar("_T")


@dataclass(frozen=True)
class When:
    """A time that a text names."""

    start: int  # First character.
    end: int  # Character after the last.
    # First day meant; null where the text leaves it open and no reference fills it, and where it is no day of the
    # calendar.
    from_day: date | None
    to_day: date | None  # Last day meant.
    # The unit that the text speaks in: a quarter and a half-year are a `season`, a decade and a century a `year`;
    # `range` where it names both ends.
    precision: Precision
    text: str  # The characters themselves.
    signal: Signal = ""  # On which side of the time the text speaks: `since 2011` is after the start of 2011.
    flaw: Flaw = ""  # What is wrong with the time or unsure about it.
    open: bool = False  # Whether the text leaves open which year, month or week it means: `2 March`, `on Monday`.

    @property
    def days(self) -> tuple[date | None, date | None]:
        """The first and the last day that the text speaks of, with its signal: `since 2011` has no last one."""
        if self.signal in ("before", "until"):
            return None, self.to_day if self.signal == "until" else self.from_day
        if self.signal in ("after", "since"):
            return self.from_day if self.signal == "since" else self.to_day, None
        return self.from_day, self.to_day


@dataclass(frozen=True)
class Setting:
    """What times are read against."""

    today: date  # The day of the text, usually that of its publication; any day where `known` is false.
    order: Order | None  # In which order it writes day and month in digits; null where that is not known.
    past: bool  # Whether it tells what was: it has a day and speaks of nothing that is to come.
    known: bool  # Whether the day is known: without it, a time that depends on it has no days.


@dataclass(frozen=True)
class Reading:
    """The meaning of a time, before it has a place in a text."""

    first: date | None  # First day; null where it is no day of the calendar.
    last: date | None  # Last day.
    unit: str  # The unit that the text speaks in, finer than its precision: `weekday`, `quarter`, `decade`.
    relative: bool = False  # Whether its days depend on the text's own day.
    month: int = 0  # Month of a time whose year is open, else 0.
    day: int = 0  # Day of the month of such a time, else 0.
    open: bool = False  # See `When`.
    flaw: Flaw = ""  # What is wrong with it.
    part: bool = False  # Whether it is a part of its unit.
    bare: bool = False  # Whether it is a time only beside another: `the year` in `the end of the year`.

    def when(self, text: str, start: int, end: int, setting: Setting, signal: Signal = "") -> When:
        """The time at its place in `text`."""
        first, last = (self.first, self.last) if setting.known or not self.relative else (None, None)
        return When(start, end, first, last, _PRECISIONS[self.unit], text[start:end], signal, self.flaw, self.open)


def in_calendar(rule: Callable[..., _T | None], *arguments: object) -> _T | None:
    """What `rule` reads, or null where it comes to a day outside of the years 1 to 9999."""
    try:
        return rule(*arguments)
    except (ValueError, OverflowError):
        return None


def a_day(day: date, unit: str = "day", *, relative: bool = False) -> Reading:
    """One day."""
    return Reading(day, day, unit, relative)


def day_of(year: int, month: int, day: int) -> Reading | None:
    """A day of the calendar; one that no month has, such as 31 February, is `impossible`."""
    if not (1 <= month <= 12 and 1 <= day <= 31 and 1 <= year <= 9999):
        return None
    if day > monthrange(year, month)[1]:
        return Reading(None, None, "day", flaw="impossible")
    return a_day(date(year, month, day))


def months(year: int, month: int, count: int, unit: str) -> Reading:
    """`count` months from `month` on."""
    first = date(year, month, 1)
    end = after_months(first, count - 1)
    return Reading(first, end.replace(day=monthrange(end.year, end.month)[1]), unit)


def century_of(n: int) -> Reading:
    """The nth century as people count it, from the year 00: the 15th has the years 1400 to 1499."""
    return months(max(1, 100 * (n - 1)), 1, 1200 if n > 1 else 1188, "century")


def nth_of_year(year: int, n: int, unit: str) -> Reading | None:
    """The nth month, quarter or half of a year, or the year itself; weeks as ISO 8601 counts them."""
    if unit == "week":
        if not 1 <= n <= date(year, 12, 28).isocalendar().week:
            return None
        return unit_around("week", date.fromisocalendar(year, n, 1))
    size = _MONTHS[unit]
    return months(year, 1 + size * (n - 1), size, unit) if 1 <= n <= 12 // size else None


def season_of(year: int, month: int) -> Reading:
    """A meteorological season of the northern hemisphere; winter begins in the year that names it."""
    return months(year, month, 3, "season")


def monday(day: date) -> date:
    """The first day of its week: weeks begin on Monday (ISO 8601)."""
    return day - timedelta(day.weekday())


def unit_around(unit: str, day: date) -> Reading:
    """The unit of the calendar in which a day lies."""
    first = monday(day)
    match unit:
        case "day":
            return a_day(day)
        case "week" | "fortnight":
            return Reading(first, first + timedelta(_DAYS[unit] - 1), unit)
        case "weekend":
            return Reading(first + timedelta(5), first + timedelta(6), unit)
        case "century":
            return century_of(day.year // 100 + 1)
        case "decade":
            return months(day.year - day.year % 10, 1, 120, unit)
    size = _MONTHS[unit]
    return months(day.year, day.month - (day.month - 1) % size, size, unit)


def weekday_of(day: date, weekday: int) -> date:
    """That weekday of the week in which a day lies."""
    return monday(day) + timedelta(weekday)


def after_months(first: date, count: int) -> date:
    """The day `count` months later, or the last of its month where that is shorter."""
    year, month = divmod(first.year * 12 + first.month - 1 + count, 12)
    return date(year, month + 1, min(first.day, monthrange(year, month + 1)[1]))


def moved(day: date, count: int, unit: str) -> date:
    """The day `count` units later; of unit `business`, so many days that are of no weekend."""
    if unit in _MONTHS:
        return after_months(day, count * _MONTHS[unit])
    if unit != "business":
        return day + timedelta(count * _DAYS[unit])
    weeks, left = divmod(abs(count), 5)
    step = 1 if count > 0 else -1
    day += timedelta(step * 7 * weeks)
    while left:
        day += timedelta(step)
        left -= day.weekday() < 5
    return day


# ---- times whose year or month is open: the nearest, but past where a text tells what was


def open_day(month: int, day: int, setting: Setting) -> Reading | None:
    """A day without a year."""
    if day > monthrange(2000, month)[1]:
        return Reading(None, None, "day", flaw="impossible", month=month, day=day, open=True)
    year = _near(month, day, setting)
    if year and day > monthrange(year, month)[1]:  # 29 February: of the last leap year.
        year = next((y for y in range(setting.today.year, 0, -1) if monthrange(y, 2)[1] == 29), 0)
    only = date(year, month, day) if year else None
    return Reading(only, only, "day", True, month, day, open=True)


def open_months(month: int, unit: str, setting: Setting) -> Reading:
    """A month or a season, by its first month, without a year."""
    year = _near(month, 15 if unit == "month" else 28, setting, begun=True)
    return replace(months(year, month, _MONTHS.get(unit, 3), unit), relative=True, month=month, open=True)


def _near(month: int, day: int, setting: Setting, *, begun: bool = False) -> int:
    """The year in which a day is nearest, but at most a month ahead where the text tells what was; 0 for none."""
    today = setting.today

    def of(year: int) -> date:
        return date(year, month, min(day, monthrange(year, month)[1]))

    years = [year for year in (today.year, today.year - 1, today.year + 1) if 0 < year <= 9999]
    year = min(years, key=lambda y: abs(of(y) - today))
    first = date(year, month, 1) if begun else of(year)
    ahead = setting.past and first > today + timedelta(31) and (month, day) != (2, 29)
    return year - 1 if ahead else year


def lone_day(day: int, setting: Setting) -> Reading | None:
    """A day without a month."""
    today = setting.today
    near = (after_months(today.replace(day=1), n) for n in (-2, -1, 0, 1))
    days = [m.replace(day=day) for m in near if day <= monthrange(m.year, m.month)[1]]
    past = [d for d in days if d <= today or not setting.past]
    nearest = min(past or days, key=lambda d: abs(d - today))
    return replace(a_day(nearest, relative=True), open=True)


def in_year(reading: Reading, year: int) -> Reading | None:
    """A time whose year was open, in that year."""
    if reading.unit in ("month", "season"):
        result: Reading | None = months(year, reading.month, _MONTHS.get(reading.unit, 3), reading.unit)
    else:
        result = day_of(year, reading.month, reading.day)
    if result is None or not reading.part or reading.first is None or result.first is None or result.last is None:
        return result
    shift = 12 * (year - reading.first.year)
    last = after_months(reading.last, shift) if reading.last else None
    return replace(result, first=after_months(reading.first, shift), last=last, part=True)


# ---- parts and ranges


def part_of(reading: Reading, part: Part) -> Reading:
    """The first, middle or last third of a unit.

    Four months of a year; of a month 1-10, 10-20, 21 to its end; of a decade 0-3, 4-6, 7-9.
    """
    first, last = reading.first, reading.last
    if first is None or last is None or first == last:
        return reading
    n = ("start", "mid", "end").index(part)
    if reading.unit == "year":
        third = months(first.year, 1 + 4 * n, 4, "year")
        first, last = third.first, third.last
    elif reading.unit == "month":
        first, last = first.replace(day=(1, 10, 21)[n]), last if n == 2 else first.replace(day=(10, 20)[n])
    elif reading.unit == "decade":
        year = first.year
        first, last = first.replace(year=year + (0, 4, 7)[n]), last.replace(year=year + (3, 6, 9)[n])
    else:
        length = (last - first).days + 1
        first, last = first + timedelta(length * n // 3), first + timedelta(length * (n + 1) // 3 - 1)
    return replace(reading, first=first, last=last, part=True, bare=False)


def nth_in(reading: Reading, n: int, unit: str) -> Reading | None:
    """The nth unit in a time, from its end where n is -1; a week is of the month or year that has its Thursday."""
    first, last = reading.first, reading.last
    if first is None or last is None or reading.part:
        return None
    if unit == "week" and reading.unit in ("year", "month"):
        day = nth_weekday(first, last, 3, n)
    elif unit in ("day", "weekend"):
        day = last if n < 0 else first + timedelta(n - 1)
    elif unit == "half" and reading.unit == "month" and n in (1, 2):
        middle = first.replace(day=15)
        return Reading(first, middle, "range") if n == 1 else Reading(middle + timedelta(1), last, "range")
    elif unit in ("month", "quarter", "half") and reading.unit == "year":
        part = nth_of_year(first.year, 12 // _MONTHS[unit] if n < 0 else n, unit)
        return replace(part, relative=reading.relative) if part else None
    else:
        return None
    return replace(unit_around(unit, day), relative=reading.relative) if first <= day <= last else None


def nth_weekday(first: date, last: date, weekday: int, n: int) -> date:
    """The nth such weekday from `first` on, or the last up to `last` where n is -1."""
    if n < 0:
        return last - timedelta((last.weekday() - weekday) % 7)
    return first + timedelta((weekday - first.weekday()) % 7 + 7 * (n - 1))


def with_weekday(reading: Reading, weekday: int) -> Reading:
    """A day that the text also calls by its weekday, `contradictory` where it is another one.

    An open year is the nearest in which the day is that weekday.
    """
    day = reading.first
    if day is None or day.weekday() == weekday:
        return reading
    if not reading.month:
        return replace(reading, flaw="contradictory")
    for year in (day.year - 1, day.year + 1):
        other = day_of(year, reading.month, reading.day)
        if other is not None and other.first is not None and other.first.weekday() == weekday:
            return replace(reading, first=other.first, last=other.last)
    return reading


def from_to(a: Reading, b: Reading) -> Reading | None:
    """The days from the first of `a` to the last of `b`; an open year is the other's, or the nearest that fits."""
    begin, end = a, b
    if b.unit == "weekday" and a.first and b.first and a.first > b.first:  # From Thursday to Monday.
        end = a_day(b.first + timedelta(7 * ((a.first - b.first).days // 7 + 1)))
    elif b.month and a.first and (not a.month or (b.first and a.first > b.first)):
        years = (in_year(b, year) for year in (a.first.year, a.first.year + 1))
        end = next((reading for reading in years if reading and reading.last and reading.last >= a.first), b)
    elif a.month and not b.month and b.first:
        years = (in_year(a, year) for year in (b.first.year, b.first.year - 1))
        begin = next((reading for reading in years if reading and reading.first and reading.first <= b.first), a)
    first, last = begin.first, end.last
    if first is None or last is None or first > last:
        return None
    return Reading(first, last, "range", a.relative and b.relative)
