"""Figures of a set of questions, each with its 95 % bootstrap interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from quern.indexes.vectors import Positions
from quern.pipelines.evaluation.bootstrap import Interval, Numbers, ratio_intervals, statistic_intervals

CONFIDENCE: Final = 0.95
_RESAMPLES: Final = 1000
_SEED: Final = 20250921


@dataclass(frozen=True)
class Figure:
    """A figure with its interval; NaN where nothing was measured.

    Attributes:
        questions: Questions that it is taken over.
    """

    value: float
    low: float
    high: float
    questions: int


def ratio_figures(shares: Mapping[str, tuple[Numbers, Numbers]]) -> dict[str, Figure]:
    """Figures that are a sum over a sum, both given by question."""
    if not shares:
        return {}
    parts, wholes = (np.stack([pair[n] for pair in shares.values()], axis=1) for n in (0, 1))
    found = ratio_intervals(parts, wholes, _RESAMPLES, CONFIDENCE, _SEED)
    return {name: _figure(found, n, int((wholes[:, n] > 0).sum())) for n, name in enumerate(shares)}


def mean_figures(values: Mapping[str, Numbers]) -> dict[str, Figure]:
    """Means of values by question, over those that have one: the others are NaN."""
    return ratio_figures({n: (np.nan_to_num(v), (~np.isnan(v)).astype(np.float64)) for n, v in values.items()})


def statistic_figures(
    statistics: Mapping[str, tuple[Callable[[Positions], float], Numbers]], rows: int
) -> dict[str, Figure]:
    """Figures of another kind, each with 1 for the questions that it is taken over."""
    named: Sequence[Callable[[Positions], float]] = [of for of, _ in statistics.values()]
    found = statistic_intervals(lambda at: [of(at) for of in named], rows, _RESAMPLES, CONFIDENCE, _SEED)
    return {name: _figure(found, n, int(over.sum())) for n, (name, (_, over)) in enumerate(statistics.items())}


def flat(of: Mapping[str, Figure]) -> dict[str, float]:
    """Figures with their intervals as `NAME_low` and `NAME_high`, and their number of questions as `NAME_questions`."""
    parts = ("value", "low", "high", "questions")
    names = ("", "_low", "_high", "_questions")
    return {f"{name}{end}": getattr(f, part) for name, f in of.items() for part, end in zip(parts, names, strict=True)}


def _figure(interval: Interval, at: int, questions: int) -> Figure:
    value, low, high = (round(float(a[at]), 4) for a in (interval.mean, interval.low, interval.high))
    return Figure(value, low, high, questions)
