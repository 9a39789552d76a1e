"""Which numbers of a sentence follow from others of it, and need stand in no source: differences and spans of time.

A difference follows where the sentence tells it as one: beside two numbers of its unit, or beside the two days that a
time lies between.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from quern.jobs.text.dates import When, dates
from quern.jobs.text.quantities import Quantity, quantities

_DAYS: Final = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
_ONE_UNIT: Final = {"percentage point": "per cent"}  # By which shares differ.
# What stands between two numbers that are set against each other.
_AGAINST: Final = re.compile(r"\s*(?:against|versus|vs\.?|compared (?:with|to)|对|比)\s*", re.IGNORECASE)


def derived_numbers(sentence: str, missing: frozenset[float], known: frozenset[float]) -> frozenset[float]:
    """Those of `missing` that the sentence tells as the difference of two numbers that are `known`, or of two days."""
    times = dates(sentence)
    counts = quantities(sentence, times)
    return frozenset(
        n
        for n in missing
        for q in counts
        if math.isclose(q.value, n) and (_is_difference(q, counts, known, sentence) or _is_span(q, times))
    )


def _is_difference(q: Quantity, counts: Sequence[Quantity], known: frozenset[float], sentence: str) -> bool:
    """Whether two neighbours among the sentence's quantities differ by `q` and count the same as it.

    Where the numbers have no unit, they must be set against each other: `by 7,140 (8,340 against 1,200)`. One of two
    may be without the unit that the other has: `68 against 61 metres`.
    """

    def told(one: Quantity, other: Quantity) -> bool:
        units = {_unit(one), _unit(other)}
        if not units <= {"", _unit(q)} or _unit(q) not in units:
            return False
        return "" not in units or _AGAINST.fullmatch(sentence[one.end : other.start]) is not None

    return any(
        one.value in known
        and other.value in known
        and math.isclose(abs(one.value - other.value), q.value)
        and told(one, other)
        for one, other in pairwise(c for c in counts if c is not q)
    )


def _unit(q: Quantity) -> str:
    return _ONE_UNIT.get(q.unit, q.unit)


def _is_span(q: Quantity, times: Sequence[When]) -> bool:
    """Whether `q` tells how long lies between two of the times, or between the ends of a range, to the whole unit."""
    if q.unit not in _DAYS:
        return False
    ends = [(t.from_day, t.to_day) if t.precision == "range" else (t.from_day,) for t in times]
    days = [day for of in ends for day in of if day is not None]
    spans = [abs((one - other).days) / _DAYS[q.unit] for one, other in combinations(days, 2)]
    return any(q.value in (math.floor(span), math.ceil(span)) for span in spans)
