"""Each vector's nearest neighbours: in full, exactly or by partitions with a measured recall; or from the last night's.

After a night the cost grows with what changed. New vectors are compared with all, and enter the lists of others. A
vector that went leaves a gap that the rest of the list fills; only where a list became too short its owner is searched
for again, where vectors are partitioned as if it were new. Tonight's partitions are those that would be made from
nothing: those that share one tonight and shared none last night are compared, and those that share none any more leave
each other's lists. What comes out is what a full search finds, edge for edge (but for the rare product that is farther
off than likely, `.codes`).
"""

from __future__ import annotations

import numpy as np

from quern.indexes.vectors import Neighbours, Positions
from quern.jobs.graph.neighbours.centroids import homes, train
from quern.jobs.graph.neighbours.codes import Codes, codes_at, encode, likely
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists, Pairs
from quern.jobs.graph.neighbours.layout import Layout, Neighbourhood, lay_out
from quern.jobs.graph.neighbours.members import (
    Members,
    fresh_since,
    join_partitions,
    join_strangers,
    newcomers_of,
)
from quern.jobs.graph.neighbours.nearest_lists import Keep, NearestLists, join_all, seek_in_all
from quern.jobs.graph.neighbours.plan import Plan, Vectors, VectorsInOrder
from quern.jobs.graph.neighbours.ranking import Flags, Prints, matches
from quern.jobs.graph.neighbours.threads import on_one_core, run_all


@on_one_core()
def find_neighbours(vectors: Vectors, prints: Prints, plan: Plan) -> Neighbourhood:
    """The neighbours of all of `vectors`, L2-normalised and all different, from nothing."""
    codes = encode(vectors, threads=plan.threads)
    if len(vectors) >= plan.exact_below:
        codes = likely(codes)
        return _find_in_partitions(lay_out(codes, vectors, prints, plan), codes, vectors, prints, plan)
    centroids = train(codes, prints, max(1, int(len(codes) ** 0.5 / 2)), plan.threads)
    order = np.argsort(homes(codes.numbers, centroids.numbers, plan.threads), kind="stable")
    nearest = NearestLists(codes_at(codes, order), VectorsInOrder(vectors, order), plan.depth, order, plan.threads)
    join_all(nearest, len(codes), plan.threads)
    return Neighbourhood(prints, _in_place(nearest.neighbours(), order), _dimension(vectors), len(vectors))


def _find_in_partitions(layout: Layout, codes: Codes, vectors: Vectors, prints: Prints, plan: Plan) -> Neighbourhood:
    """The same, of those that share a partition of `layout`, compared in the order of their homes."""
    order = layout.members.homeward
    codes, ordered, members = codes_at(codes, order), VectorsInOrder(vectors, order), layout.members.at(order)
    nearest = NearestLists(codes, ordered, plan.depth, order, plan.threads)
    run_all(join_partitions(nearest, members), plan.threads)
    lists = _in_place(nearest.neighbours(), order)
    notes = layout.notes(lists, prints, plan.k)
    return Neighbourhood(prints, lists, _dimension(vectors), len(vectors), layout, notes)


def _in_place(near: Neighbours, order: Positions) -> NeighbourLists:
    """Lists in the order of the vectors, from those in another `order`."""
    positions, scores = np.empty_like(near.positions), np.empty_like(near.similarities)
    positions[order] = np.where(near.positions >= 0, order[near.positions], -1)
    scores[order] = near.similarities
    return NeighbourLists.of(positions, scores)


def _dimension(vectors: Vectors) -> int:
    return int(np.asarray(vectors[0:1]).shape[1])


_MOST_CHANGED = 0.3  # More new vectors, or visits, than this share cost as much as a full search.


@on_one_core()
def change(before: Neighbourhood | None, vectors: Vectors, prints: Prints, plan: Plan) -> Neighbourhood:
    """The neighbours of all of `vectors`, L2-normalised and all different, from those of the last night."""
    if before is None or len(vectors) == 0 or len(before.prints) == 0:
        return find_neighbours(vectors, prints, plan)
    # Tonight's lists can be made from those that are as long, of such vectors, found in the same way.
    same = (before.lists.depth, before.dimension, before.layout is None)
    if same != (plan.depth, _dimension(vectors), len(vectors) < plan.exact_below):
        return find_neighbours(vectors, prints, plan)
    was = matches(prints, before.prints)
    if (was < 0).mean() > _MOST_CHANGED:
        return find_neighbours(vectors, prints, plan)
    now = np.full(len(before.prints) + 1, -1, dtype=np.int64)
    now[was[was >= 0]] = np.flatnonzero(was >= 0)
    lists, codes = before.lists.carried(was, now), encode(vectors, threads=plan.threads)
    if before.layout is None:
        searched = _among_all(lists, codes, vectors, was < 0, plan)
        return Neighbourhood(prints, lists, before.dimension, searched, None, {"searched": float(searched)})
    codes = likely(codes)
    layout = lay_out(codes, vectors, prints, plan, before.layout, was, now)
    fresh = fresh_since(layout.members, before.layout.members, was)
    changed = len(fresh.guest) / layout.members.visits
    if changed > _MOST_CHANGED:
        return _find_in_partitions(layout, codes, vectors, prints, plan)
    # Neighbours that share no partition with the owner of their list any more: one of the two went elsewhere.
    left = fresh.left | fresh.moved
    at = np.flatnonzero(left.take(lists.positions, mode="wrap") | left[:, None])
    owner, target = at // lists.depth, lists.positions.reshape(-1)[at]
    at, owner, target = (values[target >= 0] for values in (at, owner, target))
    lists.remove(at[~layout.members.meet(owner, target)])
    anew = was < 0
    anew[lists.too_short(plan.k)] = True
    lists.empty(np.flatnonzero(anew))
    # Compared are those that share a partition since tonight alone.
    newcomers = newcomers_of(layout.members, fresh.with_all_of(anew, layout.members))
    nearest = NearestLists(codes, vectors, plan.depth, threads=plan.threads, repeated=True)
    nearest.floor[:] = lists.cut
    keep = _strangers(before.layout.members, np.where(anew, -1, was))
    run_all(join_strangers(nearest, keep, layout.members.occupants(), newcomers), plan.threads)
    lists.merge(Pairs(*nearest.pairs()), anew | lists.gaps)
    lists.sort_ties()
    searched = int(anew.sum())
    notes = {"searched": float(searched), "fresh": round(changed, 4)} | layout.notes(lists, prints, plan.k)
    return Neighbourhood(prints, lists, before.dimension, searched, layout, notes)


def _among_all(lists: NeighbourLists, codes: Codes, vectors: Vectors, new: Flags, plan: Plan) -> int:
    """Compare new vectors with all, and let `lists` have what is found; how many vectors were searched for."""

    def search(rows: Positions, gaining: Flags | None) -> Pairs:
        nearest = NearestLists(codes, vectors, plan.depth, threads=plan.threads)
        if gaining is not None:
            nearest.floor[:] = np.where(gaining, lists.cut, -np.inf)
        run_all(seek_in_all(nearest, rows, len(codes), gaining), plan.threads)
        return Pairs(*nearest.pairs())

    pairs = search(np.flatnonzero(new), ~new) if new.any() else _NO_PAIRS
    lists.merge(pairs, new | lists.gaps)
    short = lists.too_short(plan.k)
    if len(short):
        lists.replace(search(short, None), short)
    lists.sort_ties()
    return int(new.sum()) + len(short)


_NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))


def _strangers(before: Members, was: Positions) -> Keep:
    """Tells of pairs whether they did not meet last night: of those that did, the lists know.

    Args:
        before: Who was in which partition.
        was: Where each vector was; -1 where all that it meets count.
    """

    def apart(owner: Positions, target: Positions) -> Flags:
        one, other = was[owner], was[target]
        known = np.flatnonzero((one >= 0) & (other >= 0))
        strange = np.ones(len(one), dtype=np.bool_)
        strange[known] = ~before.meet(one[known], other[known])
        return strange

    return apart
