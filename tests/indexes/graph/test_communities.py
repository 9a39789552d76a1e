from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from quern.indexes.graph.communities import communities, modularity, propagate_labels


@st.composite
def weights(draw: st.DrawFn) -> sparse.csr_array:
    size = draw(st.integers(1, 12))
    drawn = np.array(draw(st.lists(st.integers(0, 3), min_size=size**2, max_size=size**2)))
    upper = np.triu(drawn.reshape(size, size), 1)
    return sparse.csr_array(upper + upper.T)


@settings(max_examples=40, deadline=None)
@given(weights())
def test_modularity_is_that_of_networkx(matrix: sparse.csr_array) -> None:
    found = communities(matrix)
    drawn = nx.from_scipy_sparse_array(matrix)
    if drawn.number_of_edges():
        sets = [set(np.flatnonzero(found.of == n).tolist()) for n in range(len(found.sizes))]
        expected = nx.community.modularity(drawn, sets, weight="weight")
        assert modularity(matrix, found.of) == pytest.approx(expected, abs=1e-9)
    assert found.sizes.tolist() == sorted(found.sizes.tolist(), reverse=True)


def test_labels_find_cliques_that_single_edges_join() -> None:
    """What the method for large graphs finds where the answer is plain: no label crosses to another component."""
    drawn = nx.disjoint_union_all([nx.complete_graph(n) for n in (6, 9, 4)])
    drawn.add_edge(0, 7)
    of = propagate_labels(nx.to_scipy_sparse_array(drawn, format="csr"), seed=1)
    assert [len(set(of[a:b].tolist())) for a, b in ((0, 6), (6, 15), (15, 19))] == [1, 1, 1]
    assert len(set(of.tolist())) == 3
    large = communities(nx.to_scipy_sparse_array(drawn, format="csr"), most_pairs=1)
    assert (large.method, large.sizes.tolist()) == ("label_propagation", [9, 6, 4])
