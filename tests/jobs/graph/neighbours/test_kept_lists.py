"""Lists that are kept from night to night are those of a plain look at each of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.graph.neighbours.kept_lists import NeighbourLists, Pairs

_DEPTH = 4
_Entries = list[list[tuple[float, int]]]


def lists(seed: int, rows: int = 12) -> NeighbourLists:
    """Lists of some of 20 vectors with few different scores; full ones end at their cut."""
    rng = np.random.default_rng(seed)
    positions = np.full((rows, _DEPTH), -1, np.int64)
    scores = np.full((rows, _DEPTH), -np.inf, np.float32)
    for row in range(rows):
        count = rng.integers(0, _DEPTH + 1)
        found = sorted((-rng.integers(1, 6) / 8, target) for target in rng.permutation(20)[:count].tolist())
        positions[row, :count], scores[row, :count] = [t for _, t in found], [-s for s, _ in found]
    return NeighbourLists.of(positions, scores)


def entries(of: NeighbourLists) -> _Entries:
    """(score, neighbour) of each list, as they stand, gaps left out."""
    return [
        [(float(s), int(p)) for p, s in zip(positions, scores, strict=True) if p >= 0]
        for positions, scores in zip(of.positions, of.scores, strict=True)
    ]


def with_gaps(of: NeighbourLists, seed: int) -> tuple[NeighbourLists, _Entries]:
    gone = np.random.default_rng(seed).random(of.positions.shape) < 0.3
    kept = zip(of.positions, of.scores, ~gone & (of.positions >= 0), strict=True)
    left = [list(zip(scores[mask].tolist(), positions[mask].tolist(), strict=True)) for positions, scores, mask in kept]
    gapped = NeighbourLists(of.positions.copy(), of.scores.copy(), of.cut.copy())
    gapped.remove(np.flatnonzero(gone))
    return gapped, left


seeds = st.integers(0, 1 << 30)


@given(seed=seeds)
def test_what_goes_leaves_gaps_and_no_other_trace(seed: int) -> None:
    of = lists(seed)
    gapped, left = with_gaps(of, seed)
    assert entries(gapped) == left
    assert np.isneginf(gapped.scores[gapped.positions < 0]).all()
    assert gapped.gaps.tolist() == [len(row) < _DEPTH for row in left]
    assert (gapped.cut == of.cut).all()


@given(seed=seeds, k=st.integers(1, _DEPTH + 1))
def test_a_list_is_too_short_where_fewer_than_wanted_are_above_its_cut(seed: int, k: int) -> None:
    gapped, left = with_gaps(lists(seed), seed)
    short = [
        row
        for row, (had, cut) in enumerate(zip(left, gapped.cut.tolist(), strict=True))
        if cut > -np.inf and sum(score > cut for score, _ in had) < k
    ]
    assert gapped.too_short(k).tolist() == short


@given(seed=seeds)
def test_lists_are_carried_to_where_their_owners_and_neighbours_are_tonight(seed: int) -> None:
    rng, of = np.random.default_rng(seed), lists(seed)
    source = np.where(rng.random(15) < 0.3, -1, rng.integers(0, len(of), 15))
    now = np.append(np.where(rng.random(20) < 0.2, -1, rng.permutation(40)[:20]), -1)
    made, had = of.carried(source, now), entries(of)
    expected = [[(s, int(now[p])) for s, p in had[row] if now[p] >= 0] if row >= 0 else [] for row in source.tolist()]
    assert entries(made) == expected
    assert np.isneginf(made.scores[made.positions < 0]).all()
    assert made.cut.tolist() == [float(of.cut[row]) if row >= 0 else -np.inf for row in source.tolist()]


def test_none_are_carried_from_no_lists() -> None:
    made = NeighbourLists.of_none(0, _DEPTH).carried(np.full(3, -1), np.array([-1]))
    assert entries(made) == [[], [], []]
    assert np.isneginf(made.cut).all()


@given(seed=seeds)
def test_what_is_found_is_merged_once_and_the_best_stay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gapped, left = with_gaps(lists(seed), seed)
    # One score for a pair, whether it is known or found.
    known = {(row, target): score for row, had in enumerate(left) for score, target in had}
    owner, target = rng.integers(0, len(gapped), 40), rng.integers(0, 20, 40)
    score = np.array([known.get(p, (p[0] * p[1]) % 5 / 8) for p in zip(owner.tolist(), target.tolist(), strict=True)])
    found = Pairs(owner, target, score.astype(np.float32))
    merged, cut = gapped, gapped.cut.copy()
    merged.merge(found, merged.gaps)
    for row, had in enumerate(left):
        new = {(float(s), int(t)) for o, t, s in zip(owner, target, score, strict=True) if o == row}
        counted = {(s, t) for s, t in new if s >= cut[row]}
        best = sorted(set(had) | counted, key=lambda e: (-e[0], e[1]))[:_DEPTH]
        mine = entries(merged)[row]
        assert sorted(mine, key=lambda e: (-e[0], e[1])) == best
        assert [s for s, _ in mine] == sorted((s for s, _ in mine), reverse=True)
        assert (merged.positions[row, : len(mine)] >= 0).all()
        assert merged.cut[row] == (best[-1][0] if len(best) == _DEPTH else cut[row])
    in_order = [sorted(row, key=lambda e: (-e[0], e[1])) for row in entries(merged)]
    merged.sort_ties()
    assert entries(merged) == in_order
