"""Personal data found in text against gold spans: precision, recall and F1 per type.

A span counts as found only where type, first and last character agree with the gold span. Texts are JSONL with
`text` and `spans` (`type`, `start`, `end`), as in presidio-research's synthetic set, whose sentences are filled
templates (`template_id`).
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from quern.jobs.text.personal_data import find

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


class PersonalDataError(ValueError):
    """A file that does not hold texts with gold spans; the message says where."""


def evaluate_personal_data(file: Path) -> dict[str, float]:
    """Figures per type, texts without gold spans in which something was found, and characters a second.

    Raises:
        PersonalDataError: The file cannot be read.
    """
    rows = list(_rows(file))
    started = time.process_time()
    found = [find(text, _LANGUAGE) for text, _ in rows]
    seconds = time.process_time() - started
    right, wrong, missed, alarms = Counter[str](), Counter[str](), Counter[str](), 0
    for (_, gold), spans in zip(rows, found, strict=True):
        mine = {(span.start, span.end, span.type) for span in spans}
        right.update(name for _, _, name in gold & mine)
        wrong.update(name for _, _, name in mine - gold)
        missed.update(name for _, _, name in gold - mine)
        alarms += bool(mine) and not gold
    figures: dict[str, float] = {}
    for name in sorted(right | wrong | missed):
        found_rightly = right[name]
        figures[f"{name} precision"] = found_rightly / max(1, found_rightly + wrong[name])
        figures[f"{name} recall"] = found_rightly / max(1, found_rightly + missed[name])
        figures[f"{name} f1"] = 2 * found_rightly / (2 * found_rightly + wrong[name] + missed[name])
    characters = sum(len(text) for text, _ in rows)
    return {
        **figures,
        "texts": float(len(rows)),
        "false alarms": float(alarms),
        "characters/s": characters / seconds if seconds else 0.0,
    }


def _rows(file: Path) -> Iterator[tuple[str, set[tuple[int, int, str]]]]:
    """(text, gold spans of the types that are looked for) of each line."""
    try:
        lines = file.read_text("utf-8").split("\n")
    except OSError as error:
        raise PersonalDataError(f"{file} cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                row = json.loads(line)
                spans = [s for s in row["spans"] if s["type"] in _NAMES]
                yield str(row["text"]), {(int(s["start"]), int(s["end"]), _NAMES[s["type"]]) for s in spans}
            except (ValueError, KeyError, TypeError) as error:
                what = f"a text with spans is needed ({type(error).__name__}: {error})"
                raise PersonalDataError(f"{file}, line {number}: {what}") from None
