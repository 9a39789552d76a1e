"""Damage at random places of a small warehouse."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from tests.corruption.places import places
from tests.corruption.trial import Outcome, expected_of, trials
from tests.corruption.warehouses import full_warehouse

Result = TypeVar("Result")
log = logging.getLogger(__name__)


def benchmark_corruption(count: int, seed: int) -> dict[str, float]:
    """Of `count` places that are damaged how many were silent, ended in a crash or a traceback, or were not mended."""
    with tempfile.TemporaryDirectory(prefix="quern-corruption-") as folder:
        root = Path(folder)
        # LanceDB and the models have threads, which a process that forks must not have.
        whole = _elsewhere(full_warehouse, root / "small")
        expected = _elsewhere(expected_of, whole)
        outcomes: list[Outcome] = []
        for number, outcome in enumerate(trials(whole, places(whole, count, seed), expected, root), 1):
            outcomes.append(outcome)
            if number % 20 == 0:
                log.info("places=%d", number)
            if not outcome.passed:
                log.info("place=%d %s", number, outcome)
        ways = {"silent": 0, "crash": 0, "traceback": 0, "not mended": 0}
        for outcome in outcomes:
            for way in ("silent", "crash", "traceback"):
                ways[way] += outcome.asked.startswith(way) or outcome.built.startswith(way)
            ways["not mended"] += outcome.built.startswith(("told", "damaged"))
        figures: dict[str, float] = {"places": len(outcomes), **ways}
        tried = Counter(outcome.place.kind for outcome in outcomes)
        figures |= {f"tried: {kind}": tried[kind] for kind in sorted(tried)}
        figures["seconds_a_place"] = sum(outcome.seconds for outcome in outcomes) / max(len(outcomes), 1)
    return figures


def _elsewhere(make: Callable[[Path], Result], root: Path) -> Result:
    """What `make` returns, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        return pool.submit(make, root).result()
