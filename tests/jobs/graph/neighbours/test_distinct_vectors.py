"""Equal vectors are told by their prints, also where half of a print is not enough."""

from __future__ import annotations

import numpy as np
import pytest

from quern.jobs.graph.neighbours.ranking import Prints, matches


def prints(*halves: tuple[int, int]) -> Prints:
    return np.array(halves, dtype=np.uint64).reshape(-1, 2)


@pytest.mark.parametrize(
    ("tonight", "last", "found"),
    [
        (prints((1, 1), (2, 2)), prints(), [-1, -1]),
        (prints((1, 1), (7, 7), (2, 2)), prints((2, 2), (3, 3), (1, 1)), [2, -1, 0]),
        (prints((4, 1), (4, 2), (4, 3)), prints((4, 3), (4, 1)), [1, -1, 0]),
        (prints((4, 2)), prints((4, 1)), [-1]),
        (prints(), prints((4, 1)), []),
        (prints((1 << 63, 1), (5 << 60, 2)), prints((5 << 60, 2), (3, 3)), [-1, 0]),
    ],
)
def test_a_vector_is_known_by_its_whole_print(tonight: Prints, last: Prints, found: list[int]) -> None:
    assert matches(tonight, last).tolist() == found


def test_many_vectors_are_known_in_any_order() -> None:
    """With one first half for some, a slot of the table for others, and of each night some that the other has not."""
    drawn = np.random.default_rng(0)
    both = drawn.integers(0, 1 << 63, (3000, 2), dtype=np.uint64)
    both[:60, 0] = both[60:120, 0]
    last, tonight = drawn.permutation(3000)[:2000], drawn.permutation(3000)[:2500]
    place = {int(row): at for at, row in enumerate(last)}
    assert matches(both[tonight], both[last]).tolist() == [place.get(int(row), -1) for row in tonight]
