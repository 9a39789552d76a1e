"""The bounds of quality figures in `floors.json`, and how figures are held to them.

Vectors have other last digits on other processors, so that a question or two is answered otherwise. A figure breaks a
bound only if its whole 95 % interval lies beyond it: the bootstrap interval that an evaluation gives, else Wilson's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FLOORS: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("floors.json").read_text("utf-8"))
_Z: Final = 1.96

Bounds = Mapping[str, Mapping[str, float]]


def wilson(share: float, questions: int) -> tuple[float, float]:
    """The 95 % interval of a mean of values in [0, 1] (Wilson 1927); for other values than 0 and 1 it is wider."""
    room = _Z**2 / questions
    middle = (share + room / 2) / (1 + room)
    half = math.sqrt(room * share * (1 - share) + room**2 / 4) / (1 + room)
    return middle - half, middle + half


def broken(figures: Mapping[str, float], bounds: Bounds, questions: int = 0) -> dict[str, tuple[float, float, float]]:
    """The figures that break their bounds, as (low, high, bound).

    Args:
        figures: By name; with `NAME_low` and `NAME_high` where they have intervals of their own.
        bounds: `at least` and `at most`, each by the figure's name.
        questions: What the others are means over.
    """
    failures = {}
    for side, of in bounds.items():
        for name, bound in of.items():
            own = f"{name}_low" in figures
            low, high = (figures[f"{name}_low"], figures[f"{name}_high"]) if own else wilson(figures[name], questions)
            if bound in (0.0, 1.0):  # Of all or of none: no chance is granted.
                low = high = figures[name]
            if not (high >= bound if side == "at least" else low <= bound):
                failures[name] = (low, high, bound)
    return failures
