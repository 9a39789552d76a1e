"""Dates found in sentences against the cases of Recognizers-Text.

A folder holds `english.jsonl` and `chinese.jsonl`: `input`, `reference` (the "now" of the sentence) and `results` with
`start`, `end` (inclusive), `type`, `timex` and `values`. Dates and ranges of dates are measured, with their times of
day or without; not the moment of writing and what is counted from it in hours. A found time counts where it overlaps a
gold one, and as right where its first and last day are those of one of the gold values.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from quern.jobs.text.dates import When, dates
from tests.benchmarks import Figures
from tests.conftest import read_jsonl

_TYPES: Final = ("date", "daterange", "datetime", "datetimerange")
_HOURS: Final = re.compile(
    r"\b(?:hours?|hrs?|h|minutes?|mins?|seconds?|now|asap)\b|\d(?:hr|min)|小时|分钟|现在", re.IGNORECASE
)


def benchmark_dates(datasets: Path) -> Figures:
    """F1 of spans, shares of right values and of false alarms per language."""
    return _figures(datasets, "english") | _figures(datasets, "chinese")


def _figures(datasets: Path, language: str) -> Figures:
    """The figures of the cases of one language."""
    both = overlapping = right = dateless = alarms = 0
    for case in read_jsonl(datasets / "date_expressions" / f"{language}.jsonl"):
        reference = datetime.fromisoformat(case["reference"]) if case["reference"] else None
        every = [g for g in case["results"] if g["type"] in _TYPES]
        gold = [g for g in every if "PRESENT_REF" not in g["timex"] and not _HOURS.search(g["text"])]
        passed = [g for g in every if g not in gold]
        ours = [w for w in dates(case["input"], reference) if not any(_overlaps(w, g) for g in passed)]
        both += len(ours) + len(gold)
        dateless += not every
        alarms += bool(ours) and not every
        left = list(gold)
        for when in ours:  # Each with the first gold one that it overlaps and no other has taken.
            match = next((g for g in left if _overlaps(when, g)), None)
            if match is not None:
                left.remove(match)
                overlapping += 1
                right += _is_right(when, match)
    return {
        f"{language}, F1": 2 * overlapping / both,
        f"{language}, value right": right / overlapping,
        f"{language}, found where none is": alarms / dateless,
    }


def _overlaps(when: When, gold: dict[str, Any]) -> bool:
    return bool(gold["start"] < when.end and when.start <= gold["end"])


def _is_right(when: When, gold: dict[str, Any]) -> bool:
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
    ends = {end, end - timedelta(1)}  # The last days that a gold end allows.
    if end.day == 1:
        ends.add((end + timedelta(31)).replace(day=1) - timedelta(1))
        if end.month == 1:
            ends.add(end.replace(month=12, day=31))
    return when.from_day == first and when.to_day in ends


def _day(value: str | None) -> date | None:
    return date.fromisoformat(value[:10]) if value else None
