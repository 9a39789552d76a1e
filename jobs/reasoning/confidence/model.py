"""The probability that the evidence answers: a logistic model of a few features, its weights a file beside this one.

It is fitted by `python -m tests.benchmarks confidence --fit` on questions whose evidence is known to answer, or not to.
A weight has the sign that its feature's meaning asks for, so that more of a good sign never lowers the probability.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from quern.jobs.reasoning.confidence.features import Features

FILE: Final = Path(__file__).with_name("model.json")


@dataclass(frozen=True)
class Model:
    """A logistic model.

    Attributes:
        intercept: Log-odds where every feature has its usual value.
        weights: Weight of each feature that counts.
        usual: The value that each of them has on average, which stands in where it is unknown.
    """

    intercept: float
    weights: Mapping[str, float]
    usual: Mapping[str, float]

    def probability(self, features: Features) -> float:
        """Probability in (0, 1) that the evidence answers."""
        odds = self.intercept
        for name, weight in self.weights.items():
            value = getattr(features, name)
            odds += 0.0 if math.isnan(value) else weight * (value - self.usual[name])
        return 1.0 / (1.0 + math.exp(-odds))


@lru_cache(maxsize=1)
def fitted() -> Model:
    """The model that the package carries."""
    return Model(**json.loads(FILE.read_text(encoding="utf-8")))
