"""What a timeline is called, and its unit of time: keywords of events, and the spread of their days."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from statistics import median_low
from typing import Final

from quern.jobs.queries.rules.units import STOP_WORDS
from quern.jobs.text.names import name_key
from quern.schemas.words.scripts import CJK

_WORD: Final = re.compile(rf"[^\W\d_{CJK}]{{4,}}")
# Up to so many days between first and last event the unit is one that gives at most about thirty marks.
_SPREADS: Final = ((31, "day"), (210, "week"), (3 * 366, "month"), (8 * 366, "quarter"))
_UNITS: Final = ("day", "week", "month", "quarter", "year")
_UNIT_OF: Final = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "season": "quarter"}


def keywords(names: Iterable[str], titles: Sequence[str], topic: str, most: int) -> list[str]:
    """Names that several events share, then words that several titles share, commonest first, without the topic."""
    keys = set(name_key(topic).split())
    shared = [name for name, n in _ranked(Counter(names)) if n > 1 and not set(name_key(name).split()) <= keys]
    words = Counter(w for title in titles for w in {w.lower() for w in _WORD.findall(title)} - STOP_WORDS - keys)
    said = {part for name in shared for part in name_key(name).split()}
    rest = [word for word, n in _ranked(words) if n > 1 and word not in said]
    return [*shared, *rest][:most]


def _ranked(counted: Counter[str]) -> list[tuple[str, int]]:
    """Commonest first; of as common ones the first by alphabet, so that equal events give equal keywords."""
    return sorted(counted.items(), key=lambda known: (-known[1], known[0]))


def granularity(days: Sequence[date], precisions: Sequence[str]) -> str:
    """The unit, `day` to `year`: as the spread of the events asks, but no finer than half of their dates are."""
    spread = (max(days) - min(days)).days
    by_spread = next((unit for most, unit in _SPREADS if spread <= most), "year")
    exact = median_low(sorted(_UNITS.index(_UNIT_OF.get(p, "month" if p == "range" else "year")) for p in precisions))
    return _UNITS[max(_UNITS.index(by_spread), exact)]
