"""Times in Chinese text: points, ranges, and the words around that say on which side of a time the text speaks.

A year of the Republic (民国113年 is 2024) and of an emperor's era is counted from the era's first; a day of the
Chinese calendar (农历, 初一, 腊月) is told as `lunar` and not resolved, for it needs tables of the moon.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.chinese_forms import DAY, YEAR, chinese_points
from quern.jobs.text.dates.chinese_readings import is_lunar, number, read
from quern.jobs.text.dates.points import Setting
from quern.jobs.text.dates.ranges import from_to
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.when import Flaw, Signal, When
from quern.schemas.words.patterns import lazy_pattern


@dataclass
class _Span:
    """A time at its place.

    Attributes:
        start: First character.
        end: Character after the last.
        reading: Its meaning.
        outer: The span with the words that belong to it.
    """

    start: int
    end: int
    reading: Reading
    outer: tuple[int, int]


# How far a title's bracket may stand before a word of it, in characters.
_TITLE: Final = 20
# A text without one of these names no time in Chinese.
_HINT: Final = lazy_pattern(r"[年月日号號周週季节節天今昨明晚晨早旦]|世纪|星期|礼拜|小时|分钟|\d-\d")
_EVERY: Final = lazy_pattern("每[一个隔]?$")


def chinese_times(text: str, setting: Setting) -> list[When]:
    """The times of `text`, in order and disjoint."""
    if text.isascii() or _HINT.search(text) is None:
        return []
    spans: list[_Span] = []
    anchor: date | None = None
    for m in chinese_points().finditer(text):
        if _EVERY.search(text, max(0, m.start() - 2), m.start()):
            continue
        if m["near"] and text.rfind("《", max(0, m.start() - _TITLE), m.start()) > text.rfind(
            "》", max(0, m.start() - _TITLE), m.start()
        ):
            continue
        try:
            reading = read(m, setting, anchor)
        except (ValueError, OverflowError):  # A day outside of the years 1 to 9999.
            continue
        if reading is None or m.end() == m.start():
            continue
        if m["lunar"] or is_lunar(m):
            reading = replace(reading, first=None, last=None, flaw="lunar")
        spans.append(_Span(m.start(), m.end(), reading, m.span()))
        if reading.unit in ("day", "month", "year") and reading.first is not None:
            anchor = reading.first
    spans = _joined(text, spans, setting)
    for n, span in enumerate(spans):
        _signalled(text, span, spans[n + 1].start if n + 1 < len(spans) else len(text))
    return [_when(text, span) for span in spans]


def _when(text: str, s: _Span) -> When:
    r = s.reading
    words = text[s.start : s.end]
    return When(
        s.start, s.end, r.first, r.last, r.precision, words, r.timex, r.signal, r.part, r.flaw, r.present, s.outer
    )


_CLOCK: Final = (
    "(?:凌晨|清晨|早上|早晨|早间|上午|中午|午间|下午|午后|傍晚|晚上|晚间|夜间|夜里|深夜|半夜|午夜|晨|早|晚)?"
    "(?:(?:\\d{1,2}|[一二两三四五六七八九十]{1,3})(?:[:：]\\d\\d(?:[:：]\\d\\d)?|[点时](?:钟|半|一刻|三刻|整)?"
    "(?:[零〇一二三四五六七八九十\\d]{1,3}分?)?(?:[零〇一二三四五六七八九十\\d]{1,3}秒)?))?"
)


# ---- ranges and signals

_JOIN: Final = lazy_pattern(r"\s*(?:到|至|—+|–|-|~|～|－)\s*")
_WITH: Final = lazy_pattern(r"\s*[和与與及]\s*")
_FIRST: Final = lazy_pattern(rf"({YEAR}|(?P<short>{DAY}))(?P<unit>[日号])?\s*(?:到|至|—+|–|-|~|～|－)\s*$")
_SECOND_DAY: Final = lazy_pattern(rf"\s*(?:到|至|—+|–|-|~|～|－)\s*({DAY})[日号]")


def _joined(text: str, spans: list[_Span], setting: Setting) -> list[_Span]:
    """The spans, with two that a range joins as one."""
    found: list[_Span] = []
    for span in spans:
        span = _with_first(text, span, found[-1].end if found else 0)
        whole = _range(text, found[-1], span) if found else None
        if whole is not None:
            found[-1] = whole
        elif found and (same := _same(text, found[-1], span)) is not None:
            found[-1] = same
        else:
            found.append(span)
    return found


def _same(text: str, one: _Span, other: _Span) -> _Span | None:
    """A day and its weekday: 10月12号，星期一; 本周五（5日）."""
    between = text[one.end : other.start].strip()
    if between not in ("", "，", ",", "（", "("):
        return None
    a, b = one.reading, other.reading
    end = other.end + (between in ("（", "(") and text[other.end : other.end + 1] in ("）", ")"))
    if b.unit == "weekday" and a.unit == "day" and a.first is not None and b.first is not None:
        flaw: Flaw = "" if a.first.weekday() == b.first.weekday() or a.open else "contradictory"
        return _Span(one.start, end, replace(a, flaw=a.flaw or flaw), (one.outer[0], end))
    return None


def _with_first(text: str, span: _Span, floor: int) -> _Span:
    """`1995 - 1997年`, `3-5月`, `1至7日`: the count before the mark has the unit of the time behind it."""
    r = span.reading
    m = _FIRST.search(text, max(floor, span.start - 12), span.start)
    if m is None or r.first is None or r.last is None or r.precision not in ("day", "month", "year"):
        return span
    count = number(m[1])
    if r.precision == "year" and r.unit == "year" and 1000 <= count <= r.first.year:
        first = date(count, 1, 1)
        timex = f"({first},{r.first},P{r.first.year - count}Y)"
    elif r.unit == "month" and m["short"] and 1 <= count < r.first.month:
        first = r.first.replace(month=count)
        timex = f"({first},{r.first},P{r.first.month - count}M)"
    else:
        return span
    start = m.start()
    return _Span(start, span.end, Reading(first, r.last, "range", timex, unit="range"), (start, span.outer[1]))


def _range(text: str, one: _Span, other: _Span) -> _Span | None:
    """From the start of the first to the end of the second, where the words between say so."""
    a, b = one.reading, other.reading
    between = text[one.end : other.start]
    if len(between) > 5:
        return None
    after = text[other.end : other.end + 3]
    end = other.end
    if _WITH.fullmatch(between):
        if not re.match("之?间|之間", after):
            return None
        end += 2 if after.startswith("之") else 1
    elif not _JOIN.fullmatch(between):
        return None
    if "range" in (a.precision, b.precision):
        return None
    start = one.start - 1 if text[one.start - 1 : one.start] in ("从", "自", "由", "從") and one.start else one.start
    if "impossible" in (a.flaw, b.flaw):
        impossible = Reading(None, None, "range", f"({a.timex},{b.timex},PXD)", flaw="impossible", unit="range")
        return _Span(one.start, other.end, impossible, (start, end))
    reading = _from_to(a, b)
    return None if reading is None else _Span(one.start, other.end, reading, (start, end))


def _from_to(a: Reading, b: Reading) -> Reading | None:
    """The days from the first of `a` to the last of `b`; a lone day is of the month before it: 9月16日至23日."""
    if b.timex.startswith("XXXX-XX-") and a.unit == "day" and a.first is not None:
        day = int(b.timex[-2:])
        month = a.first if day >= a.first.day else readings.after_months(a.first.replace(day=1), 1)
        b = readings.day_of(month.year, month.month, day) or b
    return from_to(a, b)


_AFTER: Final[tuple[tuple[re.Pattern[str], Signal], ...]] = (
    (lazy_pattern("或(?:之|以)?[后後]|及(?:之|以)[后後]|起|以来|以來|开始"), "since"),
    (lazy_pattern("或(?:之|以)?前|及(?:之|以)前|为止"), "until"),
    (lazy_pattern("(?:之|以)[后後]|[后後](?!半|来|天)"), "after"),
    (
        lazy_pattern("(?:之|以)前|前(?![\\d一二两三四五六七八九十半后往景夕天锋任沿线台方提途面身])"),
        "before",
    ),
)
_BEFORE: Final[tuple[tuple[re.Pattern[str], Signal], ...]] = (
    (lazy_pattern("(?:截止到?|截至|截止至|直到|不晚于)$"), "until"),
    (lazy_pattern("(?:早于|先于)$"), "before"),
    (lazy_pattern("(?:晚于)$"), "after"),
    (lazy_pattern("(?:自从|自|不早于)$"), "since"),
)
_TO_TIME: Final = lazy_pattern(rf"[到至-](?=[\d一二两三四五六七八九十上中下晚凌早]){_CLOCK}")
_TIME_OF_DAY: Final = lazy_pattern(_CLOCK)


def _signalled(text: str, span: _Span, ceiling: int) -> None:
    """Give the time its signal and its outer span."""
    start, end = span.outer
    r = span.reading
    if r.precision == "day" and (clock := _TIME_OF_DAY.match(text, end, ceiling)) is not None:
        end = clock.end()
        if clock[0] and (to := _TO_TIME.match(text, end)) is not None:
            end = to.end()
            start -= text[start - 1 : start] in ("从", "自")
    for pattern, signal in _AFTER:
        if (m := pattern.match(text, end)) is not None and r.precision != "range":
            r, end = replace(r, signal=signal), m.end()
            break
    else:
        for pattern, signal in _BEFORE:
            if (m := pattern.search(text, max(0, start - 4), start)) is not None and r.precision != "range":
                r, start = replace(r, signal=signal), m.start()
                break
    span.reading, span.outer = r, (start, end)
