"""The benchmark of batched retrieval against the paper's steps one by one."""

from __future__ import annotations

import statistics
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
from tests.benchmarks import Figures, in_turns, median

_COMBINE: Final[dict[str, Callable[[list[float]], float]]] = {"mean": statistics.fmean, "max": max, "sum": sum}
Hits = list[tuple[int, float]]


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


def benchmark_retrieval(warehouse: Path, questions: Path, repeats: int = 5) -> Figures:
    """Seconds from the questions' vectors to their hits, medians over `repeats` rounds, all questions in one batch.

    Returns:
        `qcg`: the recipe. `networkx`: the paper's steps question by question, vectors as attributes of the nodes, and
        `ratio`, the median of each round's networkx over qcg.

    Raises:
        AssertionError: The implementations differ on a question.
    """
    searcher = Searcher(Warehouse.open(warehouse).snapshot(), Settings())
    graph, settings = searcher.graph, searcher.settings
    batch = Batch(searcher, [q.question for q in read_questions(questions)])
    vectors, plain = batch.vectors, PlainGraph(graph)

    def in_a_batch() -> list[Hits]:
        ranking: Ranking = RECIPES["qcg"].rank(batch.with_vectors(vectors))  # Nothing computed is reused.
        best = cut(ranking.chunks, len(batch), settings.retrieve.top_k)
        hits = list(zip(best.chunk.tolist(), best.score.tolist(), strict=True))
        first = np.searchsorted(best.question, np.arange(len(batch) + 1)).tolist()
        return [hits[start:stop] for start, stop in pairwise(first)]

    def one_by_one() -> list[Hits]:
        return [plain.hits(vector, settings.graph, settings.retrieve.top_k) for vector in vectors]

    for number, (ours, theirs) in enumerate(zip(in_a_batch(), one_by_one(), strict=True)):
        same = [chunk for chunk, _ in ours] == [chunk for chunk, _ in theirs]
        if not same or not np.allclose([s for _, s in ours], [s for _, s in theirs], rtol=0, atol=1e-6):
            raise AssertionError(f"question {number}: {ours} in a batch, {theirs} one by one")
    rounds = in_turns({"qcg": in_a_batch, "networkx": one_by_one}, repeats)
    figures = {"questions": float(len(vectors)), "nodes": float(len(graph.nodes.keys))}
    figures |= {name: median(rounds, name) for name in ("qcg", "networkx")}
    return figures | {"ratio": median(rounds, "networkx", "qcg")}
