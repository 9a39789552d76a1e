"""The benchmark of batched retrieval, against the paper's steps question by question on a networkx graph."""

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

from quern.indexes.catalog import Warehouse
from quern.indexes.graph import QueryGraph
from quern.indexes.vectors import Floats
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking, cut
from quern.pipelines.retrieve.recipes import RECIPES
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import GraphSettings, Settings
from tests.benchmarks.graph import synthetic_snapshot

# As many as LiHua-World has.
_QUESTIONS: Final = 637
_COMBINE: Final[dict[str, Callable[[list[float]], float]]] = {"mean": statistics.fmean, "max": max, "sum": sum}
Hits = list[tuple[int, float]]


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
    settings = Settings()
    if warehouse is not None:
        return _measure(Searcher(Warehouse.open(warehouse).snapshot(), settings), questions, repeats)
    with tempfile.TemporaryDirectory() as directory:
        snapshot = synthetic_snapshot(Path(directory) / "warehouse", nodes)
        return _measure(Searcher(snapshot, settings), questions, repeats)


def _measure(searcher: Searcher, questions: Path | None, repeats: int) -> dict[str, float]:
    vectors = _vectors(searcher, questions)
    batch = Batch(searcher, [""] * len(vectors))
    graph, settings = searcher.graph, searcher.settings
    plain = PlainGraph(graph)

    def one_by_one() -> list[Hits]:
        return [plain.hits(vector, settings.graph, settings.retrieve.top_k) for vector in vectors]

    works: dict[str, Callable[[], object]] = {
        "qcg": lambda: _best(batch.with_vectors(vectors)),
        "networkx": one_by_one,
    }
    _check(_best(batch.with_vectors(vectors)), one_by_one())
    rounds = [{name: _seconds(work) for name, work in works.items()} for _ in range(repeats)]
    figures = {name: statistics.median(r[name] for r in rounds) for name in works}
    ratio = statistics.median(r["networkx"] / r["qcg"] for r in rounds)
    return {"questions": float(len(vectors)), "nodes": float(len(graph.nodes.keys)), **figures, "ratio": ratio}


def _vectors(searcher: Searcher, questions: Path | None) -> Floats:
    if questions is not None:
        return Batch(searcher, [q.question for q in read_questions(questions)]).vectors
    dimension = searcher.graph.nodes.vectors.shape[1]
    drawn = np.random.default_rng(1).standard_normal((_QUESTIONS, dimension), dtype=np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


def _best(batch: Batch) -> list[Hits]:
    ranking: Ranking = RECIPES["qcg"].rank(batch)
    best = cut(ranking.chunks, len(batch), batch.settings.retrieve.top_k)
    hits = list(zip(best.chunk.tolist(), best.score.tolist(), strict=True))
    first = np.searchsorted(best.question, np.arange(len(batch) + 1)).tolist()
    return [hits[start:stop] for start, stop in pairwise(first)]


def _check(ours: list[Hits], theirs: list[Hits]) -> None:
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        close = np.allclose([s for _, s in one], [s for _, s in other], rtol=0, atol=1e-6) if one or other else True
        if [c for c, _ in one] != [c for c, _ in other] or not close:
            raise BenchmarkError(f"question {number}: {one} in a batch, {other} one by one")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
