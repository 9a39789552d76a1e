"""Who is in which partition, and what is new in it, are those of a plain look at all products."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from quern.jobs.graph.neighbours.centroids import Centroids, directions
from quern.jobs.graph.neighbours.codes import encode, likely
from quern.jobs.graph.neighbours.kept_lists import Flags
from quern.jobs.graph.neighbours.members import (
    Lists,
    Members,
    Occupants,
    assign,
    fresh_since,
    join_strangers,
    newcomers_of,
)
from quern.jobs.graph.neighbours.nearest_lists import NearestLists

UNIT = 127.0 * 127.0


def codes(seed: int, rows: int) -> npt.NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-127, 128, (rows, 64)).astype(np.int8)


def centroids(count: int) -> Centroids:
    return Centroids(directions(count, 64), UNIT)


def there(numbers: npt.NDArray[np.int8], of: Centroids, reach: float) -> Flags:
    near = numbers.astype(np.int64) @ of.numbers.astype(np.int64).T
    found: Flags = near >= near.max(axis=1, keepdims=True) - int(np.ceil(reach * UNIT))
    return found


@pytest.mark.parametrize("count", [1, 7, 64, 65, 130])
def test_members_are_those_of_all_products(count: int) -> None:
    numbers, of = codes(1, 2500), centroids(count)
    members, expected = assign(numbers, of, 3.0, 2), there(numbers, of, 3.0)
    assert [p.tolist() for p in members.pairs()] == [p.tolist() for p in np.nonzero(expected)]
    assert members.visits == expected.sum()
    expected[np.arange(2500), members.home] = False
    occupants = members.occupants()
    for number in range(count):
        assert occupants.residents[number].tolist() == np.flatnonzero(members.home == number).tolist()
        assert occupants.visitors[number].tolist() == np.flatnonzero(expected[:, number]).tolist()


@pytest.mark.parametrize("count", [7, 130])
def test_what_is_new_is_what_was_not_there_last_night(count: int) -> None:
    numbers, of = codes(2, 800), centroids(count)
    last, tonight = assign(numbers[:700], of, 2.5), assign(numbers[100:], of, 3.0)
    was = np.append(np.arange(100, 700), np.full(100, -1))
    before, now = there(numbers[:700], of, 2.5), there(numbers[100:], of, 3.0)
    before = np.concatenate([before[100:], np.zeros((100, count), np.bool_)])
    fresh = fresh_since(tonight, last, was)
    assert [p.tolist() for p in (fresh.guest, fresh.host)] == [p.tolist() for p in np.nonzero(now & ~before)]
    assert fresh.moved.tolist() == [False] * 600 + [True] * 100
    some = np.arange(700) % 50 == 0
    newcomers = newcomers_of(tonight, fresh.with_all_of(some, tonight))
    home = tonight.home
    arrived = now & (~before | some[:, None])
    arrived[np.arange(700), home] = False
    for number in range(count):
        assert newcomers.residents[number].tolist() == np.flatnonzero((fresh.moved | some) & (home == number)).tolist()
        assert sorted(newcomers.visitors[number].tolist()) == np.flatnonzero(arrived[:, number]).tolist()


@pytest.mark.parametrize("away", [0, 2, 5])
def test_two_that_only_visit_a_partition_are_not_compared(away: int) -> None:
    """Nothing is known of any of them, so that all that are compared are near enough."""
    rows = np.random.default_rng(4).standard_normal((12, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    coded = likely(encode(rows))
    nearest = NearestLists(coded, rows, 20, repeated=True)
    new, here = np.arange(12), np.zeros(12, dtype=np.int64)

    def lists(*split: np.ndarray) -> Occupants:
        return Occupants(*(Lists.of(part, here[: len(part)], 1) for part in split))

    for step in join_strangers(
        nearest,
        lambda owner, _: np.ones(len(owner), dtype=np.bool_),
        lists(new[5:10], new[10:]),
        lists(new[: 5 - away], new[5 - away : 5]),
    ):
        step()
    owner, target, _ = nearest.pairs()
    expected = {(a, b) for a in range(5) for b in range(5, 12) if a < 5 - away or b < 10}
    assert set(zip(owner.tolist(), target.tolist(), strict=True)) == expected | {(b, a) for a, b in expected}


def test_members_of_some_are_in_their_order() -> None:
    members: Members = assign(codes(5, 100), centroids(70), 3.0)
    rows = np.array([3, 50, 99])
    row, partition = members.pairs()
    chosen = np.isin(row, rows)
    assert [p.tolist() for p in members.pairs(rows)] == [row[chosen].tolist(), partition[chosen].tolist()]
