"""Dates found in sentences against the cases of Recognizers-Text, and their speed.

A folder holds `english.jsonl` and `chinese.jsonl`: `input`, `reference` (the "now" of the sentence) and `results` with
`start`, `end` (inclusive), `type`, `timex` and `values`. Dates and ranges of dates are measured, with their times of
day or without; not the moment of writing and what is counted from it in hours. A found time counts where it overlaps a
gold one, and as right where its first and last day are those of one of the gold values.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from quern.jobs.text.dates import When, dates

_TYPES: Final = ("date", "daterange", "datetime", "datetimerange")
_HOURS: Final = re.compile(
    r"\b(?:hours?|hrs?|h|minutes?|mins?|seconds?|now|asap)\b|\d(?:hr|min)|小时|分钟|现在", re.IGNORECASE
)
# Characters of LiHua-World's chats that both are timed on: dateparser needs seconds for as many.
_TIMED: Final = 20_000


def benchmark_dates(folder: Path) -> dict[str, float]:
    """F1 of spans, shares of right values and of false alarms per language; speed on the chats beside it."""
    figures: dict[str, float] = {}
    for language in ("english", "chinese"):
        figures |= evaluate_dates(folder / f"{language}.jsonl", language)
    chats = folder.parent / "lihua_world" / "documents.jsonl"
    return figures | _speed(chats) if chats.exists() else figures


@dataclass
class _Counts:
    """What was counted over the cases of a language."""

    found: int = 0
    wanted: int = 0
    overlapping: int = 0
    begun: int = 0
    right: int = 0
    dateless: int = 0
    alarms: int = 0


def evaluate_dates(file: Path, language: str) -> dict[str, float]:
    """The figures of one file of cases."""
    counts = _Counts()
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            _count(json.loads(line), counts)
    n, both = counts.overlapping, counts.found + counts.wanted
    return {
        f"{language}, F1": 2 * n / both,
        f"{language}, first day right": counts.begun / n,
        f"{language}, value right": counts.right / n,
        f"{language}, found where none is": counts.alarms / counts.dateless,
    }


def _count(case: dict[str, Any], counts: _Counts) -> None:
    reference = datetime.fromisoformat(case["reference"]) if case["reference"] else None
    every = [g for g in case["results"] if g["type"] in _TYPES]
    gold = [g for g in every if "PRESENT_REF" not in g["timex"] and not _HOURS.search(g["text"])]
    ours = [w for w in dates(case["input"], reference) if not any(_overlaps(w, g) for g in every if g not in gold)]
    counts.found += len(ours)
    counts.wanted += len(gold)
    counts.dateless += not every
    counts.alarms += bool(ours) and not every
    for when, g in _pairs(ours, gold):
        counts.overlapping += 1
        counts.begun += _begins(when, g)
        counts.right += is_right(when, g)


def _pairs(ours: list[When], gold: list[dict[str, Any]]) -> list[tuple[When, dict[str, Any]]]:
    """Each found time with the first gold one that it overlaps and no other has taken."""
    left, pairs = list(gold), []
    for when in ours:
        match = next((g for g in left if _overlaps(when, g)), None)
        if match is not None:
            left.remove(match)
            pairs.append((when, match))
    return pairs


def _overlaps(when: When, gold: dict[str, Any]) -> bool:
    return bool(gold["start"] < when.end and when.start <= gold["end"])


def _begins(when: When, gold: dict[str, Any]) -> bool:
    days = {str(v.get("value") or v.get("start") or v.get("end"))[:10] for v in gold["values"]}
    return when.from_day is not None and when.from_day.isoformat() in days


def is_right(when: When, gold: dict[str, Any]) -> bool:
    """Whether first and last day are those of one of the gold values.

    The gold's last day is the day after a unit, but the named end of a range; where that begins a month or a year
    (`August to October`), the range may go on to its end, as people read it. A side that the gold leaves open (`since
    2011`) is not asked for. A day of the Chinese calendar, which the gold copies into our own, is right where it is
    told as such; a day that there is not, where it has no day; the start or end of a unit, of which the gold has the
    whole unit, where it lies in that.
    """
    return when.flaw == "lunar" or any(_agrees(when, value) for value in gold["values"])


def _agrees(when: When, value: dict[str, str]) -> bool:
    if value.get("value") == "not resolved":  # A season, or a day that there is not.
        return when.from_day is None or when.precision == "season"
    first = _day(value.get("value") or value.get("start"))
    end = _day(value.get("value") or value.get("end"))
    if value.get("Mod") in ("start", "mid", "end") and when.from_day and when.to_day and first and end:
        return first <= when.from_day and when.to_day <= end
    if first is None or end is None:
        known = {when.from_day, when.to_day, when.to_day and when.to_day + timedelta(1)}
        return (first or end) in known
    return when.from_day == first and when.to_day in _ends(end)


def _day(value: str | None) -> date | None:
    return date.fromisoformat(value[:10]) if value else None


def _ends(end: date) -> Iterator[date]:
    """The last days that a gold end allows."""
    yield end
    yield end - timedelta(1)
    if end.day == 1:
        yield (end + timedelta(31)).replace(day=1) - timedelta(1)
        if end.month == 1:
            yield end.replace(month=12, day=31)


def _speed(chats: Path) -> dict[str, float]:
    """Characters a second of one core, and how many times those of `dateparser.search` on the same messages."""
    from dateparser.search import search_dates  # type: ignore[import-untyped]

    messages: list[tuple[str, date]] = []
    size = 0
    with chats.open(encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            published = date.fromisoformat(document["published_at"][:10])
            messages += [(m, published) for m in document["text"].split("\n") if m]
            size += len(document["text"])
            if size > _TIMED:
                break
    dates("on 2 March", date(2024, 1, 1))
    search_dates("on 2 March", languages=["en"])
    started = time.process_time()
    for text, published in messages:
        dates(text, published)
    mine = time.process_time() - started
    started = time.process_time()
    for text, _ in messages:
        search_dates(text, languages=["en"])
    theirs = time.process_time() - started
    return {"characters a second": size / mine, "times dateparser.search": theirs / mine}
