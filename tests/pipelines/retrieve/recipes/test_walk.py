"""Personalised PageRank against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from quern.indexes.graph import Keyed, QueryGraph
from quern.pipelines.retrieve.ranking import Reached
from quern.pipelines.retrieve.recipes.walk import DAMPING, transitions, walk


def random_graph(nodes: int, chunks: int, seed: int) -> QueryGraph:
    draw = np.random.default_rng(seed)
    graph = QueryGraph.__new__(QueryGraph)
    owner = draw.integers(0, chunks - 1, nodes)  # The last chunk has no node.
    none = np.empty((0, 2), dtype=np.float32)
    graph.__dict__["nodes"] = Keyed(pa.array([f"n{i}" for i in range(nodes)]), none, owner)
    graph.__dict__["chunks"] = Keyed(pa.array([f"c{i}" for i in range(chunks)]), none, np.empty(0, np.int64))
    source = np.repeat(np.arange(nodes), 2)
    target = (source + draw.integers(1, nodes, len(source))) % nodes
    graph.__dict__["edges"] = sparse.csr_array((draw.random(len(source)) + 0.5, (source, target)), shape=(nodes, nodes))
    return graph


@pytest.mark.parametrize("seed", range(3))
def test_walkers_are_where_networkx_says(seed: int) -> None:
    nodes, chunks = 30, 8
    graph = random_graph(nodes, chunks, seed)
    draw = np.random.default_rng(seed)
    question, node = np.repeat(np.arange(70), 3), np.tile([1, 5, 9], 70)
    similarity = draw.random(len(question)).astype(np.float32) + 0.1
    found = walk(Reached(question, node, np.zeros(len(node), np.int32), similarity), 70, graph, chunks)
    network = nx.from_scipy_sparse_array(transitions(graph), create_using=nx.DiGraph)
    for asked in (0, 69):
        mine = question == asked
        start = dict(zip(node[mine].tolist(), similarity[mine].tolist(), strict=True))
        expected = nx.pagerank(network, alpha=DAMPING, personalization=start, dangling=start, tol=1e-10)
        rows = found.question == asked
        scores = dict(zip(found.chunk[rows].tolist(), found.score[rows].tolist(), strict=True))
        assert scores == pytest.approx({c: expected[nodes + c] for c in scores}, abs=1e-5)
        assert set(scores) >= {c for c in range(chunks) if expected[nodes + c] > 1e-5}


def test_a_question_that_matches_nothing_finds_nothing() -> None:
    none = Reached(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
    assert len(walk(none, 3, random_graph(10, 4, 0), 5).chunk) == 0
