"""Questions among more vectors than memory holds: Quern's inverted file against LanceDB's and faiss's, at equal recall.

Each side writes or fills its index, and answers, in a process of its own, so that its memory is its own. Quern's codes
and vectors are mapped from disk, as LanceDB's (IVF_PQ of 96 bytes, best ones scored anew by the vectors) are read from
it; faiss holds its lists in memory, as float32 where that takes less than half of it, else as float16. Vectors are
those of `clustered`, which no side was tuned on.
"""

from __future__ import annotations

import logging
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psutil
import pyarrow as pa

from quern.indexes.disk import let_go, mapped
from quern.indexes.vectors import Floats, Positions, nearest, vector_array
from quern.jobs.graph.neighbours.centroids import partition_count
from quern.jobs.graph.neighbours.inverted_file import MEASURED, InvertedFiles
from quern.jobs.models.machine import available_cores
from tests.benchmarks.knn_runs import clustered

log = logging.getLogger(__name__)

K = MEASURED[0]
_DIMENSION = 384
_QUESTIONS = 637  # As many as LiHua-World has.
_GIB = 1 << 30
_ADDED = 1 << 18
_REFINED = 10  # Of LanceDB: so many times the wanted neighbours are scored by the vectors.
_PROBES = (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768)
_T = TypeVar("_T")


def benchmark_search_on_disk(
    vectors: int = 1_000_000, repeats: int = 3, folder: Path | None = None
) -> dict[str, float]:
    """Seconds, memory (GiB, resident at most) and recall@15 of 637 questions among so many vectors.

    Returns:
        `exact seconds` compares all, from the mapped file; `write` is the making of Quern's index; `ratio` are seconds
        of Quern over those of faiss, the median of as many rounds as `repeats` says, `LanceDB ratio` over those of
        LanceDB. Both look into the fewest lists of a grid that reach Quern's recall.
    """
    with tempfile.TemporaryDirectory(dir=folder) as name:
        root = Path(name)
        figures = {"vectors": float(vectors)} | _alone(_generated, root, vectors)
        figures |= _alone(_written, root, vectors)
        figures |= _alone(_exact, root, vectors)
        ours, found = _alone(_searched, root, vectors, repeats)
        figures |= ours
        theirs = _alone(_lance, root, vectors, repeats, found)
        figures |= {f"LanceDB {name}": value for name, value in theirs.items()}
        figures["LanceDB ratio"] = figures["seconds"] / theirs["seconds"]
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
    questions = _questions(root)

    def search(probes: int) -> Positions:
        index.nprobe = probes
        found: Positions = index.search(questions, K)[1]
        return found

    return figures | _at_recall(search, root, recall, repeats)


def _lance(root: Path, count: int, repeats: int, recall: float) -> dict[str, float]:
    import lancedb
    from lancedb.index import IvfPq

    vectors, questions = _vectors(root, count), _questions(root)
    schema = pa.schema([("id", pa.int64()), ("vector", pa.list_(pa.float32(), _DIMENSION))])

    def batches() -> Iterator[pa.RecordBatch]:
        for at in range(0, count, _ADDED // 16):
            block = vectors[at : at + _ADDED // 16]
            columns = [pa.array(np.arange(at, at + len(block))), vector_array(np.ascontiguousarray(block))]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
            let_go(vectors, slice(at, at + len(block)))

    table = lancedb.connect(root / "lance").create_table("vectors", data=batches(), schema=schema)
    started = time.perf_counter()
    shape = IvfPq(distance_type="dot", num_partitions=partition_count(count), num_sub_vectors=_DIMENSION // 4)
    table.create_index("vector", config=shape)
    figures = {"write seconds": time.perf_counter() - started}

    def search(probes: int) -> Positions:
        query = table.search(questions, vector_column_name="vector").distance_type("dot")
        rows = query.nprobes(probes).refine_factor(_REFINED).limit(K).select(["id", "_distance"]).to_arrow()
        rows = rows.sort_by([("query_index", "ascending"), ("_distance", "ascending")])
        found: Positions = rows["id"].to_numpy().reshape(len(questions), -1)
        return found

    return figures | _at_recall(search, root, recall, repeats)


def _at_recall(search: Callable[[int], Positions], root: Path, recall: float, repeats: int) -> dict[str, float]:
    """Seconds, recall and memory of a search of the fewest lists of the grid that reach `recall`."""
    for probes in _PROBES:
        reached = _recall(root, search(probes))
        if reached >= recall:
            break
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        search(probes)
        seconds.append(time.perf_counter() - started)
    figures = {"seconds": statistics.median(seconds), "recall": reached, "probes": float(probes)}
    return figures | {"GiB": _memory()}
