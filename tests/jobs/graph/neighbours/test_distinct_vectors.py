"""Equal vectors are told by their prints, also where half of a print is not enough."""

from __future__ import annotations

import numpy as np
import pytest

from quern.jobs.graph.neighbours.change import _matches
from quern.jobs.graph.neighbours.distinct_vectors import DistinctVectors, Edges, expand
from quern.jobs.graph.neighbours.prints import Prints


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
    ],
)
def test_a_vector_is_known_by_its_whole_print(tonight: Prints, last: Prints, found: list[int]) -> None:
    assert _matches(tonight, last).tolist() == found


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
