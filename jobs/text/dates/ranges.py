"""Two points joined to a range, and the words around a time that say on which side of it the text speaks."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.points import Point
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.tokens import Line
from quern.jobs.text.dates.when import Signal
from quern.schemas.words.patterns import lazy_pattern

# A time of the day: 3:30, 3 pm, in the morning, around 5 o'clock.
_CLOCK: Final = r"(?:it?p|I?p|km{0,2}p?|[ab](?:k|[abdeh])?m{1,2}p?)"
_JOIN: Final = lazy_pattern(rf"(?:,?I?{_CLOCK})?,?(?:[67]|--?|6-|7I)(?:{_CLOCK}I?)?t?")
_WITH_AND: Final = lazy_pattern(r"(?:8|6|-)t?")


def ranged(line: Line, points: list[Point]) -> list[Point]:
    """The points, with two that a range joins as one."""
    found: list[Point] = []
    for n, point in enumerate(points):
        point = _with_day(line, point, points[n + 1].first if n + 1 < len(points) else len(line.codes))
        whole = _range(line, found[-1], point) if found else None
        if whole is None:
            found.append(point)
        else:
            found[-1] = whole
    return found


_TO_DAY: Final = lazy_pattern("(?:[67]|--?)t?(?P<e>o)(?![uUMSWHfk-])|-(?P<d>[ad])(?![uUMSWHfkm-])")


def _with_day(line: Line, point: Point, ceiling: int) -> Point:
    """`4th May to 7th`, `11/12-14`: the point with the day behind the mark, which is of its month."""
    if point.reading.unit != "day" or (m := _TO_DAY.match(line.codes, point.end, ceiling)) is None:
        return point
    if m["d"] and line.codes[point.end - 1] != "J":
        return point
    day = line.tokens[m.end() - 1].value
    reading = readings.to_day(point.reading, day) if isinstance(day, int) else None
    return point if reading is None else Point(point.first, m.end(), reading)


def _range(line: Line, one: Point, other: Point) -> Point | None:
    """From the start of the first to the end of the second, where the words between say so."""
    if other.first - one.end > 9 or other.first <= one.end:
        return None
    between = line.codes[one.end : other.first]
    before = line.codes[max(0, one.first - 2) : one.first]
    if between.startswith("8"):
        if not re.search(r"2t?$", before) or not _WITH_AND.fullmatch(between):
            return None
    elif not _JOIN.fullmatch(between):
        return None
    a, b = one.reading, other.reading
    if "range" in (a.precision, b.precision) or a.bare or (b.unit == "near" and between == "-"):
        return None
    if between == "-" and a.unit == "year" and b.unit not in ("year", "now"):
        return None
    reading = from_to(a, b)
    if reading is None:
        return None
    found = Point(one.first, other.end, reading)
    if before[-1:] in ("1", "2"):
        found.outer_first = one.first - 1
    elif before[-1:] == "t" and before[:1] in ("1", "2"):
        found.outer_first = one.first - 2
    return found


_YEARLESS: Final = ("day", "month", "season")


def from_to(a: Reading, b: Reading) -> Reading | None:
    """The days from the first of `a` to the last of `b`; an open year is the other's, or the nearest that fits."""
    begin, end = a, b
    if a.unit == b.unit == "quarter" and a.timex.startswith("XXXX-Q") and b.first is not None:
        begin = readings.quarter_of(b.first.year, int(a.timex[-1]))
    if b.unit == "weekday" and a.first is not None and b.first is not None and a.first > b.first:
        end = readings.a_day(b.first + timedelta(7 * ((a.first - b.first).days // 7 + 1)))  # From Thursday to Monday.
    if b.open and b.unit in _YEARLESS and (not a.open or (a.first and b.first and a.first > b.first)):
        end = _behind(b, a) or b
    elif a.open and not b.open and a.unit in _YEARLESS:
        begin = _before(a, b) or a
    first, last = begin.first, end.last
    if first is None or end.first is None or last is None or first > last:
        return None
    months = (end.first.year - first.year) * 12 + end.first.month - first.month
    if a.unit == b.unit == "year":
        length = f"P{months // 12}Y"
    elif a.unit == b.unit == "month":
        length = f"P{months}M"
    else:
        length = f"P{(end.first - first).days}D"
    if not (a.open and b.open):
        return Reading(first, last, "range", readings.interval(first, end.first, length), unit="range")
    timex = f"(XXXX-{first:%m-%d},XXXX-{end.first:%m-%d},{length})"
    return Reading(first, last, "range", timex, unit="range", month=b.month, day=b.day)


def _behind(b: Reading, a: Reading) -> Reading | None:
    """The end of a range, in the year of its begin or the next."""
    if a.first is None:
        return None
    found = readings.in_year(b, a.first.year)
    if found is None or found.last is None or found.last < a.first:
        return readings.in_year(b, a.first.year + 1)
    return found


def _before(a: Reading, b: Reading) -> Reading | None:
    """The begin of a range, in the year of its end or the one before."""
    if b.first is None:
        return None
    found = readings.in_year(a, b.first.year)
    if found is not None and found.first is not None and found.first > b.first:
        return readings.in_year(a, b.first.year - 1)
    return found


_SIGNALS: Final[dict[str, Signal]] = {"3": "before", "4": "after", "5": "since", "7": "until", "9": "until"}
_SIGNAL: Final = lazy_pattern(r"(?:(?P<signal>[34579])|L6|(?P<later>l0)|(?P<earlier>A0)|(?P<begin>EI))[It]*$")
_FROM: Final = lazy_pattern("[12]t?$")
_OR: Final = lazy_pattern(r"[8x](?P<l>[lA]|[34](?=[.,)]|$))")
_AFTER: Final = lazy_pattern(rf"(?:,?[iI1239745]*{_CLOCK}(?:[-678]{_CLOCK})?)+")
_SHORT_AFTER: Final = lazy_pattern(
    r"[12]?(?:k|[ab]m?)[-6](?:k|[ab])m?(?![-uUHMad])|[12](?:k|[abdeh]m?)[-678](?:k|[abdeh])m?(?![-uUHa-z])|I(?:[ab])(?![-uUHx])|(?<=p)I[ab](?!x)"
)
_HOUR: Final = lazy_pattern("I[ab](?![-uUHx])")
_BEFORE: Final = lazy_pattern(rf"(?:[12]?{_CLOCK}(?:[-678]{_CLOCK})?|[12](?:k|[abdeh])m?[-678](?:k|[abdeh])m?)[It,]*$")


def _words(signal: re.Match[str]) -> Signal:
    """The signal of two words: `prior to`, `later than`, `beginning on`."""
    return "since" if signal["begin"] else "after" if signal["later"] else "before"


def signalled(line: Line, point: Point, floor: int, ceiling: int) -> None:
    """Give the point its signal and its outer span: preposition and time of day are words of the time."""
    codes, r = line.codes, point.reading
    first = point.outer_first if point.outer_first >= 0 else point.first
    end = point.end
    lead = _FROM.search(codes[max(floor, first - 2) : first])
    if r.precision == "range" and point.outer_first < 0 and lead is not None:
        first -= len(lead[0])
    if r.precision == "day":
        for pattern in (_AFTER, _SHORT_AFTER, _HOUR):
            if (after := pattern.match(codes, end, ceiling)) is not None and (pattern is not _HOUR or end > point.end):
                end = after.end()
        before = _BEFORE.search(codes[max(floor, first - 8) : first])
        if before is not None and before[0]:
            first -= len(before[0])
    if r.precision != "range" and (signal := _SIGNAL.search(codes[max(floor, first - 3) : first])) is not None:
        kind: Signal = _SIGNALS[signal["signal"]] if signal["signal"] else _words(signal)
        first -= len(signal[0]) if signal["signal"] != "9" else 0
        point.reading = replace(r, signal=kind)
    elif r.precision != "range" and (after_or := _OR.match(codes, end, ceiling)) is not None:
        end = after_or.end()
        word = line.text[line.tokens[end - 1].start : line.tokens[end - 1].end].lower()
        point.reading = replace(r, signal="since" if word in ("later", "after") else "until")
    point.outer_first, point.outer_end = first, end
