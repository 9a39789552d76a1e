"""Benchmarks that can be run anywhere: `python -m tests.benchmarks NAME`.

Where two sides are compared they take turns within a round, so that both meet the same noise; the figure is the
median of the rounds' ratios.
"""

from __future__ import annotations

import importlib.util
import logging
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

Round = Mapping[str, float]


def is_installed(module: str, package: str) -> bool:
    """Whether a peer can be imported; if not, the log says how to install it."""
    if importlib.util.find_spec(module):
        return True
    logging.getLogger(__name__).warning("%s is left out: pip install %s", module, package)
    return False


def seconds_of(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of `work` by `clock`."""
    started = clock()
    work()
    return clock() - started


def in_turns(
    works: Mapping[str, Callable[[], object]], repeats: int, clock: Callable[[], float] = time.process_time
) -> list[Round]:
    """Seconds of each of `works` by `clock`, round by round."""
    return [{name: seconds_of(work, clock) for name, work in works.items()} for _ in range(repeats)]


def median(rounds: Sequence[Round], name: str) -> float:
    """The median seconds of one side."""
    return statistics.median(r[name] for r in rounds)


def median_ratio(rounds: Sequence[Round], above: str, below: str) -> float:
    """The median of the rounds' ratios of two sides."""
    return statistics.median(r[above] / r[below] for r in rounds)
