"""The benchmark of the graph builder: `jobs.link` as a build runs it, against libraries for nearest neighbours.

Quern's time is that of the whole job: reading the table of nodes, finding equal vectors, the search, canonical
scores in float64, the state for the next night, and writing the table of edges. A peer's is that of building its
index and searching all vectors, which it is given in memory. All may use all cores.
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

from indexes.stages import Stage
from indexes.vectors import Floats
from jobs.meter import MemoryMeter
from pipelines.benchmarks.knn_peers import APPROXIMATE, EXACT, Join, installed, tuned
from pipelines.benchmarks.knn_runs import (
    Bench,
    BenchmarkError,
    K,
    Others,
    clustered,
    differing,
    of_warehouses,
    recall_of,
)
from schemas.groups import LinkSettings

Part = Literal["exact", "approximate", "change", "memory"]
RECALL = 0.98
_REPLACED = 100
_ALL_PAIRS, _PARTITIONS = LinkSettings(exact_below=1 << 40), LinkSettings(exact_below=0)
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
        each round. `change share`: seconds of a night with one in a hundred nodes replaced, over those of the
        same nodes from nothing; `change exact`, comparing all, and `change approximate`. `memory GiB`: peak of a
        process that links by partitions. `others`: cores that other work kept busy.

    Raises:
        BenchmarkError: A night's graph differs from a full one, or a warehouse has no nodes.
    """
    logging.getLogger("jobs").setLevel(logging.WARNING)
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
    nodes = bench.nodes([vectors])
    found = bench.link(nodes, _ALL_PAIRS).neighbours(len(vectors))
    joins = {peer.name: Join(peer, "", "") for peer in installed((EXACT,))}
    rounds = _rounds(bench, nodes, vectors, _ALL_PAIRS, joins, repeats)
    figures = _compared("exact", rounds, joins)
    for join in joins.values():
        theirs = join.run(vectors, K, bench.cores)
        figures["exact differing"] = float(differing(found, theirs, vectors))
    return figures


def _approximate(bench: Bench, vectors: Floats, repeats: int) -> dict[str, float]:
    nodes = bench.nodes([vectors])
    truth = bench.link(nodes, _ALL_PAIRS).neighbours(len(vectors))
    reached = partial(recall_of, truth=truth, vectors=vectors)
    ours = bench.link(nodes, _PARTITIONS)
    figures = {"approximate recall": reached(ours.neighbours(len(vectors))), "approximate measured": ours.recall}
    joins: dict[str, Join] = {}
    for peer in installed(APPROXIMATE):
        join = tuned(peer, vectors, K, bench.cores, reached, RECALL)
        if join is not None:
            logging.getLogger(__name__).warning("%s", join)
            joins[peer.name] = join
            figures[f"recall {peer.name}"] = reached(join.run(vectors, K, bench.cores))
    return figures | _compared("approximate", _rounds(bench, nodes, vectors, _PARTITIONS, joins, repeats), joins)


Round = Mapping[str, float]


def _rounds(
    bench: Bench, nodes: Stage, vectors: Floats, how: LinkSettings, joins: Mapping[str, Join], repeats: int
) -> list[Round]:
    """Seconds of each side, Quern's under the empty name, round by round."""
    rounds: list[Round] = []
    for _ in range(repeats):
        seconds = {"": bench.link(nodes, how).seconds}
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
    """One in a hundred nodes went, and as many others came, with keys among those of the rest."""
    count = len(vectors)
    went = np.random.default_rng(1).permutation(count)
    came = went[: max(1, count // (_REPLACED + 1))]
    went = went[len(came) : 2 * len(came)]
    # The nodes of one night keep their keys in the next.
    last, tonight = (np.setdiff1d(np.arange(count), other) for other in (came, went))
    before, after = bench.nodes([vectors[last]], last), bench.nodes([vectors[tonight]], tonight)
    figures: dict[str, float] = {"change replaced": float(len(came))}
    for name, how in (("exact", _ALL_PAIRS), ("approximate", _PARTITIONS)):
        memo = bench.memo_of(bench.link(before, how))
        shares = []
        for _ in range(repeats):
            full, night = bench.link(after, how), bench.link(after, how, memo)
            if name == "exact" and full.edges.digest != night.edges.digest:
                raise BenchmarkError("a night's graph differs from a full one")
            shares.append(night.seconds / full.seconds)
        figures |= _ratios(f"change {name}", shares)
        figures |= {f"change {name} seconds": night.seconds, f"change {name} searched": float(night.searched)}
        figures[f"change {name} same"] = float((full.neighbours(count) == night.neighbours(count)).mean())
    return figures


def _memory(bench: Bench, nodes: int) -> dict[str, float]:
    """The peak of a process that does nothing but link, and what it takes."""
    stage = bench.nodes(clustered(nodes))
    # A process of its own: what this one holds is not counted.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        peak, seconds, recall = pool.apply(_metered, (bench.root / "memory", stage))
    return {"memory nodes": float(nodes), "memory GiB": peak / _GIB, "memory seconds": seconds, "memory recall": recall}


def _metered(root: Path, nodes: Stage) -> tuple[int, float, float]:
    logging.getLogger("jobs").setLevel(logging.WARNING)
    with MemoryMeter() as meter:
        graph = Bench.at(root).link(nodes, _PARTITIONS)
    return meter.peak_bytes, graph.seconds, graph.recall
