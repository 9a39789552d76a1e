"""Who is in which partition, and what is new in it, are those of a plain look at all products."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from quern.jobs.graph.neighbours.centroids import Centroids, Rounds, directions
from quern.jobs.graph.neighbours.codes import encode, likely
from quern.jobs.graph.neighbours.kept_lists import Flags
from quern.jobs.graph.neighbours.members import Guests, Members, assign, fresh_since
from quern.jobs.graph.neighbours.nearest_lists import NearestLists
from quern.jobs.graph.neighbours.partitions import newcomers_of
from quern.jobs.graph.neighbours.sieve import Sieve

UNIT = 127.0 * 127.0


def codes(seed: int, rows: int) -> npt.NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-127, 128, (rows, 64)).astype(np.int8)


def centroids(count: int) -> Centroids:
    rounds = Rounds(np.zeros((3, 0), np.int32), np.zeros((3, count, 64), np.int64), 1.0)
    return Centroids(directions(count, 64), UNIT, rounds)


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


@pytest.mark.parametrize("most", [1, 3, 100])
def test_parts_of_a_partition_are_all_of_it(most: int) -> None:
    members = assign(codes(3, 60), centroids(5), 3.0)
    occupants = members.occupants()
    for number in range(len(occupants)):
        parts = list(occupants.parts(number, most))
        assert all(0 < len(part.positions) <= most for part in parts)
        for away, lists in enumerate((occupants.residents, occupants.visitors)):
            found = [np.split(part.positions, [part.residents])[away] for part in parts]
            assert np.concatenate(found).tolist() == lists[number].tolist()


@pytest.mark.parametrize("away", [0, 2, 5])
def test_two_that_only_visit_a_partition_are_not_compared(away: int) -> None:
    """Nothing is known of any of them, so that all that are compared are near enough."""
    rows = np.random.default_rng(4).standard_normal((12, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    coded = likely(encode(rows, "int8"))
    nearest = NearestLists(coded, rows, 20, repeated=True)
    every = np.ones(12, dtype=np.bool_)
    sieve = Sieve(nearest, coded, 20, every, lambda owner, _: np.ones(len(owner), dtype=np.bool_))
    new = np.arange(12)
    sieve.compare(Guests(new[:5], 5 - away), Guests(new[5:], 5))
    sieve.close()
    owner, target, _ = nearest.pairs()
    expected = {(a, b) for a in range(5) for b in range(5, 12) if a < 5 - away or b < 10}
    assert set(zip(owner.tolist(), target.tolist(), strict=True)) == expected | {(b, a) for a, b in expected}


@pytest.mark.parametrize("wide", [6, 300, 1500])
def test_new_vectors_of_a_partition_find_their_nearest_in_it(wide: int) -> None:
    """Their floors come from the highest products of groups of columns, where there are many."""
    rng = np.random.default_rng(6)
    rows = np.repeat(rng.standard_normal((wide // 6, 32)), 6, axis=0) + 0.4 * rng.standard_normal((wide, 32))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    coded = likely(encode(rows, "int8"))
    nearest = NearestLists(coded, rows, 4, repeated=True)
    new = np.arange(wide) % 5 == 0
    sieve = Sieve(nearest, coded, 4, new, lambda owner, _: np.ones(len(owner), dtype=np.bool_))
    every = np.arange(wide)
    sieve.compare(Guests(every[new], int(new.sum())), Guests(every, wide))
    sieve.close()
    found = nearest.neighbours()
    cosines = rows.astype(np.float64) @ rows.T.astype(np.float64)
    np.fill_diagonal(cosines, -2)
    expected = np.argsort(-cosines, axis=1, kind="stable")[:, :4]
    assert found.positions[new].tolist() == expected[new].tolist()


def test_members_of_some_are_in_their_order() -> None:
    members: Members = assign(codes(5, 100), centroids(70), 3.0)
    rows = np.array([3, 50, 99])
    row, partition = members.pairs()
    chosen = np.isin(row, rows)
    assert [p.tolist() for p in members.pairs(rows)] == [row[chosen].tolist(), partition[chosen].tolist()]
