"""The benchmark of a night of linking by partitions: one in a hundred nodes changed, against a full run of the same."""

from __future__ import annotations

import hashlib
import logging
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quern.indexes.vectors import Floats
from quern.schemas.settings import NeighbourSettings
from tests.benchmarks.knn_runs import Bench, BenchmarkError, Graph, Others, clustered, of_warehouses

_PARTITIONS = NeighbourSettings(exact_below=0)


def benchmark_nights_linking(
    nodes: int = 300_000, warehouses: Sequence[Path] = (), repeats: int = 3, changed: float = 0.01
) -> dict[str, float]:
    """Seconds of a full run and of a night, medians over `repeats` rounds, from vectors in memory to edges and state.

    Args:
        nodes: Nodes of the graph, vectors in clusters.
        warehouses: Whose nodes are linked instead, as many different ones as there are up to `nodes`.
        repeats: Rounds; in each both sides run once, so that both meet the same noise.
        changed: Share of the nodes that is replaced, anywhere among the rest.

    Returns:
        `ratio`: seconds of the night over those of the full run, with its least and greatest; `processor ratio` the
        same of the processor's time, which other work disturbs less. `recall` as the night measures it; `searched`:
        nodes searched for; `others`: cores that other work kept busy.

    Raises:
        BenchmarkError: The night's edges are not those of the full run.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as directory, Others() as others:
        bench = Bench.at(Path(directory))
        vectors = of_warehouses(warehouses, nodes) if warehouses else np.concatenate(list(clustered(nodes)))
        count = max(1, round(len(vectors) * changed / (1 + changed)))
        replaced = np.random.default_rng(1).permutation(len(vectors))[: 2 * count]
        last, tonight = (np.delete(vectors, gone, axis=0) for gone in np.split(replaced, 2))
        before = bench.join(last, _PARTITIONS)
        rounds = [_round(bench, tonight, before) for _ in range(repeats)]
    ratios, busy = ([night[at] / full[at] for full, night, _ in rounds] for at in (0, 1))
    found = rounds[-1][2]
    return {
        "nodes": float(len(tonight)),
        "replaced": float(count),
        "full seconds": statistics.median(full[0] for full, _, _ in rounds),
        "night seconds": statistics.median(night[0] for _, night, _ in rounds),
        "ratio": statistics.median(ratios),
        "ratio low": min(ratios),
        "ratio high": max(ratios),
        "full processor seconds": statistics.median(full[1] for full, _, _ in rounds),
        "night processor seconds": statistics.median(night[1] for _, night, _ in rounds),
        "processor ratio": statistics.median(busy),
        "processor ratio low": min(busy),
        "processor ratio high": max(busy),
        "law kept": 1.0,
        "recall": found.recall,
        "searched": float(found.searched),
        "others": others.cores,
    }


Seconds = tuple[float, float]


def _round(bench: Bench, tonight: Floats, before: Graph) -> tuple[Seconds, Seconds, Graph]:
    """Seconds and processor seconds of a full run and of a night, and what the night found."""
    full = bench.join(tonight, _PARTITIONS)
    night = bench.join(tonight, _PARTITIONS, before)
    if _digest(full) != _digest(night):
        raise BenchmarkError("a night's edges are not those of a full run")
    return (full.seconds, full.busy), (night.seconds, night.busy), night


def _digest(graph: Graph) -> str:
    return hashlib.sha256(graph.neighbours.tobytes() + graph.similarities.tobytes()).hexdigest()
