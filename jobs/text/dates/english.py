"""Times in English text: points, what stands beside them, ranges, and the words around that belong to them."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Final

from quern.jobs.text.dates import holidays
from quern.jobs.text.dates.combine import combined
from quern.jobs.text.dates.counted import COUNTED
from quern.jobs.text.dates.days import DAYS
from quern.jobs.text.dates.own_day import OWN_DAY
from quern.jobs.text.dates.points import Match, Point, Rule, Setting
from quern.jobs.text.dates.ranges import ranged, signalled
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.stepped import STEPPED
from quern.jobs.text.dates.tokens import Line, tokenised
from quern.jobs.text.dates.units import UNITS
from quern.jobs.text.dates.when import When
from quern.schemas.words.patterns import lazy_pattern

# What repeats or means no time: `every Monday`, `Friday mornings`, `each two days`.
_REPEATED: Final = lazy_pattern(r"v[abdehgox]?B?[uUWMSpoHTLNb]+(?:p|[8,/-]+[WMuS]p?)*|[WR]q|[abdehg]6?pU")
# Letters without which a text names no time.
_TIMELY: Final = lazy_pattern("[MWSRGJVYjcXQCDouUHpwLNT]|It?[ad]")


@cache
def _rules() -> dict[str, tuple[tuple[re.Pattern[str], Rule], ...]]:
    """The rules by the letter with which they begin."""
    found: dict[str, list[tuple[re.Pattern[str], Rule]]] = {}
    for letters, expression, rule in (*DAYS, *UNITS, *STEPPED, *COUNTED, *OWN_DAY):
        pattern = lazy_pattern(expression)
        for letter in letters:
            found.setdefault(letter, []).append((pattern, rule))
    return {letter: tuple(rules) for letter, rules in found.items()}


def english_times(text: str, setting: Setting) -> list[When]:
    """The times of `text`, in order and disjoint."""
    line = tokenised(text)
    if _TIMELY.search(line.codes) is None:
        return []
    points = _points(line, setting)
    if not points:
        return []
    points = [p for p in ranged(line, combined(line, points, setting)) if not p.reading.bare]
    for n, point in enumerate(points):
        signalled(
            line,
            point,
            points[n - 1].end if n else 0,
            points[n + 1].first if n + 1 < len(points) else len(line.tokens),
        )
    return [_when(line, point) for point in points]


def _points(line: Line, setting: Setting) -> list[Point]:
    """The points in time, without those that are a part of something that repeats."""
    rules, codes = _rules(), line.codes
    points: list[Point] = []
    anchor: Reading | None = None
    at = 0
    repeated = {m.start(): m.end() for m in _REPEATED.finditer(codes)}
    while at < len(codes):
        if at in repeated:
            at = repeated[at]
            continue
        letter = codes[at]
        point = _holiday(line, at, setting) if letter in "XuWx" else None
        if point is not None:
            while points and points[-1].end > point.first:
                points.pop()
        else:
            point = _point(line, at, rules.get(letter, ()), setting, anchor)
        if point is None:
            at += 1
            continue
        points.append(point)
        at = point.end
        anchor = _anchor(point.reading, anchor)
    return points


def _point(
    line: Line, at: int, rules: tuple[tuple[re.Pattern[str], Rule], ...], setting: Setting, anchor: Reading | None
) -> Point | None:
    """The time that the first rule finds which begins at that token."""
    for pattern, rule in rules:
        found = pattern.match(line.codes, at)
        if found is None:
            continue
        try:
            reading = rule(Match(line, found, setting, anchor))
        except (ValueError, OverflowError):  # A day outside of the years 1 to 9999.
            continue
        if reading is not None:
            return Point(at, found.end(), reading)
    return None


def _anchor(reading: Reading, anchor: Reading | None) -> Reading | None:
    """The time from which `three days later` and `that year` are counted: the last that the text told."""
    if reading.unit in ("day", "weekday", "month", "year") and reading.first is not None and not reading.bare:
        return replace(reading, unit="day") if reading.unit == "weekday" else reading
    return anchor


def _holiday(line: Line, at: int, setting: Setting) -> Point | None:
    """The holiday whose name ends with this token."""
    token = line.tokens[at]
    if line.codes[at] == "x" or (line.codes[at] == "u" and token.value != "day"):
        return None
    for first in range(max(0, at - 4), at + 1):
        begin = line.tokens[first].start
        if not line.text[begin].isalpha():
            continue
        name = holidays.holiday(line.text[begin : token.end])
        if name is None or (at == first and line.codes[at] != "X"):
            continue
        if (
            name in _LONGER
            and line.codes[at + 1 : at + 2] in ("u", "X", "W")
            and holidays.holiday(line.text[begin : line.tokens[at + 1].end])
        ):
            return None
        if name in _LONGER and _word(line, at + 1) and line.codes[first - 1 : first] not in tuple("iI123456789LNT"):
            return None  # The Christmas tree.
        reference = setting.reference
        if reference is None:
            return Point(first, at + 1, Reading(None, None, "day", "XXXX-XX-XX", unit="holiday"))
        years = [y for y in (reference.year - 1, reference.year, reference.year + 1) if 1 < y < 9999]
        nearest = min(years, key=lambda y: abs((holidays.on(name, y) - reference).days))
        day = holidays.on(name, nearest)
        stepped = first > 0 and line.codes[first - 1] in "LNT"
        step = line.tokens[first - 1].value if stepped else 0
        first -= stepped
        if step == -1 and day >= reference:
            day = holidays.on(name, nearest - 1)
        if step == 1 and day <= reference:
            day = holidays.on(name, nearest + 1)
        return Point(first, at + 1, Reading(day, day, "day", f"XXXX-{day:%m-%d}", unit=f"holiday:{name}"))
    return None


# Holidays of one word, which begin the names of others and are words before nouns.
_LONGER: Final = frozenset(("christmas", "easter", "thanksgiving", "halloween"))


def _word(line: Line, at: int) -> bool:
    """Whether the token is a word."""
    return at < len(line.tokens) and line.text[line.tokens[at].start].isalpha()


def _when(line: Line, point: Point) -> When:
    r, tokens = point.reading, line.tokens
    first = point.first
    if (
        first
        and line.codes[first - 1] == "t"
        and (line.codes[first] in "ESoc" or line.codes[first + 1 : first + 2] in ("D", "s", "3", "4"))
    ):
        first -= 1  # `the end of May`, `the first quarter`, `the 1990s`
    start, end = tokens[first].start, tokens[point.end - 1].end
    outer = (
        min(start, tokens[point.outer_first].start) if point.outer_first >= 0 else start,
        tokens[point.outer_end - 1].end if point.outer_end >= 0 else end,
    )
    if line.codes[point.end - 1] == ".":
        end = tokens[point.end - 2].end
        outer = (outer[0], end if outer[1] == tokens[point.end - 1].end else outer[1])
    return When(
        start,
        end,
        r.first,
        r.last,
        r.precision,
        line.text[start:end],
        r.timex,
        r.signal,
        r.part,
        r.flaw,
        r.present,
        outer,
    )
