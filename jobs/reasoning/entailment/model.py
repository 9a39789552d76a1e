"""The probability that texts entail a statement, as `python -m tests.benchmarks entailment --fit` fitted it.

It is fitted to claims that experts found supported or not, to sentences of people's answers with the passage that they
were written from, and to both beside texts of other questions. Two models, with cosines and without: to leave out what
one weighs most would draw all scores to the middle.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

from quern.jobs.reasoning.logistic import LogisticModel

FILE: Final = Path(__file__).with_name("model.json")


@lru_cache(maxsize=2)
def fitted(*, vectors: bool) -> LogisticModel:
    """The model that the package carries, for features with cosines or without."""
    models = json.loads(FILE.read_text(encoding="utf-8"))
    return LogisticModel(**models["vectors" if vectors else "words"])
