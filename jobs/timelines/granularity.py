"""Which unit of time suits a timeline, by the spread of its events and by how exact their dates are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from statistics import median_low
from typing import Final

# Up to so many days between first and last event the unit is one that gives at most about thirty marks.
_SPREADS: Final = ((31, "day"), (210, "week"), (3 * 366, "month"), (8 * 366, "quarter"))
_COARSEST: Final = "year"
_UNITS: Final = ("day", "week", "month", "quarter", "year")
_UNIT_OF: Final = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "season": "quarter"}


def granularity(days: Sequence[date], precisions: Sequence[str]) -> str:
    """The unit, `day` to `year`: as the spread of the events asks, but no finer than half of their dates are."""
    spread = (max(days) - min(days)).days
    by_spread = next((unit for most, unit in _SPREADS if spread <= most), _COARSEST)
    exact = median_low(sorted(_UNITS.index(_UNIT_OF.get(p, "month" if p == "range" else "year")) for p in precisions))
    return _UNITS[max(_UNITS.index(by_spread), exact)]
