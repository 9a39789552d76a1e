"""What the days of a time are: days, weeks, months and longer units of the calendar, with their value in TIMEX3."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from quern.jobs.text.dates.when import Flaw, Part, Precision, Signal

_WEEK = 7
# How many times are kept as they were read last: a text names the same ones again and again.
_KEPT: Final = 4096
# What lies more than a month ahead of a text that speaks of no plans is the year before's.
_SOON = timedelta(31)


@dataclass(frozen=True)
class Reading:
    """The meaning of a time, before it has a place in a text.

    Attributes:
        first: First day; null where it is not known.
        last: Last day.
        precision: The unit that the text speaks in.
        timex: Value in TIMEX3.
        part: The part of the unit that is meant.
        flaw: What is wrong with it.
        unit: The unit as the rules name it, finer than the precision: `weekday`, `quarter`, `decade`, `holiday`.
        present: Whether it is the moment of writing.
        bare: Whether it is a time only beside another: `the year` in `the end of the year`.
        signal: On which side of the time the text speaks.
        month: Month of a time whose year is open, else 0.
        day: Day of the month of such a time, else 0.
    """

    first: date | None
    last: date | None
    precision: Precision
    timex: str
    part: Part = ""
    flaw: Flaw = ""
    unit: str = ""
    present: bool = False
    bare: bool = False
    signal: Signal = ""
    month: int = 0
    day: int = 0

    @property
    def open(self) -> bool:
        """Whether its year is open."""
        return self.month > 0


def after_months(first: date, count: int) -> date:
    """The day `count` months later, or the last of its month where that is shorter."""
    year, month = divmod(first.year * 12 + first.month - 1 + count, 12)
    return date(year, month + 1, min(first.day, monthrange(year, month + 1)[1]))


def moved(first: date, count: int, unit: str) -> date:
    """The day `count` units later."""
    if unit in _MONTHS:
        return after_months(first, count * _MONTHS[unit])
    if unit == "business":
        return _business(first, count)
    return first + timedelta(count * _DAYS.get(unit, 0))


_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_DAYS = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}


def _business(first: date, count: int) -> date:
    """The day so many working days later; weekends alone are none."""
    step = 1 if count > 0 else -1
    weeks, left = divmod(abs(count), 5)
    day = first + timedelta(step * 7 * weeks)
    while left:
        day += timedelta(step)
        left -= day.weekday() < 5
    return day


def days(first: date, last: date, precision: Precision, timex: str, unit: str = "") -> Reading:
    """The days from the first to the last."""
    return Reading(first, last, precision, timex, unit=unit or precision)


@lru_cache(_KEPT)
def a_day(day: date) -> Reading:
    """One day."""
    return days(day, day, "day", day.isoformat())


@lru_cache(_KEPT)
def day_of(year: int, month: int, day: int) -> Reading | None:
    """A day of the calendar; one that no month has, such as 31 February, is told as impossible."""
    if not (1 <= month <= 12 and 1 <= day <= 31 and 1 <= year <= 9999):
        return None
    timex = f"{year:04}-{month:02}-{day:02}"
    if day > monthrange(year, month)[1]:
        return Reading(None, None, "day", timex, flaw="impossible", unit="day")
    only = date(year, month, day)
    return days(only, only, "day", timex)


@lru_cache(_KEPT)
def open_day(month: int, day: int, reference: date | None, *, told: bool) -> Reading | None:
    """A day without a year: of the year in which it is nearest to `reference`, but past where a text tells (`told`)."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    timex = f"XXXX-{month:02}-{day:02}"
    if day > monthrange(2000, month)[1]:
        return Reading(None, None, "day", timex, flaw="impossible", unit="day", month=month, day=day)
    if reference is None:
        return Reading(None, None, "day", timex, unit="day", month=month, day=day)
    year = nearest_year(month, day, reference)
    if told and date(year, month, min(day, monthrange(year, month)[1])) > reference + _SOON and (month, day) != (2, 29):
        year -= 1
    if year > 0 and day > monthrange(year, month)[1]:  # 29 February: of the last leap year.
        year = next((y for y in range(reference.year, 0, -1) if monthrange(y, 2)[1] == 29), 0)
    if year < 1:  # Before all days of the calendar.
        return Reading(None, None, "day", timex, unit="day", month=month, day=day)
    only = date(year, month, day)
    return Reading(only, only, "day", timex, unit="day", month=month, day=day)


def nearest_year(month: int, day: int, reference: date) -> int:
    """The year in which that day is nearest to `reference`."""

    def distance(year: int) -> int:
        return abs((date(year, month, min(day, monthrange(year, month)[1])) - reference).days)

    near = (reference.year, max(1, reference.year - 1), min(9999, reference.year + 1))
    return min(near, key=distance)


def moment(now: date | None) -> Reading:
    """The moment of writing."""
    return Reading(now, now, "day", "PRESENT_REF", unit="now", present=True)


@lru_cache(_KEPT)
def lone_day(day: int, reference: date | None, *, told: bool) -> Reading | None:
    """A day without a month: of the month in which it is nearest to `reference`, but past where a text tells."""
    timex = f"XXXX-XX-{day:02}"
    if reference is None:
        return Reading(None, None, "day", timex, unit="day")
    here = reference.replace(day=1)
    near = (day_of(m.year, m.month, day) for m in (after_months(here, n) for n in (-2, -1, 0, 1)))
    known = [d.first for d in near if d is not None and d.first is not None]
    past = [d for d in known if d <= reference or not told]
    if not known:
        return None
    nearest = min(past or known, key=lambda d: abs((d - reference).days))
    return Reading(nearest, nearest, "day", timex, unit="day")


def months(year: int, month: int, count: int, precision: Precision, timex: str, unit: str = "") -> Reading:
    """`count` months from `month` on."""
    first = date(year, month, 1)
    end = after_months(first, count - 1)
    return days(first, end.replace(day=monthrange(end.year, end.month)[1]), precision, timex, unit)


@lru_cache(_KEPT)
def month_of(year: int, month: int) -> Reading:
    """A month."""
    return months(year, month, 1, "month", f"{year:04}-{month:02}")


@lru_cache(_KEPT)
def open_month(month: int, reference: date | None, *, told: bool) -> Reading:
    """A month without a year: the nearest, but past where a text tells."""
    timex = f"XXXX-{month:02}"
    if reference is None:
        return Reading(None, None, "month", timex, unit="month", month=month)
    year = nearest_year(month, 15, reference)
    if told and date(year, month, 1) > reference + _SOON:
        year -= 1
    return replace(month_of(year, month), timex=timex, month=month)


@lru_cache(_KEPT)
def year_of(year: int) -> Reading:
    """A year."""
    return months(year, 1, 12, "year", f"{year:04}")


def quarter_of(year: int, n: int) -> Reading:
    """The nth quarter of a year."""
    return months(year, 3 * n - 2, 3, "season", f"{year:04}-Q{n}", "quarter")


def half_of(year: int, n: int) -> Reading:
    """The nth half of a year."""
    return months(year, 6 * n - 5, 6, "season", f"{year:04}-H{n}", "half")


def decade_of(first: int) -> Reading:
    """The ten years from `first`."""
    return months(first, 1, 120, "year", f"{first // 10:03}", "decade")


def century_of(n: int) -> Reading:
    """The nth century as people count it, from the year 00: the 15th has the years 1400 to 1499."""
    first = max(1, 100 * (n - 1))
    return months(first, 1, 1200 if n > 1 else 1188, "year", f"{n - 1:02}", "century")


_SEASONS = {"SP": 3, "SU": 6, "FA": 9, "WI": 12}


def season_of(year: int, season: str) -> Reading:
    """A meteorological season of the northern hemisphere; winter begins in the year that names it."""
    return months(year, _SEASONS[season], 3, "season", f"{year:04}-{season}")


def open_season(season: str, reference: date | None, *, told: bool) -> Reading:
    """A season without a year: the nearest, but begun where a text tells."""
    month = _SEASONS[season]
    if reference is None:
        return Reading(None, None, "season", f"XXXX-{season}", unit="season", month=month)
    year = nearest_year(month, 28, reference)
    if told and date(year, month, 1) > reference + _SOON:
        year -= 1
    return replace(season_of(year, season), timex=f"XXXX-{season}", month=month)


def season_name(month: int) -> str:
    """The season that begins with a month."""
    return next(name for name, first in _SEASONS.items() if first == month)


def monday(day: date) -> date:
    """The first day of its week: weeks begin on Monday (ISO 8601)."""
    return day - timedelta(day.weekday())


@lru_cache(_KEPT)
def week_of(day: date) -> Reading:
    """The week in which a day lies."""
    first = monday(day)
    iso = first.isocalendar()
    return days(first, first + timedelta(6), "week", f"{iso.year:04}-W{iso.week:02}")


def iso_week(year: int, week: int) -> Reading | None:
    """The nth week of a year, as ISO 8601 counts them."""
    if not 1 <= week <= 53 or not 1 <= year <= 9998:
        return None
    first = date.fromisocalendar(year, 1, 1) + timedelta(_WEEK * (week - 1))
    return None if first.isocalendar().week != week else week_of(first)


def weekend_of(day: date) -> Reading:
    """Saturday and Sunday of the week in which a day lies."""
    first = monday(day)
    iso = first.isocalendar()
    timex = f"{iso.year:04}-W{iso.week:02}-WE"
    return days(first + timedelta(5), first + timedelta(6), "week", timex, "weekend")


@lru_cache(_KEPT)
def weekday_of(day: date, weekday: int) -> Reading:
    """That weekday of the week in which a day lies."""
    return a_day(monday(day) + timedelta(weekday))


def unit_around(unit: str, day: date) -> Reading | None:
    """The unit of the calendar in which a day lies."""
    match unit:
        case "day":
            return a_day(day)
        case "week":
            return week_of(day)
        case "weekend":
            return weekend_of(day)
        case "fortnight":
            first = monday(day)
            return days(first, first + timedelta(13), "week", interval(first, first + timedelta(14), "P2W"))
        case "month":
            return month_of(day.year, day.month)
        case "quarter":
            return quarter_of(day.year, (day.month + 2) // 3)
        case "year":
            return year_of(day.year)
        case "decade":
            return decade_of(day.year - day.year % 10)
        case "century":
            return century_of(day.year // 100 + 1)
    return None


def interval(first: date, end: date, length: str) -> str:
    """The value of a span of days; `end` is the day after it, or its last where both ends are named."""
    return f"({first.isoformat()},{end.isoformat()},{length})"


def to_day(first: Reading, day: int) -> Reading | None:
    """From a day to another of its month, or of the next where that is past it."""
    if first.first is None or first.unit not in ("day", "weekday"):
        return None
    month = first.first if day > first.first.day else after_months(first.first.replace(day=1), 1)
    last = day_of(month.year, month.month, day)
    if last is None or last.first is None:
        return None
    length = f"P{(last.first - first.first).days}D"
    timex = interval(first.first, last.first, length)
    if first.timex.startswith("XXXX-XX"):
        timex = f"(XXXX-XX-{first.first.day:02},XXXX-XX-{day:02},{length})"
    elif first.open:
        timex = f"(XXXX-{first.first:%m-%d},XXXX-{last.first:%m-%d},{length})"
    return Reading(first.first, last.first, "range", timex, unit="range", month=first.month, day=first.day and day)


def part_of(reading: Reading, part: Part) -> Reading:
    """The first, middle or last third of a unit.

    Four months of a year; of a month 1-10, 10-20, 21 to its end; of a decade 0-3, 4-6, 7-9.
    """
    first, last = reading.first, reading.last
    if first is None or last is None or not part or first == last:
        return replace(reading, part=part, bare=False)
    low = ("start", "mid", "end").index(part)
    if reading.unit == "year":
        third = months(first.year, 1 + 4 * low, 4, "year", reading.timex)
        return replace(reading, first=third.first, last=third.last, part=part, bare=False)
    if reading.unit == "month":
        begin = first.replace(day=(1, 10, 21)[low])
        end = last if part == "end" else first.replace(day=(10, 20)[low])
        return replace(reading, first=begin, last=end, part=part, bare=False)
    if reading.unit == "decade":
        begin = first.replace(year=first.year + (0, 4, 7)[low])
        return replace(reading, first=begin, last=last.replace(year=first.year + (3, 6, 9)[low]), part=part, bare=False)
    length = (last - first).days + 1
    begin = first + timedelta(length * low // 3)
    end = first + timedelta(length * (low + 1) // 3 - 1)
    return replace(reading, first=begin, last=end, part=part, bare=False)


def in_year(reading: Reading, year: int) -> Reading | None:
    """A time whose year was open, in that year."""
    if reading.unit == "month":
        found: Reading | None = month_of(year, reading.month)
    elif reading.unit == "season":
        found = season_of(year, season_name(reading.month))
    else:
        found = day_of(year, reading.month, reading.day)
    if found is None or not reading.part:
        return found
    return part_of(found, reading.part)
