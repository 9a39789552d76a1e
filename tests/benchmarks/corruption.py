"""Damage at random places of a small warehouse, and the share of its builds that checksums take."""

from __future__ import annotations

import logging
import pstats
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from cProfile import Profile
from multiprocessing import get_context
from pathlib import Path
from typing import Final, TypeVar

from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from tests.corruption.places import places
from tests.corruption.trial import Outcome, expected_of, trials
from tests.corruption.warehouses import FULL, full_warehouse

Result = TypeVar("Result")
log = logging.getLogger(__name__)

# What is called for checksums alone; hashing of what is written is in C, below `write`.
_FUNCTIONS: Final = {
    ("checksums.py", "damage"),
    ("checksums.py", "checksum_of"),
    ("checksums.py", "checksum"),
    ("memo_parts.py", "check"),
    ("memo_parts.py", "damage"),
}
_HASHING: Final = "method 'update' of 'xxhash._xxhash.xxh3_128' objects"


def benchmark_corruption(count: int, seed: int) -> dict[str, float]:
    """Of `count` places that are damaged how many were silent, ended in a crash or a traceback, or were not mended.

    And the share of the time of a first build, and of a night without a change, that checksums take.
    """
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
        figures["build_checksums_share"] = _elsewhere(_share, whole.parent)
        figures["quiet_night_checksums_share"] = _elsewhere(_share, whole.parent)
    return figures


def _elsewhere(make: Callable[[Path], Result], root: Path) -> Result:
    """What `make` returns, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        return pool.submit(make, root).result()


def _share(root: Path) -> float:
    """The share of checksums in a build of the pages in `root` into a warehouse beside them, under a profiler."""
    profile = Profile()
    profile.enable()
    build(root / "pages", Warehouse.create(root / "profiled"), FULL)
    profile.disable()
    stats = pstats.Stats(profile)
    taken = 0.0
    for (file, _, name), (_, _, _, cumulative, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if (Path(file).name, name) in _FUNCTIONS:
            inner = [c for (f, _, n), c in callers.items() if (Path(f).name, n) in _FUNCTIONS]
            taken += cumulative - sum(c[3] for c in inner)
        elif _HASHING in name:
            taken += sum(c[3] for (f, _, n), c in callers.items() if n == "write")
    return float(taken / stats.total_tt)  # type: ignore[attr-defined]
