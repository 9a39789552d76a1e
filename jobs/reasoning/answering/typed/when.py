"""The dates and times of day that a sentence tells."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from quern.jobs.reasoning.answering.typed.value import Days, Period, Value, times
from quern.jobs.text.dates import When
from quern.schemas.words.patterns import lazy_pattern

_CLOCK = lazy_pattern(
    r"(?<![\d.,])(?:[01]?\d|2[0-4])[.:][0-5]\d(?:\s?[ap]\.?m\b\.?)?(?![\d%]|\s*(?:m\b|million|billion|per\b|metres|"
    r"nautical|km\b|kilo|crowns|hours|litres|degrees|tonnes))|\b(?:1[0-2]|[1-9])\s?[ap]\.?m\b\.?|\b(?:noon|midnight)\b|"
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+o['’]clock|"
    r"\d{1,2}[点时](?:\d{1,2}分|半)?",
    re.IGNORECASE,
)
_DAY_OF_MONTH = lazy_pattern(
    r"\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+\.?|[A-Z][a-z]+\.? \d{1,2}(?:st|nd|rd|th)?|\d{1,2}月\d{1,2}[日号]|"
    r"[一二三四五六七八九十]{1,2}月[一二三四五六七八九十]{1,3}[日号]"
)
_YEAR_WRITTEN = lazy_pattern(r"(?:1\d|20)\d\d|[〇零一二三四五六七八九]{4}年")
_DATELINE = lazy_pattern(
    r"(?:[A-Z][\w’'.-]*(?:\s[A-Z][\w’'.-]*){0,3},\s+)?(?:\d{1,2}\s+[A-Z][a-z]+|[A-Z][a-z]+\s+\d{1,2},?)\s+(?:1\d|20)\d\d\.?"
)
_OF_DATELINE = 0.3
# Days on which something always is: `on Thursdays`, `every Monday`.
_WEEKLY = lazy_pattern(
    r"\b(?:on\s+)?(?P<day>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days|every\s+(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
)
_SHORTLY = 60  # Days: what is told next may have been a little before.
_ROUGH = 0.6  # What a full hour in words is worth: `shortly before eight o'clock`.


def clocks(sentence: str) -> list[Value]:
    """The times of day of a sentence."""
    found = _CLOCK.finditer(sentence)
    return [Value(m.start(), m.end(), m[0], _ROUGH if "clock" in m[0] else 1.0, m[0].lower()) for m in found]


def dated(sentence: str, days: Days, grain: str) -> list[Value]:
    """The dates of a sentence, by how well each answers a question for a year, month or day: `grain`.

    A line of place and day alone heads a report, and is the day of nothing that it tells.
    """
    share = _OF_DATELINE if _DATELINE.fullmatch(sentence.strip()) else 1.0
    found = [
        Value(
            w.start,
            w.end,
            w.text.rstrip("."),
            share * _fit_of_date(w, grain),
            Period(w.from_day, w.to_day),
            _meaning(w),
        )
        for w in _placed(sentence, days)
    ]
    if grain == "day":
        taken = [(v.start, v.end) for v in found]
        weekly = [
            m for m in _WEEKLY.finditer(sentence) if not any(a < m.end("day") and m.start() < b for a, b in taken)
        ]
        found += [Value(m.start("day"), m.end("day"), m["day"], 1.0, m["day"].lower()) for m in weekly]
    return found


def _fit_of_date(when: When, grain: str) -> float:
    """How well a date answers; one that leaves open what is asked for, or a day for a year, answers less well."""
    fits = {"day": 1.0, "range": 1.0, "month": 0.9, "week": 0.5, "season": 0.8, "year": 0.75}
    if grain == "year":
        if when.precision == "year":  # `this year` is one, but often said of an age.
            return 1.0 if _YEAR_WRITTEN.search(when.text) else 0.7
        return 0.9 if _YEAR_WRITTEN.search(when.text) else 0.4
    if grain in ("day", "month") and when.precision in ("year", "season"):
        return 0.4
    return fits[when.precision]


def _placed(sentence: str, days: Days) -> list[When]:
    """The dates of a sentence; a day without a year follows the time that was told before it, as a story goes on."""
    told = days.told
    now = times(sentence, days.published)
    return [_following(w, told) if told and _DAY_OF_MONTH.fullmatch(w.text) else w for w in now]


def _following(when: When, told: date) -> When:
    """A day without a year as the one of the year that begins shortly before `told`."""
    if when.from_day is None or (when.from_day.month, when.from_day.day) == (2, 29):
        return when
    day = when.from_day.replace(year=told.year)
    if day < told - timedelta(days=_SHORTLY):
        day = day.replace(year=told.year + 1)
    return replace(when, from_day=day, to_day=day)


def _meaning(when: When) -> str:
    """The date in full where the text leaves its year open; empty where it does not."""
    first, last = when.from_day, when.to_day
    if first is None or last is None or _YEAR_WRITTEN.search(when.text):
        return ""
    if not when.text.isascii():
        days = {"day": f"{first.year}年{first.month}月{first.day}日", "month": f"{first.year}年{first.month}月"}
        return days.get(when.precision, f"{first.year}年" if first.year == last.year else "")
    if when.precision == "day":
        return f"{first.day} {first:%B %Y}"
    if when.precision == "month":
        return f"{first:%B %Y}"
    return (
        f"{first.day} {first:%B %Y} to {last.day} {last:%B %Y}"
        if when.precision in ("week", "range")
        else f"{first.year}"
    )


def written_year(sentence: str, published: date | None) -> date | None:
    """The last date of a sentence whose year is written: the dates behind it are of about that time."""
    if _YEAR_WRITTEN.search(sentence) is None:  # Hardly a sentence of a chat has one: no dates are looked for.
        return None
    known = [w for w in times(sentence, published) if w.from_day and _YEAR_WRITTEN.search(w.text)]
    return known[-1].from_day if known and known[-1].precision in ("day", "month") else None
