"""Personal data found in text against gold spans: F1 per type.

A span counts as found only where type, first and last character agree with the gold span. Texts are JSONL with
`text` and `spans` (`type`, `start`, `end`), as in presidio-research's synthetic set, whose sentences are filled
templates (`template_id`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from quern.jobs.text.personal_data import find
from tests.conftest import read_jsonl

# Presidio's names of the types that have a form; names and postal addresses have none.
_NAMES: Final = {
    "EMAIL_ADDRESS": "EMAIL",
    "PHONE_NUMBER": "PHONE",
    "CREDIT_CARD": "CREDIT_CARD",
    "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP",
    "US_SSN": "SSN",
}
_LANGUAGE: Final = "en"


def evaluate_personal_data(file: Path) -> dict[str, float]:
    """Figures per type, and texts without gold spans in which something was found."""
    rows = list(_rows(file))
    right, wrong, missed, alarms = Counter[str](), Counter[str](), Counter[str](), 0
    for text, gold in rows:
        mine = {(span.start, span.end, span.type) for span in find(text, _LANGUAGE)}
        right.update(name for _, _, name in gold & mine)
        wrong.update(name for _, _, name in mine - gold)
        missed.update(name for _, _, name in gold - mine)
        alarms += bool(mine) and not gold
    figures: dict[str, float] = {}
    for name in sorted(right | wrong | missed):
        figures[f"{name} f1"] = 2 * right[name] / (2 * right[name] + wrong[name] + missed[name])
    return {**figures, "texts": float(len(rows)), "false alarms": float(alarms)}


def _rows(file: Path) -> Iterator[tuple[str, set[tuple[int, int, str]]]]:
    """(text, gold spans of the types that are looked for) of each line."""
    for row in read_jsonl(file):
        spans = [s for s in row["spans"] if s["type"] in _NAMES]
        yield row["text"], {(s["start"], s["end"], _NAMES[s["type"]]) for s in spans}
