"""Equal vectors are told by their prints, also where half of a print is not enough."""

from __future__ import annotations

import numpy as np
import pytest

from quern.jobs.graph.neighbours.edges import DistinctVectors, Edges, expand
from quern.jobs.graph.neighbours.ranking import Prints, matches


def prints(*halves: tuple[int, int]) -> Prints:
    return np.array(halves, dtype=np.uint64).reshape(-1, 2)


@pytest.mark.parametrize(
    ("of", "first", "members", "start"),
    [
        (prints(), [], [], [0]),
        (prints((9, 1), (2, 1), (5, 1)), [0, 1, 2], [0, 1, 2], [0, 1, 2, 3]),
        (prints((9, 1), (2, 1), (9, 1), (2, 1), (5, 5)), [0, 1, 4], [0, 2, 1, 3, 4], [0, 2, 4, 5]),
        (prints((9, 1), (9, 2), (2, 1), (9, 1), (9, 2)), [0, 1, 2], [0, 3, 1, 4, 2], [0, 2, 4, 5]),
    ],
)
def test_nodes_of_one_print_are_a_group(of: Prints, first: list[int], members: list[int], start: list[int]) -> None:
    distinct = DistinctVectors.of(of)
    assert (distinct.first.tolist(), distinct.members.tolist(), distinct.start.tolist()) == (first, members, start)


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


def test_repeated_vectors_offer_no_more_nodes_than_can_be_wanted() -> None:
    """Of 40 groups of 50 nodes each, all neighbours of all, a node gets what a full sort gives it."""
    distinct = DistinctVectors.of(prints(*((g, 1) for g in range(40) for _ in range(50))))
    source, target = np.divmod(np.arange(1600), 40)
    similarity = np.round(np.cos((source - target) / 9.0), 2).astype(np.float32)  # Ties among them.
    found = expand(distinct, Edges.ordered(source, target, similarity), 60)
    assert len(found.source) < 2000 * 220
    group = np.arange(2000) // 50
    for node in (0, 777, 1999):
        others = np.delete(np.arange(2000), node)
        score = np.round(np.cos((group[node] - group[others]) / 9.0), 2).astype(np.float32)
        expected = others[np.lexsort((others, -score))][:59]
        assert found.target[found.source == node][:59].tolist() == expected.tolist()
