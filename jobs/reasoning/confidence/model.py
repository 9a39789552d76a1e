"""The probability that the evidence answers, as `python -m tests.benchmarks confidence --fit` fitted it.

It is fitted to questions whose evidence is known to answer, or not to.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

from quern.jobs.reasoning.logistic import LogisticModel

FILE: Final = Path(__file__).with_name("model.json")


@lru_cache(maxsize=1)
def fitted() -> LogisticModel:
    """The model that the package carries."""
    return LogisticModel(**json.loads(FILE.read_text(encoding="utf-8")))
