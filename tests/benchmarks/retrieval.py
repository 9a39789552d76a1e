"""The benchmark of batched retrieval against the paper's steps one by one."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final

import networkx as nx
import numpy as np
import pyarrow as pa

from quern.indexes.catalog import Snapshot, Warehouse
from quern.indexes.graph import QueryGraph
from quern.indexes.vectors import Floats, vector_array
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking, cut
from quern.pipelines.retrieve.recipes import RECIPES
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import GraphSettings, Settings
from quern.schemas.tables import CHUNKS, EDGES, NODES, Table
from tests.benchmarks import in_turns, median, median_ratio
from tests.tables import publish

_DIMENSION = 384
_NODES_OF_A_CHUNK = 16
_NEIGHBOURS = 3
# As many as LiHua-World has.
_QUESTIONS: Final = 637
_COMBINE: Final[dict[str, Callable[[list[float]], float]]] = {"mean": statistics.fmean, "max": max, "sum": sum}
Hits = list[tuple[int, float]]


def _rows(table: Table, count: int, **known: pa.Array) -> pa.RecordBatch:
    """`count` rows of `table`; what is not `known` is null or zero, whatever the field allows."""

    def empty(field: pa.Field) -> pa.Array:
        return pa.nulls(count, field.type) if field.nullable else pa.array([0] * count).cast(field.type)

    filled = [known[field.name] if field.name in known else empty(field) for field in table.schema]
    return pa.RecordBatch.from_arrays(filled, schema=table.schema)


def unit_vectors(count: int, rng: np.random.Generator, dimension: int = _DIMENSION) -> Floats:
    """Random vectors of length 1."""
    matrix = rng.standard_normal((count, dimension), dtype=np.float32)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True))


def synthetic_snapshot(directory: Path, nodes: int) -> Snapshot:
    """A warehouse with a random graph of `nodes` nodes, 16 a chunk and 3 neighbours each, as its snapshot."""
    rng = np.random.default_rng(0)
    chunks = -(-nodes // _NODES_OF_A_CHUNK)
    chunk_ids = pa.array([f"{n:020x}-0" for n in range(chunks)])
    owner = np.arange(nodes) // _NODES_OF_A_CHUNK
    node_ids = pa.array([f"{c:020x}-0-{n}" for c, n in zip(owner, np.arange(nodes) % _NODES_OF_A_CHUNK, strict=True)])
    source = np.repeat(np.arange(nodes), _NEIGHBOURS)
    target = (source + rng.integers(1, nodes, len(source))) % nodes
    rank = np.tile(np.arange(_NEIGHBOURS, dtype=np.int32), nodes)
    similarity = pa.array(rng.random(len(source), dtype=np.float32))
    of_chunks, of_nodes = (vector_array(unit_vectors(count, rng)) for count in (chunks, nodes))
    ends = {"source": node_ids.take(pa.array(source)), "target": node_ids.take(pa.array(target))}
    chunk_table, node_table = CHUNKS.with_dimension(_DIMENSION), NODES.with_dimension(_DIMENSION)
    owners = chunk_ids.take(pa.array(owner))
    rows = {
        chunk_table: _rows(chunk_table, chunks, chunk_id=chunk_ids, vector=of_chunks),
        node_table: _rows(node_table, nodes, query_id=node_ids, chunk_id=owners, vector=of_nodes),
        EDGES: _rows(EDGES, len(source), rank=pa.array(rank), similarity=similarity, **ends),
    }
    return publish(Warehouse.create(directory), "1", rows)


class BenchmarkError(ValueError):
    """Two implementations of the same steps that differ; the message names the first question."""


class PlainGraph:
    """QCG-RAG's retrieval (arXiv 2509.21237, section 3.4) as its text reads: one question after the other.

    The graph is a networkx graph; nodes have the attributes `vector` and `chunk`.
    """

    def __init__(self, graph: QueryGraph) -> None:
        vectors = graph.nodes.vectors.astype(np.float64)
        self._graph = nx.DiGraph()
        for node, (vector, chunk) in enumerate(zip(vectors, graph.nodes.owner.tolist(), strict=True)):
            self._graph.add_node(node, vector=vector, chunk=chunk)
        edges = graph.edges.tocoo()
        self._graph.add_edges_from(zip(edges.row.tolist(), edges.col.tolist(), strict=True))

    def hits(self, question: Floats, settings: GraphSettings, top_k: int) -> Hits:
        """The best chunks of a question, vector of shape (d,), with their scores; ties go to the lower position."""
        asked = question.astype(np.float64)
        similar = {n: float(np.float32(np.dot(v, asked))) for n, v in self._graph.nodes(data="vector")}
        near = [node for node, cosine in similar.items() if cosine + 1.0 >= settings.gamma]
        near = sorted(near, key=lambda node: (-similar[node], node))[: settings.n]
        reached = set(near)
        for node in near:
            reached.update(nx.single_source_shortest_path_length(self._graph, node, cutoff=settings.hops))
        members: dict[int, list[float]] = {}
        for node in reached:
            members.setdefault(self._graph.nodes[node]["chunk"], []).append(similar[node])
        scores = [(chunk, _COMBINE[settings.score](cosines)) for chunk, cosines in members.items()]
        return sorted(scores, key=lambda hit: (-np.float32(hit[1]), hit[0]))[:top_k]


def benchmark_retrieval(
    warehouse: Path | None = None, questions: Path | None = None, nodes: int = 10_000, repeats: int = 5
) -> dict[str, float]:
    """Seconds from the questions' vectors to their hits, medians over `repeats` rounds, all questions in one batch.

    Args:
        warehouse: Whose published snapshot is searched; by default a synthetic graph of `nodes` nodes.
        questions: JSONL of questions; by default 637 random vectors.
        nodes: Nodes of the synthetic graph.
        repeats: Rounds.

    Returns:
        `qcg`: the recipe. `networkx`: the paper's steps question by question, vectors as attributes of the nodes, and
        `ratio`, the median of each round's networkx over qcg.

    Raises:
        BenchmarkError: The implementations differ on a question.
    """
    if warehouse is not None:
        return _measure(Searcher(Warehouse.open(warehouse).snapshot(), Settings()), questions, repeats)
    with tempfile.TemporaryDirectory() as directory:
        snapshot = synthetic_snapshot(Path(directory) / "warehouse", nodes)
        return _measure(Searcher(snapshot, Settings()), questions, repeats)


def _measure(searcher: Searcher, questions: Path | None, repeats: int) -> dict[str, float]:
    graph, settings = searcher.graph, searcher.settings
    if questions is not None:
        vectors = Batch(searcher, [q.question for q in read_questions(questions)]).vectors
    else:
        vectors = unit_vectors(_QUESTIONS, np.random.default_rng(1), graph.nodes.vectors.shape[1])
    batch, plain = Batch(searcher, [""] * len(vectors)), PlainGraph(graph)

    def in_a_batch() -> list[Hits]:
        ranking: Ranking = RECIPES["qcg"].rank(batch.with_vectors(vectors))
        best = cut(ranking.chunks, len(batch), settings.retrieve.top_k)
        hits = list(zip(best.chunk.tolist(), best.score.tolist(), strict=True))
        first = np.searchsorted(best.question, np.arange(len(batch) + 1)).tolist()
        return [hits[start:stop] for start, stop in pairwise(first)]

    def one_by_one() -> list[Hits]:
        return [plain.hits(vector, settings.graph, settings.retrieve.top_k) for vector in vectors]

    for number, (ours, theirs) in enumerate(zip(in_a_batch(), one_by_one(), strict=True)):
        same = [chunk for chunk, _ in ours] == [chunk for chunk, _ in theirs]
        if not same or not np.allclose([s for _, s in ours], [s for _, s in theirs], rtol=0, atol=1e-6):
            raise BenchmarkError(f"question {number}: {ours} in a batch, {theirs} one by one")
    rounds = in_turns({"qcg": in_a_batch, "networkx": one_by_one}, repeats, time.perf_counter)
    figures = {name: median(rounds, name) for name in ("qcg", "networkx")}
    figures |= {"questions": float(len(vectors)), "nodes": float(len(graph.nodes.keys))}
    return figures | {"ratio": median_ratio(rounds, "networkx", "qcg")}
