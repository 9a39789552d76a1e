"""Dates found in sentences against the cases of Recognizers-Text: spans, and the day that each begins with.

A folder holds `english.jsonl` and `chinese.jsonl`: `input`, `reference` (the "now" of the sentence) and `results` with
`start`, `end` (inclusive), `type` and `values`. Dates, ranges of dates and their times are measured; a found time
counts where it overlaps a gold one, and as resolved where it begins on a day of the gold values.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any, Final

from quern.jobs.text.dates import When, dates

_TYPES: Final = ("date", "daterange", "datetime", "datetimerange")


def benchmark_dates(folder: Path) -> dict[str, float]:
    """F1 of spans and share of the found ones that are resolved to the right first day, per language."""
    figures: dict[str, float] = {}
    for language in ("english", "chinese"):
        with (folder / f"{language}.jsonl").open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        right = found = wanted = resolved = 0
        for row in rows:
            reference = date.fromisoformat(row["reference"][:10]) if row["reference"] else None
            gold = [g for g in row["results"] if g["type"] in _TYPES]
            ours = dates(row["input"], reference)
            pairs = _pairs(ours, gold)
            right, found, wanted = right + len(pairs), found + len(ours), wanted + len(gold)
            resolved += sum(_begins(when, g) for when, g in pairs)
        figures[f"{language}, F1"] = 2 * right / (found + wanted)
        figures[f"{language}, resolved"] = resolved / right
    return figures


def _pairs(ours: list[When], gold: list[dict[str, Any]]) -> list[tuple[When, dict[str, Any]]]:
    """Each found time with the first gold one that it overlaps and no other has taken."""
    left, pairs = list(gold), []
    for when in ours:
        match = next((g for g in left if g["start"] < when.end and when.start <= g["end"]), None)
        if match is not None:
            left.remove(match)
            pairs.append((when, match))
    return pairs


def _begins(when: When, gold: dict[str, Any]) -> bool:
    days = {str(v.get("value") or v.get("start") or v.get("end"))[:10] for v in gold["values"]}
    return when.from_day is not None and when.from_day.isoformat() in days
