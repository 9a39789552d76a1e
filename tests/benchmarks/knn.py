"""The benchmark of the graph builder, as a build runs it: partitions, incremental runs, memory.

The time is from vectors in memory to edges: finding equal vectors, the search, canonical scores in float64, the
measured recall, the state for the next run, on disk. All cores may be used. The peer is faiss' inverted file
(`pip install faiss-cpu`), built and searched by all vectors.
"""

from __future__ import annotations

import importlib.util
import logging
import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from quern.indexes.stage_writers import StageWriter
from quern.indexes.vectors import Floats, Positions, vector_array
from quern.jobs.core.progress import MemoryMeter
from quern.jobs.core.run import run_whole
from quern.jobs.engines import core_count
from quern.jobs.graph.link import Link
from quern.jobs.graph.neighbours.edges import neighbour_edges
from quern.jobs.graph.neighbours.nearest_lists import pair_scores
from quern.schemas.settings import EngineSettings, LinkSettings, NeighbourSettings
from quern.schemas.tables import NODES
from tests.benchmarks import Figures, in_turns, job_run, median

Part = Literal["approximate", "memory"]
log = logging.getLogger(__name__)

K = 3
DIMENSION = 384
RECALL = 0.98
_REPLACED = 100  # One in so many nodes.
# What faiss' inverted file is tried with: lists, of so many vectors each at least, and lists that a search looks into.
_LISTS, _TRAINED_ON = (32, 128, 256, 512, 1024), 39
_PROBES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40)
_ALL_PAIRS, _PARTITIONS = NeighbourSettings(exact_below=1 << 40), NeighbourSettings(exact_below=0)
_BLOCK = 8192
_NODES_OF_A_CHUNK = 16
_NODES_OF_A_CLUSTER = 100
_NOISE = 0.7  # Length of a node's way from its cluster's centre, which is 1 long: cosines within are about .67.
_TIE = 1e-6  # Cosines that are equal in float64 differ by less in float32.


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


def join(vectors: Floats, how: NeighbourSettings, state: Path, before: Path | None = None) -> Graph:
    """From vectors to edges as the job goes, with its state in a new folder, or a copy of that of an earlier run."""
    if before is not None:
        shutil.copytree(before, state)
    chunk = np.arange(len(vectors)) // _NODES_OF_A_CHUNK
    started, busy = time.perf_counter(), time.process_time()
    # States of one name are forgotten when there are many.
    joined = neighbour_edges(
        vectors, chunk, LinkSettings(k=K), how, core_count(EngineSettings()), state, state.parent.name
    )
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    neighbours = np.full((len(vectors), K), -1, dtype=np.int64)
    similarities = np.full(neighbours.shape, -np.inf, dtype=np.float32)
    at = joined.edges.source, joined.edges.rank
    neighbours[at], similarities[at] = joined.edges.target, joined.edges.similarity
    return Graph(seconds, busy, neighbours, similarities, joined.notes.get("recall", 1.0))


def benchmark_knn(nodes: int = 100_000, repeats: int = 3, part: Part | None = None) -> Figures:
    """Speed, recall and memory of the graph builder by partitions, medians over `repeats` rounds.

    Args:
        nodes: Nodes of the graph, whose vectors lie in clusters; of `memory` ten times as many, if no part is named.
        repeats: Rounds. In each every side runs once, so that all meet the same noise.
        part: What is measured; all if None.

    Returns:
        `approximate ratio`: seconds of faiss' inverted file over Quern's, with the cheapest parameters of a grid that
        reach a recall of .98. `memory GiB`: peak of a process that links by partitions.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as directory:
        if part != "memory":
            figures |= _approximate(np.concatenate(list(clustered(nodes))), repeats, Path(directory))
        if part != "approximate":
            # A process of its own: what this one holds is not counted.
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                figures |= pool.apply(_memory, (Path(directory) / "memory", nodes if part else 10 * nodes))
    return figures


def _approximate(vectors: Floats, repeats: int, folder: Path) -> Figures:
    truth = join(vectors, _ALL_PAIRS, folder / "exact" / "state").neighbours
    graphs: list[Graph] = []
    theirs: list[Positions] = []
    works: dict[str, Callable[[], object]] = {
        "ours": lambda: graphs.append(join(vectors, _PARTITIONS, folder / f"{len(graphs)}" / "state"))
    }
    lists = probes = 0
    if importlib.util.find_spec("faiss"):
        lists, probes = _tuned(vectors, truth)
        works["faiss"] = lambda: theirs.append(_by_lists(vectors, lists, probes))
    rounds = in_turns(works, repeats)
    figures = {
        "approximate recall": recall_of(graphs[-1].neighbours, truth, vectors),
        "approximate measured": graphs[-1].recall,
        "approximate seconds": statistics.median(graph.seconds for graph in graphs),
    }
    if theirs:
        figures |= {
            "approximate lists of faiss": float(lists),
            "approximate probes of faiss": float(probes),
            "approximate recall of faiss": recall_of(theirs[-1], truth, vectors),
            "approximate seconds of faiss": median(rounds, "faiss"),
            "approximate ratio": median(rounds, "faiss", "ours"),
        }
    return figures


def _tuned(vectors: Floats, truth: Positions) -> tuple[int, int]:
    """Lists and probes of faiss' inverted file that reach `RECALL` in the least time of building and searching."""
    reached = []
    for lists in (n for n in _LISTS if n * _TRAINED_ON <= len(vectors)):
        for probes in (n for n in _PROBES if n <= lists):
            started = time.perf_counter()
            neighbours = _by_lists(vectors, lists, probes)
            seconds, recall = time.perf_counter() - started, recall_of(neighbours, truth, vectors)
            log.info("faiss lists=%d probes=%d seconds=%.2f recall=%.4f", lists, probes, seconds, recall)
            if recall >= RECALL:
                reached.append((seconds, lists, probes))
                break
    if not reached:
        raise AssertionError(f"faiss' inverted file does not reach a recall of {RECALL}")
    return min(reached)[1:]


def _by_lists(vectors: Floats, lists: int, probes: int) -> Positions:
    """The `K` nearest by faiss' inverted file, built and searched; -1 where there are fewer."""
    import faiss

    faiss.omp_set_num_threads(core_count(EngineSettings()))
    shape = vectors.shape[1], lists, faiss.METRIC_INNER_PRODUCT
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(vectors.shape[1]), *shape)
    index.train(vectors)
    index.add(vectors)
    index.nprobe = probes
    neighbours = index.search(vectors, K + 1)[1].astype(np.int64)
    other = neighbours != np.arange(len(neighbours))[:, None]  # Each vector finds itself too.
    order = np.argsort(~other, axis=1, kind="stable")[:, :K]
    rows = np.take_along_axis(neighbours, order, axis=1)
    return np.asarray(np.where(np.take_along_axis(other, order, axis=1), rows, -1))


def benchmark_nights_linking(nodes: int = 300_000, repeats: int = 3) -> Figures:
    """Seconds of a full and an incremental run by partitions: one in a hundred nodes went, as many came, anywhere.

    Returns:
        `ratio`: seconds of the incremental run over those of the full one; `processor ratio` the same of the
        processor's time, which other work disturbs less. `recall` as the run measures it.

    Raises:
        AssertionError: The edges of the two differ.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    vectors = np.concatenate(list(clustered(nodes)))
    count = max(1, nodes // (_REPLACED + 1))
    replaced = np.random.default_rng(1).permutation(nodes)[: 2 * count]
    last, now = (np.delete(vectors, gone, axis=0) for gone in np.split(replaced, 2))
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        join(last, _PARTITIONS, folder / "before" / "state")
        for n in range(repeats):
            full = join(now, _PARTITIONS, folder / f"full {n}" / "state")
            night = join(now, _PARTITIONS, folder / f"incremental {n}" / "state", folder / "before" / "state")
            same = np.array_equal(full.neighbours, night.neighbours)
            if not (same and np.array_equal(full.similarities, night.similarities)):
                raise AssertionError("the edges of an incremental run are not those of a full run")
            rounds.append({"full": full.seconds, "night": night.seconds, "full, CPU": full.busy, "CPU": night.busy})
    return {
        "nodes": float(len(now)),
        "full seconds": median(rounds, "full"),
        "night seconds": median(rounds, "night"),
        "ratio": median(rounds, "night", "full"),
        "processor ratio": median(rounds, "CPU", "full, CPU"),
        "recall": night.recall,
    }


def _memory(root: Path, nodes: int) -> Figures:
    """Peak memory, seconds and recall of the whole job, from the table of nodes to that of edges."""
    logging.getLogger("quern").setLevel(logging.WARNING)
    at, table = 0, NODES.with_dimension(DIMENSION)
    with StageWriter(root / "nodes.parquet", table) as writer:
        for block in clustered(nodes):
            numbers = range(at, at := at + len(block))
            keys = pa.array([f"{n:08}" for n in numbers])
            chunks = pa.array([f"{n // _NODES_OF_A_CHUNK:08}" for n in numbers])
            columns = [keys, chunks, keys, vector_array(block)]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=table.schema))
    with MemoryMeter() as meter, job_run(root / "run", EngineSettings(engine="local")) as run:
        started = time.perf_counter()
        run_whole(Link(LinkSettings(k=K), _PARTITIONS), {"nodes": writer.stage()}, run)
        seconds = time.perf_counter() - started
    return {
        "memory nodes": float(nodes),
        "memory GiB": meter.peak_bytes / (1 << 30),
        "memory seconds": seconds,
        "memory recall": run.reports[-1].notes["recall"],
    }


def recall_of(neighbours: Positions, truth: Positions, vectors: Floats) -> float:
    """Share of the `truth` that was found, by canonical cosine: one of two equally near is as good as the other.

    Args:
        neighbours: Positions, shape (n, K); -1 where fewer were found.
        truth: True neighbours, nearest first, shape (n, K).
        vectors: Shape (n, d).
    """

    def cosines(of: Positions) -> Floats:
        row = np.repeat(np.arange(len(of)), K)
        scores = pair_scores(vectors, row, of.reshape(-1), core_count(EngineSettings())).reshape(of.shape)
        return np.asarray(np.where(of >= 0, scores, -np.inf), dtype=np.float32)

    least = cosines(truth).min(axis=1, keepdims=True)
    return float((cosines(neighbours) >= least - _TIE)[truth >= 0].mean())
