"""Points beside each other as one time: `March of last year`, `Wednesday next week`, `two weeks before 3 May`."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from quern.jobs.text.dates import holidays, readings
from quern.jobs.text.dates.points import Point, Setting, with_weekday
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.tokens import Line
from quern.jobs.text.dates.when import Part
from quern.schemas.words.patterns import lazy_pattern

_LEFT: Final = 12


def combined(line: Line, points: list[Point], setting: Setting) -> list[Point]:
    """The points, with each that says something of its neighbour joined to it."""
    found: list[Point] = []
    for point in points:
        if found and point.first < found[-1].end:
            continue
        point = _modified(line, point, found[-1].end if found else 0, setting)
        while found and (whole := _pair(line, found[-1], point)) is not None:
            found.pop()
            point = _modified(line, whole, found[-1].end if found else 0, setting)
        found.append(point)
    return found


# ---- two points


def _pair(line: Line, one: Point, other: Point) -> Point | None:
    """Two points as one, where the words between allow it."""
    if other.first < one.end:
        return None
    between = line.codes[one.end : other.first]
    a, b = one.reading, other.reading
    if len(between) > 6:
        return None
    reading = _together(a, b, between)
    if reading is None:
        return None
    closed = "(" in between and line.codes[other.end : other.end + 1] == ")"
    return Point(one.first, other.end + closed, reading)


def _together(a: Reading, b: Reading, between: str) -> Reading | None:
    if b.unit == "year" and b.first is not None and between in ("", "f", "ft", ",", "i", "t") and not b.part:
        if a.unit.startswith("holiday:"):
            return readings.a_day(holidays.on(a.unit.removeprefix("holiday:"), b.first.year))
        if a.unit == "quarter" and a.timex.startswith("XXXX-Q"):
            return readings.quarter_of(b.first.year, int(a.timex[-1]))
        return readings.in_year(a, b.first.year) if a.open and a.unit in ("day", "month", "season") else None
    if b.unit == "week" and a.unit == "weekday" and between in ("", "f", "ft", ",", "p", "i"):
        return _weekday_in(a, b)
    if a.unit == "week" and b.unit == "weekday" and between in ("", ",", "I"):
        return _weekday_in(b, a)
    if b.unit == "month" and a.unit == "day" and a.timex.startswith("XXXX-XX-") and between in ("", "f", "ft"):
        return None if b.first is None else readings.day_of(b.first.year, b.first.month, int(a.timex[-2:]))
    if "shifted" in (a.unit, b.unit) and "weekday" in (a.unit, b.unit) and between in ("", "I", ","):
        return _weekday_up_to(*((a, b) if a.unit == "weekday" else (b, a)))
    return _same_day(a, b, between)


def _weekday_up_to(weekday: Reading, last: Reading) -> Reading | None:
    """`Sunday three weeks after 15 January`: the last such day up to then."""
    if weekday.first is None or last.first is None:
        return None
    return readings.a_day(last.first - timedelta((last.first.weekday() - weekday.first.weekday()) % 7))


def _weekday_in(weekday: Reading, week: Reading) -> Reading | None:
    if weekday.first is None or week.first is None or week.part:
        return None
    return readings.weekday_of(week.first, weekday.first.weekday())


def _same_day(a: Reading, b: Reading, between: str) -> Reading | None:
    """A day told twice: `Tuesday (21 May)`, `tomorrow, 13/04/21`; contradictory where the two differ."""
    if between not in ("", ",", "(", "t", ",t", ",It", "I", ",I", "-"):
        return None
    if a.unit == "weekday" and b.unit == "day" and a.first is not None:
        return with_weekday(b, a.first.weekday())
    if b.unit == "weekday" and a.unit == "day" and b.first is not None and a.first is not None and between != "-":
        exact = with_weekday(a, b.first.weekday())
        return exact if exact.first is not None and exact.first.weekday() == b.first.weekday() else None
    if a.unit == "near" and b.unit == "day" and between != "-" and b.precision == "day":
        return b if a.first == b.first or a.first is None or b.first is None else replace(b, flaw="contradictory")
    return None


# ---- words on the left and the right


_COUNT: Final = "[abdehzgn]"
_PART: Final = lazy_pattern(r"(?P<E>E)(?P<of>(?:-?ft?)?)[-it]*$")
_ORDINAL: Final = lazy_pattern(r"(?:(?P<o>o)|(?P<L>L))-?(?P<u>u)[fi]t?$")
_DAYS: Final = lazy_pattern(r"(?:(?P<o>o)|(?P<L>L))(?P<n>[abde])(?P<u>U)[fi]t?$")
_WEEKDAY: Final = lazy_pattern(r"(?:(?P<o>o)|(?P<L>L))(?P<W>W)(?:ft?|it?)$")
_DAY_OF: Final = lazy_pattern(r"(?P<o>o)(?:ft?)$")
_FROM_TO: Final = lazy_pattern(r"(?P<d>[oad])[-67]t?(?P<e>[oad])(?:[fi]t?)?$")
_BESIDE: Final = lazy_pattern(r"t?(?P<u>u)(?P<way>[34])t?$")
_SHIFT: Final = lazy_pattern(rf"(?P<n>{_COUNT})(?P<B>B)?(?P<u>[uU])(?P<way>[3415])I?t?u?$")
_LATER: Final = lazy_pattern(r"(?P<l>[lrA])(?:it?|ft?|t)?$")
_OWN: Final = lazy_pattern(r"s[xD](?P<o>o)u|(?P<p>o)u(?!f)")


def _modified(line: Line, point: Point, floor: int, setting: Setting) -> Point:
    """The point with the words before and after it that change its meaning."""
    for _ in range(3):
        codes = line.codes[max(floor, point.first - _LEFT) : point.first]
        offset = point.first - len(codes)
        changed = None
        for pattern, rule in _LEFT_RULES:
            m = pattern.search(codes)
            if m is None:
                continue
            try:
                reading = rule(line, m, offset, point.reading, setting)
            except (ValueError, OverflowError):  # A day outside of the years 1 to 9999.
                reading = None
            if reading is not None:
                changed = Point(offset + m.start(), point.end, reading)
                break
        if changed is None:
            return _owned(line, point)
        point = changed
    return _owned(line, point)


def _owned(line: Line, point: Point) -> Point:
    """`next year's first quarter`."""
    if point.reading.unit != "year" or point.reading.first is None:
        return point
    m = _OWN.match(line.codes, point.end)
    if m is None:
        return point
    first = m.start("o") if m["o"] else m.start("p")
    reading = _nth(_int(line, first), str(line.tokens[first + 1].value), point.reading)
    return point if reading is None else Point(point.first, m.end(), reading)


def _int(line: Line, at: int) -> int:
    value = line.tokens[at].value
    return abs(value) if isinstance(value, int) else 0


def _part(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    token = line.tokens[offset + m.start("E")]
    word = line.text[token.start : token.end].lower()
    if word not in ("early", "mid", "late") and not m["of"] and r.unit != "year":
        return None
    if word in ("start", "end", "close", "beginning", "dawn", "earliest", "middle") and not m["of"]:
        return None
    if r.part or r.unit in ("now", "near"):
        return None
    part: Part = "start" if token.value == "start" else "mid" if token.value == "mid" else "end"
    return replace(readings.part_of(r, part), bare=False)


def _nth(n: int, unit: str, r: Reading) -> Reading | None:
    """The nth quarter, half or month of a year, the nth week of a year or month; from its end where n is -1."""
    if r.first is None or r.last is None or r.part:
        return None
    year = r.first.year
    most = {"quarter": 4, "half": 2, "month": 12, "decade": 10}.get(unit, 0)
    if r.unit == "year" and most and unit != "decade":
        n = most if n < 0 else n
        if not 1 <= n <= most:
            return None
        return (
            readings.quarter_of(year, n)
            if unit == "quarter"
            else readings.half_of(year, n)
            if unit == "half"
            else readings.month_of(year, n)
        )
    if unit == "week" and r.unit in ("year", "month"):
        return _nth_week(n, r)
    if unit in ("day", "weekend") and r.unit in ("year", "month", "week", "season") and -1 <= n <= 31:
        day = r.last if n < 0 else r.first + timedelta(n - 1)
        return None if day > r.last else readings.unit_around(unit, day)
    if unit == "half" and r.unit == "month" and n in (1, 2):
        middle = r.first.replace(day=15)
        first, last = (r.first, middle) if n == 1 else (middle + timedelta(1), r.last)
        return readings.days(first, last, "range", readings.interval(first, last, f"P{(last - first).days}D"))
    return None


def _nth_week(n: int, r: Reading) -> Reading | None:
    """Weeks belong to the year or month that has their Thursday, as ISO 8601 has it."""
    if r.first is None or r.last is None:
        return None
    if n < 0:
        thursday = r.last - timedelta((r.last.weekday() - 3) % 7)
    else:
        thursday = r.first + timedelta((3 - r.first.weekday()) % 7 + 7 * (n - 1))
    return readings.week_of(thursday) if r.first <= thursday <= r.last else None


def _ordinal(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    n = -1 if m["L"] else _int(line, offset + m.start("o"))
    word = line.tokens[offset + m.start("L")] if m["L"] else None
    if word is not None and line.text[word.start : word.end].lower() != "last":
        return None
    return _nth(n, str(line.tokens[offset + m.start("u")].value), r)


def _days_of(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    """`the first ten days of last year`."""
    n, unit = _int(line, offset + m.start("n")), str(line.tokens[offset + m.start("u")].value)
    if r.first is None or r.last is None or unit not in ("day", "week", "month", "year") or not n:
        return None
    if m["L"]:
        first, end = readings.moved(r.last + timedelta(1), -n, unit), r.last + timedelta(1)
    elif _int(line, offset + m.start("o")) == 1:
        first, end = r.first, readings.moved(r.first, n, unit)
    else:
        return None
    return readings.days(first, end - timedelta(1), "range", readings.interval(first, end, f"P{n}{unit[0].upper()}"))


def _nth_weekday(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    """`the first Monday of next month`."""
    if r.first is None or r.unit not in ("month", "year"):
        return None
    n = -1 if m["L"] else _int(line, offset + m.start("o"))
    if not -1 <= n <= 5:
        return None
    month = r.first.month if n > 0 or r.unit == "month" else 12
    return readings.a_day(holidays.nth_weekday(r.first.year, month, _int(line, offset + m.start("W")), n))


def _day_of(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    """`the 20th of next month`."""
    if r.first is None or r.unit != "month" or r.part:
        return None
    return readings.day_of(r.first.year, r.first.month, _int(line, offset + m.start("o")))


def _days_from_to(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    """`4-22 this month`."""
    if r.first is None or r.unit != "month" or r.part:
        return None
    one, other = (
        readings.day_of(r.first.year, r.first.month, _int(line, offset + m.start(group))) for group in ("d", "e")
    )
    if one is None or other is None or one.first is None or other.first is None or one.first >= other.first:
        return None
    length = f"P{(other.first - one.first).days}D"
    return readings.days(one.first, other.first, "range", readings.interval(one.first, other.first, length))


def _beside(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    """`the day after Christmas`."""
    if line.tokens[offset + m.start("u")].value != "day" or r.first is None or r.last is None or r.precision != "day":
        return None
    return readings.a_day(r.first + timedelta(1 if m["way"] == "4" else -1))


def _shift(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    """`two weeks before 13 May`, `three days from tomorrow`."""
    n, unit = _int(line, offset + m.start("n")), str(line.tokens[offset + m.start("u")].value)
    if r.first is None or not 0 < n < 5000 or unit in ("half", "weekend"):
        return None
    if m["way"] == "5" and r.unit not in ("year", "month", "day"):
        return None
    sign = -1 if m["way"] == "3" else 1
    word = line.tokens[offset + m.start("way")]
    if line.text[word.start : word.end].lower() == "starting":
        end = readings.moved(r.first, n, unit)
        return readings.days(
            r.first, end - timedelta(1), "range", readings.interval(r.first, end, f"P{n}{unit[0].upper()}")
        )
    from_day = r.first if sign < 0 or r.last is None or m["way"] == "5" else r.last
    return replace(readings.a_day(readings.moved(from_day, sign * n, "business" if m["B"] else unit)), unit="shifted")


def _later(line: Line, m: re.Match[str], offset: int, r: Reading, setting: Setting) -> Reading | None:
    """`later this week`, `the rest of the year`: from the text's day on; `earlier this month` up to it."""
    token, now = line.tokens[offset + m.start("l")], setting.reference
    word = line.text[token.start : token.end].lower()
    if r.first is None or r.last is None or now is None or r.part:
        return None
    if word not in ("later", "earlier") and token.value != "rest":
        return None
    if token.value == "rest" and "f" not in m[0]:
        return None
    if r.unit == "near" or r.first == r.last:
        return replace(r, part="start" if word == "earlier" else "end", bare=False)
    if not r.first <= now <= r.last:
        return None
    if word == "earlier":
        return replace(r, last=now, part="start", bare=False)
    middle = date(r.first.year, 7, 1) if r.unit == "year" else r.first + (r.last - r.first) // 2
    first = now if token.value == "rest" or r.unit == "month" else max(now, middle)
    return replace(r, first=first, part="end", bare=False)


def _week_from(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    """`the week of 5 May`, `the week starting on 4 February`."""
    unit = line.tokens[offset + m.start("u")].value
    if unit not in ("week", "weekend") or r.first is None or r.unit != "day":
        return None
    if m[0][-1] == "x":
        token = line.tokens[offset + m.end() - 1]
        if line.text[token.start : token.end].lower() not in _ENDING or unit != "week":
            return None
        first = r.first - timedelta(6)
        return readings.days(first, r.first, "range", readings.interval(first, r.first, "P7D"))
    return readings.week_of(r.first) if unit == "week" else readings.weekend_of(r.first)


def _up_to(line: Line, m: re.Match[str], offset: int, r: Reading, _: Setting) -> Reading | None:
    """`the three months ended June 30`, `the 12 months to March`."""
    token = line.tokens[offset + m.start("way")]
    n, unit = _int(line, offset + m.start("n")), str(line.tokens[offset + m.start("u")].value)
    if r.last is None or not 0 < n < 100 or unit not in ("day", "week", "month", "year"):
        return None
    if m["way"] == "x" and line.text[token.start : token.end].lower() not in _ENDING:
        return None
    end = r.last + timedelta(1)
    first = readings.moved(end, -n, unit)
    return readings.days(first, r.last, "range", readings.interval(first, end, f"P{n}{unit[0].upper()}"))


_ENDING: Final = ("ended", "ending")


_WEEK: Final = lazy_pattern(r"(?P<u>u)(?:5I?|ft?|x)$")
_UP_TO: Final = lazy_pattern(rf"(?P<n>{_COUNT})(?P<u>U)(?P<way>[x6])t?$")
_LEFT_RULES: Final = (
    (_WEEK, _week_from),
    (_UP_TO, _up_to),
    (_DAYS, _days_of),
    (_FROM_TO, _days_from_to),
    (_DAY_OF, _day_of),
    (_ORDINAL, _ordinal),
    (_WEEKDAY, _nth_weekday),
    (_SHIFT, _shift),
    (_BESIDE, _beside),
    (_LATER, _later),
    (_PART, _part),
)
