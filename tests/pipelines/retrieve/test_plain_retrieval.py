"""Batched retrieval against the paper's steps, question by question."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from quern.indexes.graph import Keyed, QueryGraph
from quern.indexes.vectors import Floats
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.filters import Allowed
from quern.pipelines.retrieve.ranking import cut
from quern.pipelines.retrieve.recipes.qcg import rank_qcg
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import Settings
from tests.benchmarks.retrieval import PlainGraph

_AXES = 5


def vectors(draw: np.random.Generator, count: int) -> Floats:
    """Unit vectors of few values, so that cosines tie."""
    drawn = draw.integers(-1, 2, (count, _AXES)).astype(np.float32)
    drawn[:, 0] += (drawn == 0).all(axis=1)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


def random_graph(draw: np.random.Generator, nodes: int, chunks: int, neighbours: int) -> QueryGraph:
    graph = QueryGraph.__new__(QueryGraph)
    keys = pa.array([f"n{i:02}" for i in range(nodes)])
    graph.__dict__["nodes"] = Keyed(keys, vectors(draw, nodes), draw.integers(0, chunks, nodes))
    graph.__dict__["chunks"] = Keyed(
        pa.array([f"c{i:02}" for i in range(chunks)]), vectors(draw, chunks), np.arange(chunks)
    )
    joined = draw.random((nodes, nodes)) < neighbours / max(1, nodes)
    graph.__dict__["edges"] = sparse.csr_array(joined.astype(np.float32))
    return graph


@given(
    seed=st.integers(0, 2**32 - 1),
    nodes=st.integers(1, 25),
    chunks=st.integers(1, 8),
    neighbours=st.integers(0, 3),
    hops=st.integers(0, 3),
    n=st.integers(1, 8),
    gamma=st.sampled_from([0.0, 0.8, 1.0, 1.5, 2.0]),
    score=st.sampled_from(["mean", "max", "sum"]),
)
def test_a_batch_is_ranked_as_its_questions_one_by_one(
    seed: int, nodes: int, chunks: int, neighbours: int, hops: int, n: int, gamma: float, score: str
) -> None:
    draw = np.random.default_rng(seed)
    graph = random_graph(draw, nodes, chunks, neighbours)
    chosen = Settings.model_validate({"graph": {"hops": hops, "n": n, "gamma": gamma, "score": score}})
    asked = vectors(draw, 4)
    searcher = Searcher.__new__(Searcher)
    searcher.graph, searcher.settings = graph, chosen
    best = cut(rank_qcg(Batch(searcher, [""] * 4).with_vectors(asked)).chunks, 4, 5)
    plain = PlainGraph(graph)
    for number, vector in enumerate(asked):
        mine = best.question == number
        found = dict(zip(best.chunk[mine].tolist(), best.score[mine].tolist(), strict=True))
        expected = dict(plain.hits(vector, chosen.graph, 5))
        assert found == pytest.approx(expected, abs=1e-6)
        assert list(found) == list(expected)


def test_under_conditions_nothing_is_found_where_there_are_no_nodes() -> None:
    draw = np.random.default_rng(0)
    graph = random_graph(draw, 0, 3, 0)
    searcher = Searcher.__new__(Searcher)
    searcher.graph, searcher.settings = graph, Settings()
    batch = Batch(searcher, [""]).with_vectors(vectors(draw, 1))
    batch.__dict__["allowed"] = Allowed(np.array([[True, False, True]]), np.array([0]))
    assert batch.nearest_of(graph.nodes, 2).positions.tolist() == [[-1, -1]]
    assert set(batch.nearest_of(graph.chunks, 2).positions[0].tolist()) == {0, 2}
