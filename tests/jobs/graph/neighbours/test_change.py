"""The law of the graph builder: a night's neighbours are those of a full search, whatever was known before."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quern.indexes.vectors import Floats, Positions, nearest
from quern.jobs.graph.neighbours.centroids import train
from quern.jobs.graph.neighbours.codes import encode
from quern.jobs.graph.neighbours.edges import neighbour_edges
from quern.jobs.graph.neighbours.layout import Neighbourhood, needed_reach
from quern.jobs.graph.neighbours.members import assign
from quern.jobs.graph.neighbours.plan import Plan
from quern.jobs.graph.neighbours.ranking import vector_prints
from quern.jobs.graph.neighbours.search import change, find_neighbours
from quern.jobs.graph.neighbours.threads import run_all
from quern.schemas.settings import LinkSettings, NeighbourSettings


def vectors(rows: int, width: int, seed: int, coarse: bool = False) -> Floats:
    """Different unit vectors; coarse ones have many equal cosines."""
    rng = np.random.default_rng(seed)
    made = rng.integers(-2, 3, (rows, width)).astype(np.float32) if coarse else rng.standard_normal((rows, width))
    made = made[np.abs(made).sum(axis=1) > 0].astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return np.unique(made, axis=0)[rng.permutation(len(np.unique(made, axis=0)))]


def first(found: Neighbourhood, k: int) -> tuple[list[list[int]], list[list[float]]]:
    return found.lists.positions[:, :k].tolist(), found.lists.scores[:, :k].tolist()


def nights(seed: int, coarse: bool, plan: Plan, partitioned: bool) -> None:
    """Three nights, each with other vectors in another order."""
    rng = np.random.default_rng(seed)
    pool = vectors(120, 6, seed, coarse)
    before = None
    for _ in range(3):
        tonight = pool[np.sort(rng.permutation(len(pool))[: rng.integers(60, len(pool) + 1)])]
        if rng.random() < 0.3:
            tonight = tonight[rng.permutation(len(tonight))]
        before = change(before, tonight, vector_prints(tonight), plan)
        full = find_neighbours(tonight, vector_prints(tonight), plan)
        assert (before.layout is not None) == partitioned
        assert first(before, plan.k) == first(full, plan.k)
        if not partitioned:
            truth = nearest(tonight, tonight, plan.k, np.arange(len(tonight)))
            assert first(full, plan.k) == (truth.positions.tolist(), truth.similarities.tolist())


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 4), st.integers(0, 3))
def test_nights_end_with_the_neighbours_of_a_full_search(seed: int, coarse: bool, k: int, spare: int) -> None:
    nights(seed, coarse, Plan(k=k, spare=spare), partitioned=False)


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 4), st.integers(0, 3))
def test_partitioned_nights_end_with_those_of_a_full_search(seed: int, coarse: bool, k: int, spare: int) -> None:
    plan = Plan(k=k, spare=spare, exact_below=0, partitions=9, recall=0.8, sample=30)
    nights(seed, coarse, plan, partitioned=True)


@settings(max_examples=4)
@given(st.integers(0, 10_000))
def test_edges_of_nights_by_partitions_are_those_of_a_full_run(seed: int) -> None:
    """Nodes come, go, change, become and cease to be duplicates; settings change and change back."""
    rng = np.random.default_rng(seed)
    pool = vectors(150, 8, seed, bool(seed % 2))
    # Below 60 different vectors all are compared with all; 107 have more partitions than 106.
    ways = [NeighbourSettings(exact_below=60, sample=20, recall=r) for r in (0.8, 0.95)]
    with TemporaryDirectory() as folder:
        of_night = rng.permutation(len(pool))[:100]
        for night in range(5):
            of_night = _changed(of_night, len(pool), rng)
            how = ways[int(rng.random() < 0.2)]
            full, incremental = (
                neighbour_edges(
                    pool[of_night],
                    of_night % 7,
                    LinkSettings(),
                    how,
                    1,
                    Path(folder, name, str(how.recall)),
                    str(night),
                ).edges
                for name in (f"full{night}", "nights")
            )
            for column in ("source", "target", "similarity"):
                assert (getattr(full, column) == getattr(incremental, column)).all()


def _changed(of_night: Positions, size: int, rng: np.random.Generator) -> Positions:
    """Some nodes removed, others added, some with the vector of another, now and then many, in another order."""
    kept = of_night[rng.random(len(of_night)) > rng.choice([0.0, 0.02, 0.4], p=[0.2, 0.6, 0.2])]
    added = rng.permutation(size)[: rng.choice([0, 3, 60], p=[0.2, 0.6, 0.2])]
    repeated = rng.choice(kept, rng.integers(0, 4)) if len(kept) else kept
    night = np.concatenate([np.unique(np.concatenate([kept, added])), repeated])
    return rng.permutation(night) if rng.random() < 0.3 else night


@pytest.mark.parametrize("alike", [0.0, 0.2])
def test_small_changes_of_many_vectors_end_with_those_of_a_full_search(alike: float) -> None:
    """Vectors in clusters, and a family of nearly equal ones, of which some go and come back."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((60, 24))
    made = centres[rng.integers(60, size=1500)] + 0.4 * rng.standard_normal((1500, 24))
    family = rng.random(1500) < alike
    made[family] = centres[0] + 1e-4 * rng.standard_normal((int(family.sum()), 24))
    pool = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    plan = Plan(k=3, exact_below=0, recall=0.95, sample=100)
    before, there = None, rng.random(len(pool)) < 0.9
    for _ in range(4):
        there ^= rng.random(len(pool)) < 0.01
        tonight = pool[there]
        before = change(before, tonight, vector_prints(tonight), plan)
        assert first(before, 3) == first(find_neighbours(tonight, vector_prints(tonight), plan), 3)
    assert 0 < before.notes["fresh"] < 0.3


def test_a_few_changes_cost_few_searches() -> None:
    pool = vectors(1000, 16, 2)
    plan = Plan(k=3)
    first = change(None, pool[:-10], vector_prints(pool[:-10]), plan)
    second = change(first, pool[10:], vector_prints(pool[10:]), plan)
    assert 10 <= second.searched <= 20


@pytest.mark.parametrize("recall", [0.9, 0.98])
def test_partitions_find_the_share_of_neighbours_that_is_wanted(recall: float) -> None:
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((40, 32))
    made = (centres[rng.integers(40, size=4000)] + 0.5 * rng.standard_normal((4000, 32))).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    found = find_neighbours(made, vector_prints(made), Plan(k=3, exact_below=0, recall=recall, sample=500))
    truth = nearest(made, made, 3, np.arange(len(made)))
    had = (found.lists.positions[:, :3, None] == truth.positions[:, None, :]).any(axis=1).mean()
    assert had >= recall - 0.02
    assert abs(found.notes["recall"] - had) < 0.03
    assert found.notes["probes"] < found.notes["partitions"] / 2


@pytest.mark.parametrize("share", [0.9, 0.97])
def test_a_reach_finds_a_standard_error_more_of_its_sample_than_is_wanted(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quern.jobs.graph.neighbours.layout._STEP", 1e-4)
    pool = vectors(800, 24, 9)
    owner = np.arange(0, len(pool), 4)
    target = nearest(pool[owner], pool, 1, owner).positions[:, 0]
    codes = encode(pool)
    centroids = train(codes, vector_prints(pool), 20)
    met = assign(codes.numbers, centroids, needed_reach(owner, target, codes, centroids, share)).meet(owner, target)
    error = (share * (1 - share) / len(owner)) ** 0.5
    assert share + error <= met.mean() < share + error + 0.02


@pytest.mark.parametrize("spare", [0, 4])
def test_nothing_is_searched_for_where_nothing_changed(spare: int) -> None:
    pool = vectors(400, 24, 5)
    plan = Plan(k=3, spare=spare)
    once = change(None, pool, vector_prints(pool), plan)
    assert (once.searched, change(once, pool, vector_prints(pool), plan).searched) == (400, 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_ends_the_join_at_once(threads: int) -> None:
    done: list[int] = []

    def step(number: int) -> None:
        if number == 0:
            raise OSError("a disk that fails")
        done.append(number)

    with pytest.raises(OSError, match="a disk that fails"):
        run_all([partial(step, n) for n in range(1000)], threads)
    assert len(done) < 100
