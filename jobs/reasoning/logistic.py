"""A logistic model of a few features, its weights a file beside the features: why it judged so can be read off.

Each is fitted by a benchmark, `python -m tests.benchmarks confidence --fit` or `entailment --fit`. A weight has the
sign that its feature's meaning asks for, so that more of a good sign never lowers the probability.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

UNKNOWN: Final = math.nan


@dataclass(frozen=True)
class LogisticModel:
    """A logistic model."""

    intercept: float  # Log-odds where every feature has its usual value.
    weights: Mapping[str, float]  # Weight of each feature that counts.
    usual: Mapping[str, float]  # The value that each of them has on average, which stands in where it is unknown.

    def probability(self, features: object) -> float:
        """Probability in (0, 1), given an object that has the features as attributes; NaN is unknown."""
        odds = self.intercept
        for name, weight in self.weights.items():
            value = getattr(features, name)
            odds += 0.0 if math.isnan(value) else weight * (value - self.usual[name])
        return 1.0 / (1.0 + math.exp(-odds))
