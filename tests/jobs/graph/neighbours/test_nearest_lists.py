"""Neighbours by codes are those of a full sort, whatever the blocks and threads; vectors are known by their prints."""

from __future__ import annotations

import numpy as np
import pytest

import quern.jobs.graph.neighbours.nearest_lists
from quern.indexes.vectors import Floats, nearest
from quern.jobs.graph.neighbours.codes import encode, products
from quern.jobs.graph.neighbours.nearest_lists import NearestLists, join_all
from quern.jobs.graph.neighbours.ranking import vector_prints


def unit(rows: int, width: int, seed: int) -> Floats:
    made = np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def found(vectors: Floats, threads: int = 1, columns: int = 2048, k: int = 3) -> list[object]:
    nearest = NearestLists(encode(vectors), vectors, k)
    join_all(nearest, len(vectors), threads, columns)
    near = nearest.neighbours()
    return [near.positions.tolist(), near.similarities.tolist()]


def by_full_search(vectors: Floats, k: int = 3) -> list[object]:
    near = nearest(vectors, vectors, k, np.arange(len(vectors)))
    return [near.positions.tolist(), near.similarities.tolist()]


@pytest.mark.parametrize(("threads", "columns"), [(1, 32), (2, 64), (3, 200), (2, 4096)])
def test_blocks_and_threads_change_nothing(threads: int, columns: int) -> None:
    vectors = unit(650, 32, 2)
    assert found(vectors, threads, columns) == by_full_search(vectors)


def test_crowds_within_the_margin_of_codes_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    vectors = np.repeat(unit(3, 64, 3), 250, axis=0) + 1e-4 * rng.standard_normal((750, 64)).astype(np.float32)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    expected = by_full_search(vectors)
    assert found(vectors, columns=256) == expected
    monkeypatch.setattr(quern.jobs.graph.neighbours.nearest_lists, "_LEAST_WAITING", 100)
    monkeypatch.setattr(quern.jobs.graph.neighbours.nearest_lists, "_WAITING", 0)
    assert found(vectors, columns=256) == expected


def test_products_of_integers_are_exact_up_to_the_largest() -> None:
    rng = np.random.default_rng(5)
    left, right = (rng.integers(-127, 128, (n, 2048)).astype(np.int8) for n in (48, 1300))
    left[0], right[0] = 127, -127
    assert (products(left, right) == left.astype(np.int64) @ right.astype(np.int64).T).all()


def test_vectors_that_differ_in_a_bit_have_different_prints() -> None:
    vectors = np.repeat(unit(1, 5, 6), 6, axis=0)
    for n in range(5):
        vectors[n, n] = np.nextafter(vectors[n, n], 1)
    signs = vectors.copy()
    signs[:, [0, 1]] *= -1
    assert len({tuple(row) for row in vector_prints(np.concatenate([vectors, signs])).tolist()}) == 12
    assert (vector_prints(vectors) == vector_prints(np.concatenate([signs, vectors]))[6:]).all()
