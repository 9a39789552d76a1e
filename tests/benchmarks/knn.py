"""The benchmark of the graph builder, as a build runs it, against libraries for nearest neighbours.

Quern's time is from vectors in memory to edges: finding equal vectors, the search, canonical scores in float64, the
measured recall, the state for the next night, on disk. A peer's is that of building its index and searching all
vectors. All may use all cores. `job seconds` is the whole job, with reading and writing its tables.
"""

from __future__ import annotations

import logging
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats
from quern.jobs.core.progress import MemoryMeter
from quern.schemas.settings import NeighbourSettings
from tests.benchmarks.knn_peers import APPROXIMATE, EXACT, Join, installed, tuned
from tests.benchmarks.knn_runs import (
    Bench,
    BenchmarkError,
    K,
    Others,
    clustered,
    differing,
    of_warehouses,
    recall_of,
)

Part = Literal["exact", "approximate", "change", "memory"]
log = logging.getLogger(__name__)

RECALL = 0.98
_REPLACED = 100
_ALL_PAIRS, _PARTITIONS = NeighbourSettings(exact_below=1 << 40), NeighbourSettings(exact_below=0)
_GIB = 1 << 30


def benchmark_knn(
    nodes: int = 100_000, warehouses: Sequence[Path] = (), repeats: int = 3, part: Part | None = None
) -> dict[str, float]:
    """Speed, recall, cost of a night and memory of the graph builder, medians over `repeats` rounds.

    Args:
        nodes: Nodes of the graph; of `memory` alone ten times as many, if no part is named.
        warehouses: Whose nodes are linked, as many different ones as there are up to `nodes`; by default, and always
            for `memory`, vectors in clusters.
        repeats: Rounds. In each every side runs once, so that all meet the same noise.
        part: What is measured; all if None.

    Returns:
        Of every ratio the median, least and greatest of the rounds. `exact ratio`: seconds of faiss' flat index over
        Quern's; `exact differing`: nodes whose neighbours are not equally near. `approximate ratio NAME`: the same of
        a peer at the cheapest parameters that reach a recall of .98, and `approximate ratio` of the fastest one in
        each round. `change exact`: seconds of a night with one in a hundred nodes replaced, over those of the same
        nodes from nothing, comparing all; `change approximate` the same by partitions; `same` is the share of edges
        that a build from nothing has too, which is all. `memory GiB`: peak of a process that links by partitions.
        `others`: cores that other work kept busy.

    Raises:
        BenchmarkError: A night's graph differs from a full one, or a warehouse has no nodes.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    figures: dict[str, float] = {}
    parts: dict[Part, Callable[[Bench, Floats, int], dict[str, float]]] = {
        "exact": _exact,
        "approximate": _approximate,
        "change": _change,
    }
    with tempfile.TemporaryDirectory() as directory, Others() as others:
        bench = Bench.at(Path(directory))
        if part != "memory":
            vectors = of_warehouses(warehouses, nodes) if warehouses else np.concatenate(list(clustered(nodes)))
            figures["nodes"] = float(len(vectors))
            for name, measure in parts.items():
                if part in (None, name):
                    figures |= measure(bench, vectors, repeats)
        if part in (None, "memory"):
            figures |= _memory(bench, nodes if part else 10 * nodes)
    return figures | {"others": others.cores}


def _exact(bench: Bench, vectors: Floats, repeats: int) -> dict[str, float]:
    found = bench.join(vectors, _ALL_PAIRS).neighbours
    joins = {peer.name: Join(peer, "", "") for peer in installed((EXACT,))}
    figures = _compared("exact", _rounds(bench, vectors, _ALL_PAIRS, joins, repeats), joins)
    for join in joins.values():
        figures["exact differing"] = float(differing(found, join.run(vectors, K, bench.cores), vectors))
    return figures | {"exact job seconds": bench.job(bench.nodes([vectors]), _ALL_PAIRS)[0]}


def _approximate(bench: Bench, vectors: Floats, repeats: int) -> dict[str, float]:
    truth = bench.join(vectors, _ALL_PAIRS).neighbours
    reached = partial(recall_of, truth=truth, vectors=vectors)
    ours = bench.join(vectors, _PARTITIONS)
    figures = {"approximate recall": reached(ours.neighbours), "approximate measured": ours.recall}
    joins: dict[str, Join] = {}
    for peer in installed(APPROXIMATE):
        join = tuned(peer, vectors, K, bench.cores, reached, RECALL)
        if join is not None:
            log.warning("%s", join)
            joins[peer.name] = join
            figures[f"recall {peer.name}"] = reached(join.run(vectors, K, bench.cores))
    figures |= _compared("approximate", _rounds(bench, vectors, _PARTITIONS, joins, repeats), joins)
    return figures | {"approximate job seconds": bench.job(bench.nodes([vectors]), _PARTITIONS)[0]}


Round = Mapping[str, float]


def _rounds(
    bench: Bench, vectors: Floats, how: NeighbourSettings, joins: Mapping[str, Join], repeats: int
) -> list[Round]:
    """Seconds of each side, Quern's under the empty name, round by round."""
    rounds: list[Round] = []
    for _ in range(repeats):
        seconds = {"": bench.join(vectors, how).seconds}
        for name, join in joins.items():
            started = time.perf_counter()
            join.run(vectors, K, bench.cores)
            seconds[name] = time.perf_counter() - started
        rounds.append(seconds)
    return rounds


def _compared(part: Part, rounds: Sequence[Round], joins: Mapping[str, Join]) -> dict[str, float]:
    figures = {f"{part} seconds": statistics.median(r[""] for r in rounds)}
    for name in joins:
        figures[f"seconds {name}"] = statistics.median(r[name] for r in rounds)
        figures |= _ratios(f"{part} ratio {name}", [r[name] / r[""] for r in rounds])
    if joins:
        figures |= _ratios(f"{part} ratio", [min(r[name] for name in joins) / r[""] for r in rounds])
    return figures


def _ratios(name: str, rounds: Sequence[float]) -> dict[str, float]:
    return {name: statistics.median(rounds), f"{name} low": min(rounds), f"{name} high": max(rounds)}


def _change(bench: Bench, vectors: Floats, repeats: int) -> dict[str, float]:
    """One in a hundred nodes went, and as many others came, anywhere among the rest."""
    count = len(vectors)
    replaced = np.random.default_rng(1).permutation(count)[: 2 * max(1, count // (_REPLACED + 1))]
    last, tonight = (np.delete(vectors, gone, axis=0) for gone in np.split(replaced, 2))
    figures: dict[str, float] = {"change replaced": len(replaced) / 2}
    for name, how in (("exact", _ALL_PAIRS), ("approximate", _PARTITIONS)):
        before = bench.join(last, how)
        shares: list[float] = []
        for _ in range(repeats):
            full, night = bench.join(tonight, how), bench.join(tonight, how, before)
            shares.append(night.seconds / full.seconds)
        same = (full.neighbours == night.neighbours) & (full.similarities == night.similarities)
        if not same.all():
            raise BenchmarkError("a night's graph differs from a full one")
        figures |= _ratios(f"change {name}", shares)
        figures |= {f"change {name} seconds": night.seconds, f"change {name} searched": float(night.searched)}
        figures[f"change {name} same"] = float(same.mean())
    return figures


def _memory(bench: Bench, nodes: int) -> dict[str, float]:
    """The peak of a process that does nothing but link, and what it takes."""
    stage = bench.nodes(clustered(nodes))
    # A process of its own: what this one holds is not counted.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        peak, seconds, recall = pool.apply(_metered, (bench.root / "memory", stage))
    return {"memory nodes": float(nodes), "memory GiB": peak / _GIB, "memory seconds": seconds, "memory recall": recall}


def _metered(root: Path, nodes: Stage) -> tuple[int, float, float]:
    logging.getLogger("quern").setLevel(logging.WARNING)
    with MemoryMeter() as meter:
        seconds, notes = Bench.at(root).job(nodes, _PARTITIONS)
    return meter.peak_bytes, seconds, notes["recall"]
