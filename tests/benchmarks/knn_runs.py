"""Runs of the graph builder's job for its benchmark: nodes to link, the job as a build runs it, and what it found."""

from __future__ import annotations

import itertools
import resource
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa

from quern.indexes.catalog import Warehouse
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, Positions, vector_array, vector_matrix
from quern.jobs.core.run import Run, run_whole
from quern.jobs.engines import Engines, core_count
from quern.jobs.graph.link import Link
from quern.jobs.graph.neighbours.edges import neighbour_edges
from quern.jobs.graph.neighbours.nearest_lists import pair_scores
from quern.schemas.settings import EngineSettings, LinkSettings, NeighbourSettings
from quern.schemas.tables import NODES, REJECTS

K = 3
_DIMENSION = 384
_BLOCK = 8192
_NODES_OF_A_CHUNK = 16
_NODES_OF_A_CLUSTER = 100
_NOISE = 0.7  # Length of a node's way from its cluster's centre, which is 1 long: cosines within are about .67.
_TIE = 1e-6  # Cosines that are equal in float64 differ by less in float32.


class BenchmarkError(ValueError):
    """Two ways to one graph that differ, or a warehouse without nodes."""


def clustered(nodes: int) -> Iterator[Floats]:
    """Unit vectors in clusters, a hundred in each on average, in blocks; shape (rows, 384)."""
    draw = np.random.default_rng(0)
    centres = _unit(draw.standard_normal((max(1, nodes // _NODES_OF_A_CLUSTER), _DIMENSION), np.float32))
    for start in range(0, nodes, _BLOCK):
        rows = min(_BLOCK, nodes - start)
        noise = _unit(draw.standard_normal((rows, _DIMENSION), np.float32))
        yield _unit(centres[draw.integers(len(centres), size=rows)] + _NOISE * noise)


def of_warehouses(warehouses: Sequence[Path], nodes: int) -> Floats:
    """Different vectors of the nodes of published snapshots, at most `nodes`, in random order; shape (rows, d).

    Raises:
        BenchmarkError: They have no nodes.
    """
    stages = [Warehouse.open(path).snapshot().stage("nodes") for path in warehouses]
    blocks = [vector_matrix(batch.column(0)) for stage in stages for batch in stage.batches(["vector"])]
    if not blocks:
        raise BenchmarkError(f"no nodes in {', '.join(map(str, warehouses))}")
    found = np.unique(np.concatenate(blocks), axis=0)
    chosen: Floats = found[np.random.default_rng(0).permutation(len(found))[:nodes]]
    return chosen


def _unit(rows: Floats) -> Floats:
    made: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


@dataclass(frozen=True)
class Graph:
    """What was made of some nodes."""

    seconds: float  # How long it took.
    busy: float  # Seconds of the processor's time that it took.
    neighbours: Positions  # Of each node, nearest first, shape (nodes, K); -1 where there are fewer.
    similarities: Floats  # Their cosines.
    recall: float  # What the search measured itself; 1 where it compared all.
    searched: int  # Nodes that were searched for.
    state: Path  # The folder that the state is in.


@dataclass
class Bench:
    """Runs in one directory, each of a name of its own."""

    root: Path  # The directory.
    cores: int  # What Quern and its peers may use.
    _names: Iterator[int]

    @classmethod
    def at(cls, root: Path) -> Bench:
        """Runs in `root`, on all cores."""
        root.mkdir(parents=True, exist_ok=True)
        return cls(root, core_count(EngineSettings()), itertools.count())

    def _name(self) -> str:
        return f"{next(self._names):08}"

    def join(self, vectors: Floats, how: NeighbourSettings, before: Graph | None = None) -> Graph:
        """From vectors to edges as the job goes, over a copy of the state that a run left, or from nothing.

        Identical vectors are found, scores are canonical, the state for the next night is written.
        """
        # States that lie beside each other are forgotten when there are many.
        folder, name = self.root / self._name() / "state", self._name()
        if before is not None:
            shutil.copytree(before.state, folder)
        chunk = np.arange(len(vectors)) // _NODES_OF_A_CHUNK
        started, busy = time.perf_counter(), time.process_time()
        joined = neighbour_edges(vectors, chunk, LinkSettings(k=K), how, self.cores, folder, name)
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        found = np.full((len(vectors), K), -1, dtype=np.int64)
        similarities = np.full(found.shape, -np.inf, dtype=np.float32)
        at = joined.edges.source, joined.edges.rank
        found[at], similarities[at] = joined.edges.target, joined.edges.similarity
        return Graph(seconds, busy, found, similarities, joined.notes.get("recall", 1.0), joined.searched, folder)

    def nodes(self, blocks: Iterable[Floats]) -> Stage:
        """A table of nodes with these vectors; their keys are their numbers."""
        at = 0
        writer: StageWriter | None = None
        for block in blocks:
            for start in range(0, len(block), _BLOCK):
                part = block[start : start + _BLOCK]
                table = NODES.with_dimension(part.shape[1])
                writer = writer or StageWriter(self.root / f"nodes{self._name()}.parquet", table)
                writer.write(_rows(np.arange(at, at + len(part)), part))
                at += len(part)
        if writer is None:
            raise BenchmarkError("no nodes")
        writer.close()
        return writer.stage()

    def job(self, nodes: Stage, how: NeighbourSettings) -> tuple[float, dict[str, float]]:
        """Seconds of the whole job, from the table of nodes to that of edges, and the figures that it reports."""
        name = self._name()
        root = self.root / name
        (root / "work").mkdir(parents=True)
        engines = Engines(EngineSettings(engine="local"))
        with StageWriter(root / "rejects.parquet", REJECTS) as rejects:
            paths = (root / "memo", root / "work", root / "stages")
            run = Run(name, *paths, engines, rejects, 1024, 64, self.cores)
            started = time.perf_counter()
            run_whole(Link(LinkSettings(k=K), how), {"nodes": nodes}, run)
            seconds = time.perf_counter() - started
        shutil.rmtree(root)
        return seconds, run.reports[-1].notes


def _rows(numbers: Positions, vectors: Floats) -> pa.RecordBatch:
    keys = [f"{n:08}" for n in numbers.tolist()]
    chunks = [f"{n:08}" for n in (numbers // _NODES_OF_A_CHUNK).tolist()]
    columns = [pa.array(keys), pa.array(chunks), pa.array(keys), vector_array(vectors)]
    return pa.RecordBatch.from_arrays(columns, schema=NODES.with_dimension(vectors.shape[1]).schema)


class Others:
    """Cores that the machine's other work kept busy while the block ran."""

    def __enter__(self) -> Others:
        self._before = self._busy(), time.perf_counter()
        self.cores = 0.0
        return self

    def __exit__(self, *_: object) -> None:
        busy, started = self._before
        self.cores = max(0.0, (self._busy() - busy) / (time.perf_counter() - started))

    @staticmethod
    def _busy() -> float:
        machine = psutil.cpu_times()
        own = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF,)))
        return float(machine.user + machine.system + machine.nice) - own


def recall_of(found: Positions, truth: Positions, vectors: Floats) -> float:
    """Share of the `truth` that was found, by canonical cosine: one of two equally near is as good as the other.

    Args:
        found: Positions, shape (n, K); -1 where fewer were found.
        truth: True neighbours, nearest first, shape (n, K).
        vectors: Shape (n, d).
    """
    least = _cosines(truth, vectors).min(axis=1, keepdims=True)
    cosines = _cosines(found, vectors)
    return float((cosines >= least - _TIE)[truth >= 0].mean())


def differing(found: Positions, truth: Positions, vectors: Floats) -> int:
    """Nodes whose neighbours, in order, are not as near as the true ones."""
    cosines = [np.sort(_cosines(p, vectors), axis=1) for p in (found, truth)]
    far = np.abs(np.nan_to_num(cosines[0] - cosines[1], nan=0.0)) > _TIE
    return int((far.any(axis=1) | ((found < 0) != (truth < 0)).any(axis=1)).sum())


def _cosines(found: Positions, vectors: Floats) -> Floats:
    row = np.repeat(np.arange(len(found)), found.shape[1])
    cosines = pair_scores(vectors, row, found.reshape(-1), core_count(EngineSettings())).reshape(found.shape)
    missing: Floats = np.where(found >= 0, cosines, -np.inf).astype(np.float32)
    return missing
