from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.documents.duplicates.components import least_members


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=30))
def test_each_node_has_the_least_node_that_can_be_reached(edges: list[tuple[int, int]]) -> None:
    reached = {n: {n} for n in range(20)}
    for a, b in edges:
        union = reached[a] | reached[b]
        for n in union:
            reached[n] = union
    a, b = (np.array([e[end] for e in edges], dtype=np.int64) for end in (0, 1))
    assert least_members(20, a, b).tolist() == [min(reached[n]) for n in range(20)]
