"""Neighbours of tonight's vectors from those of the last night, at a cost that grows with what changed.

A list of neighbours is longer than what is asked for and says how far it can be trusted: all that are nearer than its
cut are in it. New vectors are compared with all, and enter the lists of others. A vector that went leaves a gap that
the rest of the list fills; only where a list became too short its owner is searched for again. What comes out is what
a full search finds, edge for edge; where vectors are partitioned, a full search with the same centroids (but for the
rare product that is farther off than likely, `jobs.graph.neighbours.codes`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import torch

from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.neighbours.codes import Codes, codes_at, encode, likely
from quern.jobs.graph.neighbours.join import run_all, seek_in_all
from quern.jobs.graph.neighbours.nearest_lists import NearestLists, best_of_owners
from quern.jobs.graph.neighbours.partitions import Centroids, Members, assign, seek_in_partitions
from quern.jobs.graph.neighbours.plan import Neighbourhood, Plan, Prints, Vectors, VectorsInOrder
from quern.jobs.graph.neighbours.search import find_neighbours, with_recall

_MOST_CHANGED = 0.3  # More new vectors than this share cost as much as a full search.
_WORN = 0.01  # Partitions that find so much less than they should are made anew.
_OUTGROWN = 2.0  # Partitions of half or twice as many vectors are made anew.

Flags = npt.NDArray[np.bool_]


def change(before: Neighbourhood | None, vectors: Vectors, prints: Prints, plan: Plan) -> Neighbourhood:
    """The neighbours of all of `vectors`, L2-normalised and all different."""
    if before is None or not _usable(before, vectors, plan):
        return find_neighbours(vectors, prints, plan)
    was = _matches(prints, before.prints)
    if (was < 0).mean() > _MOST_CHANGED:
        # Of another model perhaps, whose vectors the partitions do not suit.
        return find_neighbours(vectors, prints, plan)
    tonight = _changed(before, was, vectors, prints, plan)
    worn = tonight.notes.get("recall", 1.0) < plan.recall - _WORN
    return find_neighbours(vectors, prints, plan) if worn else tonight


def _changed(before: Neighbourhood, was: Positions, vectors: Vectors, prints: Prints, plan: Plan) -> Neighbourhood:
    # Partitions are assigned by codes of the scale that they were made with.
    scale = before.scale if before.centroids else 0.0
    codes = encode(vectors, "int8", scale=scale, threads=plan.threads)
    members = _members(before, codes, was)
    lists = (prints, codes.scale, *_kept(before, was), before.centroids)
    tonight = Neighbourhood(*lists, 0, before.dimension, members=members)
    tonight = _with_new(tonight, _ComparedVectors(codes, vectors), was < 0, plan)
    return with_recall(tonight, vectors, codes, plan)


def _usable(before: Neighbourhood, vectors: Vectors, plan: Plan) -> bool:
    """Whether tonight's lists can be made from `before`: they are as long, of such vectors, found in the same way."""
    count = len(vectors)
    if before.positions.shape[1] != plan.depth or count == 0 or len(before.prints) == 0:
        return False
    if before.dimension != np.asarray(vectors[0:1]).shape[1]:
        return False
    if (before.centroids is None) != (count < plan.exact_below):
        return False
    grown = count / before.centroids.trained_on if before.centroids else 1.0
    return 1 / _OUTGROWN < grown < _OUTGROWN


def _matches(prints: Prints, known: Prints) -> Positions:
    """Where each of `prints` is among `known`, -1 where it is not; none occurs twice in either."""
    matches: Positions = (
        pc.index_in(pa.array(prints[:, 0]), value_set=pa.array(known[:, 0])).fill_null(-1).to_numpy().astype(np.int64)
    )
    old = matches >= 0
    if (known[matches[old], 1] == prints[old, 1]).all():
        return matches
    return _matches_of_both(prints, known)


def _matches_of_both(prints: Prints, known: Prints) -> Positions:
    """The same, where different vectors have one first half of their prints."""
    both = np.concatenate([known, prints])
    order = np.lexsort((both[:, 1], both[:, 0]))
    same = (both[order[1:]] == both[order[:-1]]).all(axis=1)
    matches = np.full(len(prints), -1, dtype=np.int64)
    matches[order[1:][same] - len(known)] = order[:-1][same]
    return matches


def _kept(before: Neighbourhood, was: Positions) -> tuple[Positions, Floats, Floats]:
    """Lists and cuts of tonight's vectors, without the neighbours that went."""
    now = np.full(len(before.prints) + 1, -1, dtype=np.int64)
    now[was[was >= 0]] = np.flatnonzero(was >= 0)
    positions = np.full((len(was), before.positions.shape[1]), -1, dtype=np.int64)
    scores = np.full(positions.shape, -np.inf, dtype=np.float32)
    old = was >= 0
    positions[old] = now[before.positions[was[old]]]
    scores[old] = np.where(positions[old] >= 0, before.scores[was[old]], -np.inf)
    cut = np.full(len(was), -np.inf, dtype=np.float32)
    cut[old] = before.cut[was[old]]
    return positions, scores, cut


def _members(before: Neighbourhood, codes: Codes, was: Positions) -> Members | None:
    """The partitions of tonight's vectors; those that were there stay where they were."""
    if before.centroids is None or before.members is None:
        return assign(codes.numbers, before.centroids) if before.centroids else None
    probes = before.members.probes[torch.from_numpy(was.clip(0))]
    new = torch.from_numpy(np.flatnonzero(was < 0))
    probes[new] = assign(codes.numbers[new], before.centroids).probes
    return Members(probes)


@dataclass(frozen=True)
class _ComparedVectors:
    """What is compared: vectors and their codes."""

    codes: Codes
    vectors: Vectors


def _with_new(tonight: Neighbourhood, compared: _ComparedVectors, new: Flags, plan: Plan) -> Neighbourhood:
    """`tonight` with the neighbours of new vectors, and new vectors among the neighbours of others."""
    pairs = _search(tonight, compared, np.flatnonzero(new), plan, ~new) if new.any() else _NO_PAIRS
    lists = _merged(tonight, pairs, new | (tonight.positions < 0).any(axis=1))
    short = np.flatnonzero(_too_short(lists, plan.k))
    if len(short):
        lists = _replaced(lists, _search(lists, compared, short, plan, None), short)
    notes = {"searched": float(new.sum() + len(short))}
    return replace(_ties_by_key(lists), searched=int(new.sum()) + len(short), notes=notes)


@dataclass(frozen=True)
class _Pairs:
    """Pairs that a search found."""

    owner: Positions
    target: Positions
    score: Floats


_NO_PAIRS = _Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))


def _search(
    tonight: Neighbourhood, compared: _ComparedVectors, rows: Positions, plan: Plan, gaining: Flags | None
) -> _Pairs:
    """The best of `rows` among all, and of those that are `gaining` among `rows`."""
    if tonight.members is not None and tonight.centroids is not None:
        return _search_partitions(tonight, compared, rows, plan, gaining)
    nearest = NearestLists(compared.codes, compared.vectors, plan.depth, threads=plan.threads)
    if gaining is not None:
        nearest.floor[:] = torch.from_numpy(np.where(gaining, tonight.cut, -np.inf))
    flags = None if gaining is None else torch.from_numpy(gaining)
    run_all(seek_in_all(nearest, torch.from_numpy(rows), len(compared.codes), flags), plan.threads)
    return _Pairs(*nearest.pairs())


def _search_partitions(
    tonight: Neighbourhood, compared: _ComparedVectors, rows: Positions, plan: Plan, gaining: Flags | None
) -> _Pairs:
    """The same among those that share a partition; vectors are read in the order of their homes: few are copied."""
    members, centroids = cast("Members", tonight.members), cast("Centroids", tonight.centroids)
    order = torch.argsort(members.home, stable=True)
    by_home = order.numpy()
    place = np.empty_like(by_home)
    place[by_home] = np.arange(len(by_home))
    nearest = NearestLists(
        codes_at(likely(compared.codes), order),
        VectorsInOrder(compared.vectors, by_home),
        plan.depth,
        by_home,
        plan.threads,
    )
    if gaining is not None:
        nearest.floor[:] = torch.from_numpy(np.where(gaining, tonight.cut, -np.inf)[by_home])
    flags = None if gaining is None else torch.from_numpy(gaining[by_home])
    wanted = torch.from_numpy(np.sort(place[rows]))
    run_all(
        seek_in_partitions(nearest, wanted, Members(members.probes[order]), len(centroids.numbers), flags), plan.threads
    )
    owner, target, score = nearest.pairs()
    return _Pairs(by_home[owner], by_home[target], score)


def _merged(lists: Neighbourhood, pairs: _Pairs, changed: Flags) -> Neighbourhood:
    """`lists` with what was found; those that `changed` are closed up as well."""
    near = pairs.score >= lists.cut[pairs.owner]
    changed = changed.copy()
    changed[pairs.owner[near]] = True
    row, rank = np.nonzero((lists.positions >= 0) & changed[:, None])
    owner = np.concatenate([row, pairs.owner[near]])
    target = np.concatenate([lists.positions[row, rank], pairs.target[near]])
    score = np.concatenate([lists.scores[row, rank], pairs.score[near]])
    return _filled(lists, _Pairs(owner, target, score), np.flatnonzero(changed), lists.cut)


def _replaced(lists: Neighbourhood, pairs: _Pairs, rows: Positions) -> Neighbourhood:
    """`lists` with those of `rows` made of what was found alone."""
    cut = lists.cut.copy()
    cut[rows] = -np.inf
    return _filled(lists, pairs, rows, cut)


def _filled(lists: Neighbourhood, pairs: _Pairs, rows: Positions, cut: Floats) -> Neighbourhood:
    positions, scores, cut = lists.positions.copy(), lists.scores.copy(), cut.copy()
    positions[rows], scores[rows] = -1, -np.inf
    depth = positions.shape[1]
    order = np.arange(len(positions))
    owner, target, score, rank = best_of_owners(pairs.owner, pairs.target, pairs.score, order, depth)
    positions[owner, rank], scores[owner, rank] = target, score
    full = rows[positions[rows, -1] >= 0]
    cut[full] = scores[full, -1]
    return replace(lists, positions=positions, scores=scores, cut=cut)


def _too_short(lists: Neighbourhood, k: int) -> Flags:
    """Whose list is not known to have the best `k`: vectors at the cut may be missing."""
    known: Flags = (lists.scores > lists.cut[:, None]).sum(axis=1) >= k
    return ~known & ~np.isneginf(lists.cut)


def _ties_by_key(lists: Neighbourhood) -> Neighbourhood:
    """`lists` with equal scores in the order of tonight's keys, which may not be that of the last night."""
    same = (lists.scores[:, 1:] == lists.scores[:, :-1]) & (lists.positions[:, 1:] >= 0)
    rows = np.flatnonzero(same.any(axis=1))
    if len(rows) == 0:
        return lists
    row, rank = np.nonzero(lists.positions[rows] >= 0)
    row = rows[row]
    return _filled(lists, _Pairs(row, lists.positions[row, rank], lists.scores[row, rank]), rows, lists.cut)
