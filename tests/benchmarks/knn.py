"""The benchmark of the graph builder, as a build runs it: partitions, incremental runs, memory.

The time is from vectors in memory to edges: finding equal vectors, the search, canonical scores in float64, the
measured recall, the state for the next run, on disk. All cores may be used. The peer is faiss' inverted file
(`pip install faiss-cpu`), built and searched by all vectors.
"""

from __future__ import annotations

import itertools
import logging
import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, Positions, vector_array
from quern.jobs.core.progress import MemoryMeter
from quern.jobs.core.run import Run, run_whole
from quern.jobs.engines import Engines, core_count
from quern.jobs.graph.link import Link
from quern.jobs.graph.neighbours.edges import neighbour_edges
from quern.jobs.graph.neighbours.nearest_lists import pair_scores
from quern.schemas.settings import EngineSettings, LinkSettings, NeighbourSettings
from quern.schemas.tables import NODES, REJECTS
from tests.benchmarks import is_installed

Part = Literal["approximate", "memory"]
log = logging.getLogger(__name__)

K = 3
DIMENSION = 384
RECALL = 0.98
_REPLACED = 100
# What faiss' inverted file is tried with: lists, of so many vectors each at least, and lists that a search looks into.
_LISTS, _TRAINED_ON = (512, 256, 128, 1024, 32), 39
_PROBES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40)
_ALL_PAIRS, _PARTITIONS = NeighbourSettings(exact_below=1 << 40), NeighbourSettings(exact_below=0)
_BLOCK = 8192
_NODES_OF_A_CHUNK = 16
_NODES_OF_A_CLUSTER = 100
_NOISE = 0.7  # Length of a node's way from its cluster's centre, which is 1 long: cosines within are about .67.
_TIE = 1e-6  # Cosines that are equal in float64 differ by less in float32.


class BenchmarkError(ValueError):
    """Two ways to one graph that differ."""


def clustered(nodes: int) -> Iterator[Floats]:
    """Unit vectors in clusters, a hundred in each on average, in blocks; shape (rows, 384)."""

    def unit(rows: Floats) -> Floats:
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    draw = np.random.default_rng(0)
    centres = unit(draw.standard_normal((max(1, nodes // _NODES_OF_A_CLUSTER), DIMENSION), np.float32))
    for start in range(0, nodes, _BLOCK):
        rows = min(_BLOCK, nodes - start)
        noise = unit(draw.standard_normal((rows, DIMENSION), np.float32))
        yield unit(centres[draw.integers(len(centres), size=rows)] + _NOISE * noise)


@dataclass(frozen=True)
class Graph:
    """The neighbours of some nodes, and what they cost."""

    seconds: float  # By the clock.
    busy: float  # Of the processor's time.
    neighbours: Positions  # Of each node, nearest first, shape (nodes, K); -1 where there are fewer.
    similarities: Floats  # Their cosines.
    recall: float  # What the search measured itself; 1 where it compared all.
    searched: int  # Nodes that were searched for.
    state: Path  # The folder that the state is in.


class Bench:
    """Runs of the graph builder in one directory, each of a name of its own."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root, self.cores = root, core_count(EngineSettings())
        self._names = (f"{n:08}" for n in itertools.count())

    def join(self, vectors: Floats, how: NeighbourSettings, before: Graph | None = None) -> Graph:
        """From vectors to edges as the job goes, over a copy of the state that a run left, or from nothing."""
        # States that lie beside each other are forgotten when there are many.
        folder, name = self.root / next(self._names) / "state", next(self._names)
        if before is not None:
            shutil.copytree(before.state, folder)
        chunk = np.arange(len(vectors)) // _NODES_OF_A_CHUNK
        started, busy = time.perf_counter(), time.process_time()
        joined = neighbour_edges(vectors, chunk, LinkSettings(k=K), how, self.cores, folder, name)
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        neighbours = np.full((len(vectors), K), -1, dtype=np.int64)
        similarities = np.full(neighbours.shape, -np.inf, dtype=np.float32)
        at = joined.edges.source, joined.edges.rank
        neighbours[at], similarities[at] = joined.edges.target, joined.edges.similarity
        return Graph(seconds, busy, neighbours, similarities, joined.notes.get("recall", 1.0), joined.searched, folder)

    def incremental(self, vectors: Floats, repeats: int) -> list[tuple[Graph, Graph]]:
        """A full and an incremental run of each round: one in a hundred nodes went, as many came, anywhere.

        Raises:
            BenchmarkError: Their edges differ.
        """
        count = max(1, len(vectors) // (_REPLACED + 1))
        replaced = np.random.default_rng(1).permutation(len(vectors))[: 2 * count]
        last, now = (np.delete(vectors, gone, axis=0) for gone in np.split(replaced, 2))
        before = self.join(last, _PARTITIONS)
        rounds = [(self.join(now, _PARTITIONS), self.join(now, _PARTITIONS, before)) for _ in range(repeats)]
        for full, night in rounds:
            same = np.array_equal(full.neighbours, night.neighbours)
            if not (same and np.array_equal(full.similarities, night.similarities)):
                raise BenchmarkError("the edges of an incremental run are not those of a full run")
        return rounds

    def nodes(self, blocks: Iterable[Floats]) -> Stage:
        """A table of nodes with these vectors; their keys are their numbers."""
        at, table = 0, NODES.with_dimension(DIMENSION)
        with StageWriter(self.root / f"nodes{next(self._names)}.parquet", table) as writer:
            for block in blocks:
                numbers = range(at, at := at + len(block))
                keys = pa.array([f"{n:08}" for n in numbers])
                chunks = pa.array([f"{n // _NODES_OF_A_CHUNK:08}" for n in numbers])
                columns = [keys, chunks, keys, vector_array(block)]
                writer.write(pa.RecordBatch.from_arrays(columns, schema=table.schema))
        return writer.stage()

    def job(self, nodes: Stage) -> tuple[float, dict[str, float]]:
        """Seconds of the whole job, from the table of nodes to that of edges, and the figures that it reports."""
        name = next(self._names)
        root = self.root / name
        (root / "work").mkdir(parents=True)
        engines = Engines(EngineSettings(engine="local"))
        with StageWriter(root / "rejects.parquet", REJECTS) as rejects:
            paths = (root / "memo", root / "work", root / "stages")
            run = Run(name, *paths, engines, rejects, 1024, 64, self.cores)
            started = time.perf_counter()
            run_whole(Link(LinkSettings(k=K), _PARTITIONS), {"nodes": nodes}, run)
            seconds = time.perf_counter() - started
        shutil.rmtree(root)
        return seconds, run.reports[-1].notes


def benchmark_knn(nodes: int = 100_000, repeats: int = 3, part: Part | None = None) -> dict[str, float]:
    """Speed, recall and memory of the graph builder by partitions, medians over `repeats` rounds.

    Args:
        nodes: Nodes of the graph, whose vectors lie in clusters; of `memory` ten times as many, if no part is named.
        repeats: Rounds. In each every side runs once, so that all meet the same noise.
        part: What is measured; all if None.

    Returns:
        `approximate ratio`: seconds of faiss' inverted file over Quern's, with the cheapest parameters of a grid that
        reach a recall of .98; the median, least and greatest of the rounds. `memory GiB`: peak of a process that
        links by partitions.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(Path(directory))
        if part != "memory":
            figures |= _approximate(bench, np.concatenate(list(clustered(nodes))), repeats)
        if part != "approximate":
            count = nodes if part else 10 * nodes
            stage = bench.nodes(clustered(count))
            # A process of its own: what this one holds is not counted.
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                peak, seconds, recall = pool.apply(_metered, (bench.root / "memory", stage))
            figures |= {"memory nodes": float(count), "memory GiB": peak / (1 << 30)}
            figures |= {"memory seconds": seconds, "memory recall": recall}
    return figures


def _search(index: Any, vectors: Floats) -> Positions:
    return without_self(index.search(vectors, K + 1)[1].astype(np.int64), K)


def _inverted_file(vectors: Floats, threads: int, lists: int) -> Any:
    """faiss' inverted file of all vectors."""
    import faiss

    faiss.omp_set_num_threads(threads)
    shape = vectors.shape[1], lists, faiss.METRIC_INNER_PRODUCT
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(vectors.shape[1]), *shape)
    index.train(vectors)
    index.add(vectors)
    return index


def _by_lists(vectors: Floats, threads: int, lists: int, probes: int) -> Positions:
    """The `K` nearest by faiss' inverted file, built and searched."""
    index = _inverted_file(vectors, threads, lists)
    index.nprobe = probes
    return _search(index, vectors)


def _tuned(vectors: Floats, threads: int, recall: Callable[[Positions], float]) -> tuple[int, int] | None:
    """Lists and probes of faiss' inverted file that reach `RECALL` in the least time of building and searching.

    Each index is built once, and searched until it reaches the recall or has taken longer than the best.
    """
    best, least = None, float("inf")
    for lists in _LISTS:
        if lists * _TRAINED_ON > len(vectors):
            continue
        started = time.perf_counter()
        index = _inverted_file(vectors, threads, lists)
        built = time.perf_counter() - started
        for probes in (p for p in _PROBES if p <= lists):
            if built > least:
                break
            index.nprobe = probes
            started = time.perf_counter()
            neighbours = _search(index, vectors)
            seconds, reached = built + time.perf_counter() - started, recall(neighbours)
            log.info("faiss lists=%d probes=%d seconds=%.2f recall=%.4f", lists, probes, seconds, reached)
            if seconds > least:
                break
            if reached >= RECALL:
                best, least = (lists, probes), seconds
                break
    return best


def without_self(neighbours: Positions, k: int) -> Positions:
    """The first `k` of each row that are not the row itself; -1 where fewer are."""
    other = neighbours != np.arange(len(neighbours))[:, None]
    order = np.argsort(~other, axis=1, kind="stable")[:, :k]
    rows = np.take_along_axis(neighbours, order, axis=1)
    return np.asarray(np.where(np.take_along_axis(other, order, axis=1), rows, -1))


def _approximate(bench: Bench, vectors: Floats, repeats: int) -> dict[str, float]:
    truth = bench.join(vectors, _ALL_PAIRS).neighbours
    recall = partial(recall_of, truth=truth, vectors=vectors)
    chosen = None
    if is_installed("faiss", "faiss-cpu"):
        chosen = _tuned(vectors, bench.cores, recall)
        if chosen is None:
            log.warning("faiss is left out: its inverted file does not reach a recall of %s", RECALL)
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(joined := bench.join(vectors, _PARTITIONS))
        if chosen is not None:
            started = time.perf_counter()
            neighbours = _by_lists(vectors, bench.cores, *chosen)
            theirs.append(time.perf_counter() - started)
    figures = {
        "approximate recall": recall(joined.neighbours),
        "approximate measured": joined.recall,
        "approximate seconds": statistics.median(graph.seconds for graph in ours),
    }
    if chosen is None:
        return figures
    return {
        **figures,
        "approximate lists of faiss": float(chosen[0]),
        "approximate probes of faiss": float(chosen[1]),
        "approximate recall of faiss": recall(neighbours),
        "approximate seconds of faiss": statistics.median(theirs),
        **_spread("approximate ratio", [their / our.seconds for our, their in zip(ours, theirs, strict=True)]),
    }


def _spread(name: str, rounds: Sequence[float]) -> dict[str, float]:
    return {name: statistics.median(rounds), f"{name} low": min(rounds), f"{name} high": max(rounds)}


def benchmark_nights_linking(nodes: int = 300_000, repeats: int = 3) -> dict[str, float]:
    """Seconds of a full and an incremental run by partitions, where one in a hundred nodes changed.

    Returns:
        `ratio`: seconds of the incremental run over those of the full one, with its least and greatest; `processor
        ratio` the same of the processor's time, which other work disturbs less. `recall` as the run measures it.

    Raises:
        BenchmarkError: The edges of the two differ.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as directory:
        rounds = Bench(Path(directory)).incremental(np.concatenate(list(clustered(nodes))), repeats)
    last = rounds[-1][1]
    return {
        "nodes": float(len(last.neighbours)),
        "full seconds": statistics.median(full.seconds for full, _ in rounds),
        "night seconds": statistics.median(night.seconds for _, night in rounds),
        **_spread("ratio", [night.seconds / full.seconds for full, night in rounds]),
        "full processor seconds": statistics.median(full.busy for full, _ in rounds),
        "night processor seconds": statistics.median(night.busy for _, night in rounds),
        **_spread("processor ratio", [night.busy / full.busy for full, night in rounds]),
        "recall": last.recall,
        "searched": float(last.searched),
    }


def _metered(root: Path, nodes: Stage) -> tuple[int, float, float]:
    """Peak memory, seconds and recall of the job."""
    logging.getLogger("quern").setLevel(logging.WARNING)
    with MemoryMeter() as meter:
        seconds, notes = Bench(root).job(nodes)
    return meter.peak_bytes, seconds, notes["recall"]


def recall_of(neighbours: Positions, truth: Positions, vectors: Floats) -> float:
    """Share of the `truth` that was found, by canonical cosine: one of two equally near is as good as the other.

    Args:
        neighbours: Positions, shape (n, K); -1 where fewer were found.
        truth: True neighbours, nearest first, shape (n, K).
        vectors: Shape (n, d).
    """
    least = _cosines(truth, vectors).min(axis=1, keepdims=True)
    return float((_cosines(neighbours, vectors) >= least - _TIE)[truth >= 0].mean())


def _cosines(neighbours: Positions, vectors: Floats) -> Floats:
    row = np.repeat(np.arange(len(neighbours)), neighbours.shape[1])
    cosines = pair_scores(vectors, row, neighbours.reshape(-1), core_count(EngineSettings())).reshape(neighbours.shape)
    return np.asarray(np.where(neighbours >= 0, cosines, -np.inf), dtype=np.float32)
