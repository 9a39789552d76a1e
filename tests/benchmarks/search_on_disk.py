"""Questions among more vectors than memory holds, by the inverted file on disk.

The index is written, and answers, each in a process of its own, so that its memory is its own. Codes and vectors are
mapped from disk. Vectors are those of `clustered`, which nothing was tuned on.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from quern.indexes.disk import let_go, mapped
from quern.indexes.vectors import Floats, nearest
from quern.jobs.graph.neighbours.inverted_file import MEASURED, InvertedFiles
from quern.jobs.models.machine import available_cores
from tests.benchmarks import seconds_of
from tests.benchmarks.knn import DIMENSION, clustered

K = MEASURED[0]
_QUESTIONS = 637  # As many as LiHua-World has.
_GIB = 1 << 30
_T = TypeVar("_T")


def benchmark_search_on_disk(
    vectors: int = 1_000_000, repeats: int = 3, folder: Path | None = None
) -> dict[str, float]:
    """Seconds, memory (GiB, resident at most) and recall@15 of 637 questions among so many vectors.

    Returns:
        `exact seconds` compares all, from the mapped file; `write` is the making of the index; `seconds` the median of
        as many searches as `repeats` says.
    """
    with tempfile.TemporaryDirectory(dir=folder) as name:
        figures = {"vectors": float(vectors)}
        for task in (_generated, _written, _exact):
            figures |= _alone(task, Path(name), vectors)
        return figures | _alone(_searched, Path(name), vectors, repeats)


def _alone(task: Callable[..., _T], *given: Any) -> _T:
    """What a function gives in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, given)


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _GIB


def _vectors(root: Path, count: int) -> Floats:
    return np.memmap(root / "vectors", np.float32, "r", shape=(count, DIMENSION))


def _questions(root: Path) -> Floats:
    read: Floats = np.load(root / "questions.npy")
    return read


def _generated(root: Path, count: int) -> dict[str, float]:
    rows, at, questions = mapped(root / "vectors", np.float32, (count, DIMENSION)), 0, []
    for block in clustered(count + _QUESTIONS):
        part = slice(at, min(at + len(block), count))
        rows[part] = block[: part.stop - part.start]
        questions.append(block[part.stop - part.start :])
        let_go(rows, part)
        at = part.stop
    np.save(root / "questions.npy", np.concatenate(questions))
    return {}


def _written(root: Path, count: int) -> dict[str, float]:
    started = time.perf_counter()
    InvertedFiles(available_cores()).write(root, _vectors(root, count))
    return {"write seconds": time.perf_counter() - started, "write GiB": _memory()}


def _exact(root: Path, count: int) -> dict[str, float]:
    started = time.perf_counter()
    found = nearest(_questions(root), _vectors(root, count), K, scan=True)
    np.save(root / "truth.npy", found.positions)
    return {"exact seconds": time.perf_counter() - started, "exact GiB": _memory()}


def _searched(root: Path, count: int, repeats: int) -> dict[str, float]:
    index = InvertedFiles(available_cores()).open(root, _vectors(root, count))
    questions, truth, seconds = _questions(root), np.load(root / "truth.npy"), []
    for _ in range(repeats):
        started = time.perf_counter()
        positions = index.nearest(questions, K).positions
        seconds.append(time.perf_counter() - started)
    shared = [len(np.intersect1d(one, other)) for one, other in zip(positions, truth, strict=True)]
    return {
        "seconds": statistics.median(seconds),
        "first seconds": seconds[0],
        "one question seconds": seconds_of(lambda: index.nearest(questions[:1], K), time.perf_counter),
        "GiB": _memory(),
        "recall": float(np.mean(shared)) / K,
        "probes": float(index.probes(K)),
    }
