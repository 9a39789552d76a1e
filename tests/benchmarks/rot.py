"""Damage at random places of a small warehouse, and the share of its builds that checksums take."""

from __future__ import annotations

import pstats
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from cProfile import Profile
from multiprocessing import get_context
from pathlib import Path
from typing import Final, TypeVar

from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from tests.rot.places import places
from tests.rot.trial import Expected, Outcome, count_of, read_of, tables_after, trials, tried_of
from tests.rot.warehouses import FULL, GOING_ON, NIGHTS, full_warehouse

Made = TypeVar("Made")

# What is called for checksums alone; hashing of what is written is in C, below `write`.
_FUNCTIONS: Final = {
    ("checksums.py", "damage"),
    ("checksums.py", "checksum_of"),
    ("checksums.py", "checksum"),
    ("memo_parts.py", "check"),
    ("memo_parts.py", "damage"),
}
_HASHING: Final = "method 'update' of 'xxhash._xxhash.xxh3_128' objects"


def benchmark_rot(count: int, seed: int) -> dict[str, float]:
    """Of `count` places that are damaged how many were silent, ended in a crash or a traceback, or were not mended.

    And the share of the time of a first build, and of a night without a change, that checksums take.
    """
    with tempfile.TemporaryDirectory(prefix="quern-rot-") as folder:
        root = Path(folder)
        # LanceDB and the models have threads, which a process that forks must not have.
        whole, expected = _elsewhere(_prepared, root)
        found = list(_told(trials(whole, places(whole, count, seed), expected, root)))
        figures: dict[str, float] = {"places": len(found), **count_of(found)}
        figures |= {f"tried: {kind}": tried for kind, tried in tried_of(found).items()}
        figures["seconds_a_place"] = sum(outcome.seconds for outcome in found) / max(len(found), 1)
        figures["build_checksums_share"] = _elsewhere(_share, whole.parent)
        figures["quiet_night_checksums_share"] = _elsewhere(_share, whole.parent)
    return figures


def _told(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    """The outcomes, of which each that did not pass is told as it comes, and now and then how many there were."""
    for number, outcome in enumerate(outcomes, 1):
        if number % 20 == 0:
            sys.stderr.write(f"places={number}\n")
            sys.stderr.flush()
        if not outcome.passed:
            sys.stderr.write(f"place={number} {outcome}\n")
            sys.stderr.flush()
        yield outcome


def _elsewhere(make: Callable[[Path], Made], root: Path) -> Made:
    """What `make` returns, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        return pool.submit(make, root).result()


def _prepared(root: Path) -> tuple[Path, Expected]:
    whole = full_warehouse(root / "small")
    expected = Expected(read_of(whole), tables_after(whole, (*NIGHTS, GOING_ON)))
    return whole, expected


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
