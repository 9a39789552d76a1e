"""Questions among more vectors than memory holds, by the inverted file on disk, against faiss's, at equal recall.

Each side writes or fills its index, and answers, in a process of its own, so that its memory is its own. Quern's codes
and vectors are mapped from disk; faiss holds its lists in memory, as float32 where that takes less than half of it,
else as float16. Vectors are those of `clustered`, which no side was tuned on.
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
import psutil

from quern.indexes.disk import let_go, mapped
from quern.indexes.vectors import Floats, Positions, nearest
from quern.jobs.graph.neighbours.centroids import partition_count
from quern.jobs.graph.neighbours.inverted_file import MEASURED, InvertedFiles
from quern.jobs.models.machine import available_cores
from tests.benchmarks import is_installed, seconds_of
from tests.benchmarks.knn import DIMENSION, clustered

K = MEASURED[0]
_QUESTIONS = 637  # As many as LiHua-World has.
_GIB = 1 << 30
_ADDED = 1 << 18
_PROBES = (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768)
_T = TypeVar("_T")


def benchmark_search_on_disk(
    vectors: int = 1_000_000, repeats: int = 3, folder: Path | None = None
) -> dict[str, float]:
    """Seconds, memory (GiB, resident at most) and recall@15 of 637 questions among so many vectors.

    Returns:
        `exact seconds` compares all, from the mapped file; `write` is the making of the index; `seconds` the median of
        as many searches as `repeats` says; `ratio` are faiss's over Quern's. faiss looks into the fewest lists of a
        grid that reach Quern's recall.
    """
    with tempfile.TemporaryDirectory(dir=folder) as name:
        figures = {"vectors": float(vectors)}
        for task in (_generated, _written, _exact):
            figures |= _alone(task, Path(name), vectors)
        figures |= _alone(_searched, Path(name), vectors, repeats)
        if not is_installed("faiss", "faiss-cpu"):
            return figures
        theirs = _alone(_faiss, Path(name), vectors, repeats, figures["recall"])
    figures |= {f"faiss {name}": value for name, value in theirs.items()}
    return figures | {"ratio": figures["faiss seconds"] / figures["seconds"]}


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


def _recall(root: Path, positions: Positions) -> float:
    truth = np.load(root / "truth.npy")
    return float(np.mean([len(np.intersect1d(a, b)) / K for a, b in zip(positions, truth, strict=True)]))


def _searched(root: Path, count: int, repeats: int) -> dict[str, float]:
    index = InvertedFiles(available_cores()).open(root, _vectors(root, count))
    questions, seconds = _questions(root), []
    for _ in range(repeats):
        started = time.perf_counter()
        positions = index.nearest(questions, K).positions
        seconds.append(time.perf_counter() - started)
    return {
        "seconds": statistics.median(seconds),
        "first seconds": seconds[0],
        "one question seconds": seconds_of(lambda: index.nearest(questions[:1], K), time.perf_counter),
        "GiB": _memory(),
        "recall": _recall(root, positions),
        "probes": float(index.probes(K)),
    }


def _faiss(root: Path, count: int, repeats: int, recall: float) -> dict[str, float]:
    import faiss

    faiss.omp_set_num_threads(available_cores())
    vectors, lists = _vectors(root, count), partition_count(count)
    quantizer = faiss.IndexFlatIP(DIMENSION)
    if 4 * DIMENSION * count < psutil.virtual_memory().total / 2:
        index = faiss.IndexIVFFlat(quantizer, DIMENSION, lists, faiss.METRIC_INNER_PRODUCT)
    else:
        half = faiss.ScalarQuantizer.QT_fp16
        index = faiss.IndexIVFScalarQuantizer(quantizer, DIMENSION, lists, half, faiss.METRIC_INNER_PRODUCT)
    started = time.perf_counter()
    rows = np.linspace(0, count - 1, min(count, 64 * lists)).astype(np.int64)
    index.train(np.ascontiguousarray(vectors[rows]))
    for at in range(0, count, _ADDED):
        index.add(np.ascontiguousarray(vectors[at : at + _ADDED]))
        let_go(vectors, slice(at, min(at + _ADDED, count)))
    figures, questions = {"write seconds": time.perf_counter() - started}, _questions(root)
    for probes in _PROBES:
        index.nprobe = probes
        reached = _recall(root, index.search(questions, K)[1])
        if reached >= recall:
            break
    seconds = [seconds_of(lambda: index.search(questions, K), time.perf_counter) for _ in range(repeats)]
    figures |= {"seconds": statistics.median(seconds), "recall": reached, "probes": float(probes)}
    return figures | {"GiB": _memory()}
