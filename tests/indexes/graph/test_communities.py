from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from quern.indexes.graph.communities import communities, hierarchy, modularity


@st.composite
def weights(draw: st.DrawFn) -> sparse.csr_array:
    size = draw(st.integers(1, 12))
    drawn = np.array(draw(st.lists(st.integers(0, 3), min_size=size**2, max_size=size**2)))
    upper = np.triu(drawn.reshape(size, size), 1)
    return sparse.csr_array(upper + upper.T)


@settings(max_examples=40)
@given(weights())
def test_modularity_is_that_of_networkx(matrix: sparse.csr_array) -> None:
    found = communities(matrix)
    drawn = nx.from_scipy_sparse_array(matrix)
    if drawn.number_of_edges():
        sets = [set(np.flatnonzero(found.of == n).tolist()) for n in range(len(found.sizes))]
        expected = nx.community.modularity(drawn, sets, weight="weight")
        assert modularity(matrix, found.of) == pytest.approx(expected, abs=1e-9)
    assert found.sizes.tolist() == sorted(found.sizes.tolist(), reverse=True)


def test_cliques_that_single_edges_join_are_communities() -> None:
    drawn = nx.disjoint_union_all([nx.complete_graph(n) for n in (6, 9, 4)])
    drawn.add_edge(0, 7)
    found = communities(nx.to_scipy_sparse_array(drawn, format="csr"), seed=1)
    assert [len(set(found.of[a:b].tolist())) for a, b in ((0, 6), (6, 15), (15, 19))] == [1, 1, 1]
    assert found.sizes.tolist() == [9, 6, 4]


@pytest.mark.parametrize("crossing", [0.01, 0.03])
def test_communities_are_as_good_as_those_of_networkx(crossing: float) -> None:
    drawn = nx.planted_partition_graph(20, 30, 0.3, crossing, seed=3)
    other = nx.community.louvain_communities(drawn, seed=3)
    found = communities(nx.to_scipy_sparse_array(drawn, format="csr"))
    assert found.modularity > nx.community.modularity(drawn, other) - 0.01


def test_small_graphs_are_divided_alike_by_any_seed() -> None:
    triangles = nx.disjoint_union_all([nx.complete_graph(3)] * 2)
    for drawn, sizes in ((nx.path_graph(2), [2]), (triangles, [3, 3])):
        matrix = nx.to_scipy_sparse_array(drawn, format="csr")
        assert all(communities(matrix, seed).sizes.tolist() == sizes for seed in range(100))


def test_weights_of_zero_join_nothing() -> None:
    joined = sparse.csr_array(([1.0, 1.0, 0.0, 0.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    assert communities(joined).sizes.tolist() == [2, 1]
    assert communities(joined * 0).sizes.tolist() == [1, 1, 1]
    assert joined.nnz == 4


@settings(max_examples=40)
@given(weights())
def test_communities_of_every_level_hold_together_and_lie_within_those_above(matrix: sparse.csr_array) -> None:
    above = np.zeros(matrix.shape[0], dtype=np.int64)
    drawn = nx.from_scipy_sparse_array(matrix)
    for of in hierarchy(matrix, 2, 4):
        for number in np.unique(of):
            members = np.flatnonzero(of == number)
            assert len(np.unique(above[members])) == 1
            assert nx.is_connected(drawn.subgraph(members.tolist()))
        above = of


def test_only_large_communities_are_divided_further() -> None:
    cliques = nx.disjoint_union_all([nx.complete_graph(5)] * 6 + [nx.complete_graph(4)])
    cliques.add_weighted_edges_from((5 * n, 5 * (n + 1), 8) for n in range(5))
    top, below = hierarchy(nx.to_scipy_sparse_array(cliques, format="csr"), 6, 5)[:2]
    assert np.bincount(top).max() > 6
    assert len(np.unique(below)) > len(np.unique(top))
    assert len(np.unique(below[30:])) == len(np.unique(top[30:])) == 1
