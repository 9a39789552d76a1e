"""Questions among more vectors than memory holds: Quern's inverted file against faiss's, at equal recall.

Each side writes or fills its index, and answers, in a process of its own, so that its memory is its own. Quern's codes
and vectors are mapped from disk; faiss holds its lists in memory, as float32 where that takes less than half of it,
else as float16. Vectors are those of `clustered`, which neither side was tuned on.
"""

from __future__ import annotations

import functools
import logging
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
from quern.jobs.models.cores import available_cores
from tests.benchmarks.knn_runs import clustered

log = logging.getLogger(__name__)

K = MEASURED[0]
_DIMENSION = 384
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
        `exact seconds` compares all, from the mapped file; `write` is the making of Quern's index; `ratio` are seconds
        of Quern over those of faiss, the median of as many rounds as `repeats` says. faiss looks into the fewest lists
        of a grid that reach Quern's recall.
    """
    with tempfile.TemporaryDirectory(dir=folder) as name:
        root = Path(name)
        figures = {"vectors": float(vectors)} | _alone(_generated, root, vectors)
        figures |= _alone(_written, root, vectors)
        figures |= _alone(_exact, root, vectors)
        ours, found = _alone(_searched, root, vectors, repeats)
        figures |= ours
        try:
            import faiss  # noqa: F401
        except ImportError:
            log.warning("faiss is not installed: `pip install faiss-cpu`")
            return figures
        theirs = _alone(_faiss, root, vectors, repeats, found)
    figures |= {f"faiss {name}": value for name, value in theirs.items()}
    return figures | {"ratio": figures["seconds"] / figures["faiss seconds"]}


def _alone(task: Callable[..., _T], *given: Any) -> _T:
    """What a function gives in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, given)


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _GIB


def _vectors(root: Path, count: int) -> Floats:
    return np.memmap(root / "vectors", np.float32, "r", shape=(count, _DIMENSION))


def _questions(root: Path) -> Floats:
    read: Floats = np.load(root / "questions.npy")
    return read


def _generated(root: Path, count: int) -> dict[str, float]:
    rows, at, questions = mapped(root / "vectors", np.float32, (count, _DIMENSION)), 0, []
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


def _searched(root: Path, count: int, repeats: int) -> tuple[dict[str, float], float]:
    index = InvertedFiles(available_cores()).open(root, _vectors(root, count))
    questions, seconds = _questions(root), []
    for _ in range(repeats):
        started = time.perf_counter()
        found = index.nearest(questions, K)
        seconds.append(time.perf_counter() - started)
    recall = _recall(root, found.positions)
    one = time.perf_counter()
    index.nearest(questions[:1], K)
    alone = time.perf_counter() - one
    figures = {"seconds": statistics.median(seconds), "first seconds": seconds[0], "one question seconds": alone}
    return figures | {"GiB": _memory(), "recall": recall, "probes": float(index.probes(K))}, recall


def _recall(root: Path, found: Positions) -> float:
    truth = np.load(root / "truth.npy")
    return float(np.mean([len(np.intersect1d(one, other)) / K for one, other in zip(found, truth, strict=True)]))


def _faiss(root: Path, count: int, repeats: int, recall: float) -> dict[str, float]:
    import faiss

    faiss.omp_set_num_threads(available_cores())
    vectors, lists = _vectors(root, count), partition_count(count)
    quantizer = faiss.IndexFlatIP(_DIMENSION)
    if 4 * _DIMENSION * count < psutil.virtual_memory().total / 2:
        index = faiss.IndexIVFFlat(quantizer, _DIMENSION, lists, faiss.METRIC_INNER_PRODUCT)
    else:
        half = faiss.ScalarQuantizer.QT_fp16
        index = faiss.IndexIVFScalarQuantizer(quantizer, _DIMENSION, lists, half, faiss.METRIC_INNER_PRODUCT)
    started = time.perf_counter()
    rows = np.linspace(0, count - 1, min(count, 64 * lists)).astype(np.int64)
    index.train(np.ascontiguousarray(vectors[rows]))
    for at in range(0, count, _ADDED):
        index.add(np.ascontiguousarray(vectors[at : at + _ADDED]))
        let_go(vectors, slice(at, min(at + _ADDED, count)))
    figures = {"write seconds": time.perf_counter() - started}
    questions, seconds = _questions(root), []
    search = functools.partial(index.search, questions, K)
    for probes in _PROBES:
        index.nprobe = probes
        reached = _recall(root, search()[1])
        if reached >= recall:
            break
    for _ in range(repeats):
        started = time.perf_counter()
        search()
        seconds.append(time.perf_counter() - started)
    figures |= {"seconds": statistics.median(seconds), "recall": reached, "probes": float(probes)}
    return figures | {"GiB": _memory()}
