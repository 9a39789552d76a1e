from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quern.indexes import vectors
from quern.indexes.vectors import Floats, nearest, similarities


def unit(rows: int, width: int, seed: int, copies: int = 0) -> Floats:
    """Random unit vectors; the last `copies` rows repeat the first."""
    matrix = np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    if copies:
        matrix[-copies:] = matrix[0]
    return matrix


def by_sorting(queries: Floats, matrix: Floats, k: int, own: bool) -> list[list[int]]:
    """The definition: sort all canonical scores, ties by position."""
    found = []
    for n, query in enumerate(queries):
        scores = similarities(np.repeat(query[None], len(matrix), axis=0), matrix)
        order = np.lexsort((np.arange(len(matrix)), -scores)).tolist()
        found.append([p for p in order if not (own and p == n)][:k])
    return found


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(1, 8), st.integers(0, 30), st.booleans(), st.integers(0, 99))
def test_neighbours_are_those_of_a_full_sort(rows: int, k: int, copies: int, own: bool, seed: int) -> None:
    matrix = unit(rows, 16, seed, min(copies, rows - 1))
    found = nearest(matrix, matrix, k, np.arange(rows) if own else None)
    expected = by_sorting(matrix, matrix, k, own)
    assert [[p for p in row if p >= 0] for row in found.positions.tolist()] == expected
    assert np.isneginf(found.similarities[found.positions < 0]).all()


def test_columns_that_are_looked_at_in_groups_hide_none() -> None:
    # The best stand together and far apart, and there are more equal ones than are asked for.
    matrix, asked = unit(1003, 16, 5, copies=40), unit(20, 16, 6)
    asked[0] = matrix[0]
    for k in (1, 3, 20):
        assert nearest(asked, matrix, k).positions.tolist() == by_sorting(asked, matrix, k, own=False)


def test_the_result_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = unit(700, 64, 3, copies=40)
    own = np.arange(700)
    whole = nearest(matrix, matrix, 5, own)
    for query_block, block in ((7, 13), (64, 700), (1024, 50)):
        monkeypatch.setattr(vectors, "_QUERIES", query_block)
        monkeypatch.setattr(vectors, "_VECTORS", block)
        again = nearest(matrix, matrix, 5, own)
        assert (again.positions == whole.positions).all()
        assert (again.similarities == whole.similarities).all()


def test_nothing_is_found_among_no_vectors() -> None:
    found = nearest(unit(2, 8, 0), np.empty((0, 8), dtype=np.float32), 3)
    assert (found.positions == -1).all()
