"""Neighbours of tonight's vectors from those of the last night, at a cost that grows with what changed.

New vectors are compared with all, and enter the lists of others. A vector that went leaves a gap that the rest of the
list fills; only where a list became too short its owner is searched for again, where vectors are partitioned as if it
were new. Tonight's partitions are those that would be made from nothing: those that share one tonight and shared none
last night are compared, and those that share none any more leave each other's lists. What comes out is what a full
search finds, edge for edge (but for the rare product that is farther off than likely, `jobs.graph.neighbours.codes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.codes import Codes, codes_at, encode, likely
from quern.jobs.graph.neighbours.join import seek_in_all
from quern.jobs.graph.neighbours.kept_codes import encode_changed
from quern.jobs.graph.neighbours.kept_lists import Flags, NeighbourLists, Pairs
from quern.jobs.graph.neighbours.layout import LastNight, lay_out
from quern.jobs.graph.neighbours.members import Fresh, Members, Occupants, fresh_since
from quern.jobs.graph.neighbours.nearest_lists import Keep, NearestLists
from quern.jobs.graph.neighbours.partitions import join_strangers, newcomers_of
from quern.jobs.graph.neighbours.plan import Neighbourhood, Plan
from quern.jobs.graph.neighbours.prints import Prints, first_halves
from quern.jobs.graph.neighbours.ranking import begins, order_of
from quern.jobs.graph.neighbours.search import find_in_partitions, find_neighbours
from quern.jobs.graph.neighbours.sieve import Sieve
from quern.jobs.graph.neighbours.threads import beside, on_one_core, run_all
from quern.jobs.graph.neighbours.vectors_in_order import Vectors

_MOST_CHANGED = 0.3  # More new vectors, or visits, than this share cost as much as a full search.
_SLOTS = 3  # Powers of two by which slots are more than prints: one in sixteen shares its own at most.


@on_one_core()
def change(before: Neighbourhood | None, vectors: Vectors, prints: Prints, plan: Plan) -> Neighbourhood:
    """The neighbours of all of `vectors`, L2-normalised and all different."""
    if before is None or not _usable(before, vectors, plan):
        return find_neighbours(vectors, prints, plan)
    was = _matches(prints, before.prints)
    if (was < 0).mean() > _MOST_CHANGED:
        return find_neighbours(vectors, prints, plan)
    now = np.full(len(before.prints) + 1, -1, dtype=np.int64)
    now[was[was >= 0]] = np.flatnonzero(was >= 0)
    with beside(plan.threads) as start:
        carrying = start(partial(before.lists.carried, was, now))
        codes = _codes(vectors, before, was, plan)
        lists = carrying()
    if before.partitioned is None:
        searched = _among_all(lists, codes, vectors, was < 0, plan)
        return Neighbourhood(prints, lists, before.dimension, searched, None, {"searched": float(searched)})
    codes = likely(codes)
    layout = lay_out(codes, vectors, prints, plan, LastNight(before.partitioned, was, now, before.codes))
    with beside(plan.threads) as start:
        occupants = start(layout.members.occupants)
        fresh = fresh_since(layout.members, before.partitioned.members, was)
        changed = len(fresh.guest) / layout.members.visits
        if changed > _MOST_CHANGED:
            codes = codes_at(codes, layout.members.homeward)
            return find_in_partitions(layout, codes, vectors, prints, plan)
        lists.remove(_parted(lists, layout.members, fresh))
        anew = was < 0
        anew[lists.too_short(plan.k)] = True
        lists.empty(np.flatnonzero(anew))
        fresh = fresh.with_all_of(anew, layout.members)
    newcomers = newcomers_of(layout.members, fresh)
    since = _Since(occupants(), newcomers, before.partitioned.members, np.where(anew, -1, was))
    _in_partitions(lists, since, codes, vectors, plan)
    searched = int(anew.sum())
    notes = {"searched": float(searched), "fresh": round(changed, 4)} | layout.notes(lists, prints, plan.k)
    return Neighbourhood(prints, lists, before.dimension, searched, layout.partitioned, notes)


def _codes(vectors: Vectors, before: Neighbourhood, was: Positions, plan: Plan) -> Codes:
    if before.codes is None:
        return encode(vectors, "int8", threads=plan.threads)
    return encode_changed(vectors, before.codes, was, plan.threads)


def _usable(before: Neighbourhood, vectors: Vectors, plan: Plan) -> bool:
    """Whether tonight's lists can be made from `before`: they are as long, of such vectors, found in the same way."""
    if before.lists.depth != plan.depth or len(vectors) == 0 or len(before.prints) == 0:
        return False
    if before.dimension != np.asarray(vectors[0:1]).shape[1]:
        return False
    return (before.partitioned is None) == (len(vectors) < plan.exact_below)


def _matches(prints: Prints, known: Prints) -> Positions:
    """Where each of `prints` is among `known`, -1 where it is not; none occurs twice in either."""
    matches = np.full(len(prints), -1, dtype=np.int64)
    # Nearly all are found in the slot of a table; a sort of all takes three times as long. What shares a slot with
    # another is sorted, and what is in one of the two alone.
    shift = np.uint64(64 - len(known).bit_length() - _SLOTS)
    table = np.full(1 << int(64 - shift), -1, dtype=np.int32)
    table[known[:, 0] >> shift] = np.arange(len(known), dtype=np.int32)
    slot = table[prints[:, 0] >> shift]
    rows = np.flatnonzero(slot >= 0)
    rows = rows[(known[slot[rows]] == prints[rows]).all(axis=1)]
    matches[rows] = slot[rows]
    lone = np.ones(len(known), dtype=np.bool_)
    lone[slot[rows]] = False
    others, known_others = np.flatnonzero(matches < 0), np.flatnonzero(lone)
    at = _matches_by_order(prints[others], known[known_others])
    matches[others[at >= 0]] = known_others[at[at >= 0]]
    return matches


def _matches_by_order(prints: Prints, known: Prints) -> Positions:
    """The same, by a sort of both."""
    both = np.concatenate([known, prints])
    halves = first_halves(both)
    order = order_of(halves)
    same = ~begins(halves[order])[1:]
    if (same & begins(both[:, 1].take(order).view(np.int64))[1:]).any():  # Different vectors have one first half.
        order = np.lexsort((both[:, 1], both[:, 0]))
        same = (both[order[1:]] == both[order[:-1]]).all(axis=1)
    matches = np.full(len(prints), -1, dtype=np.int64)
    # Equal ones are in their own order, the known one first.
    at = np.flatnonzero(same)
    matches[order[at + 1] - len(known)] = order[at]
    return matches


def _among_all(lists: NeighbourLists, codes: Codes, vectors: Vectors, new: Flags, plan: Plan) -> int:
    """Compare new vectors with all, and let `lists` have what is found; how many vectors were searched for."""

    def search(rows: Positions, gaining: Flags | None) -> Pairs:
        nearest = NearestLists(codes, vectors, plan.depth, threads=plan.threads)
        if gaining is not None:
            nearest.floor[:] = np.where(gaining, lists.cut, -np.inf)
        run_all(seek_in_all(nearest, rows, len(codes), gaining), plan.threads)
        return Pairs(*nearest.pairs())

    found = search(np.flatnonzero(new), ~new) if new.any() else _NO_PAIRS
    lists.merge(found, new | lists.gaps)
    short = lists.too_short(plan.k)
    if len(short):
        lists.replace(search(short, None), short)
    lists.sort_ties()
    return int(new.sum()) + len(short)


_NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))


@dataclass(frozen=True)
class _Since:
    """Who meets whom since the last night.

    Attributes:
        occupants: Of tonight's partitions.
        newcomers: Those of them that were not there.
        before: Who was in which partition.
        was: Where each of tonight's vectors was; -1 where it is searched for.
    """

    occupants: Occupants
    newcomers: Occupants
    before: Members
    was: Positions


def _in_partitions(lists: NeighbourLists, since: _Since, codes: Codes, vectors: Vectors, plan: Plan) -> None:
    """Compare those that share a partition since tonight alone, and let `lists` have what is found."""
    new = since.was < 0
    nearest = NearestLists(codes, vectors, plan.depth, threads=plan.threads, repeated=True)
    nearest.floor[:] = lists.cut
    sieve = Sieve(nearest, codes, plan.depth, new, _strangers(since.before, since.was))
    run_all(join_strangers(sieve, since.occupants, since.newcomers), plan.threads)
    sieve.close()
    lists.merge(Pairs(*nearest.pairs()), new | lists.gaps)
    lists.sort_ties()


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


def _parted(lists: NeighbourLists, members: Members, fresh: Fresh) -> Positions:
    """Which neighbours share no partition with the owner of their list any more: one of the two went elsewhere.

    Their places are counted through all lists.
    """
    left = fresh.left | fresh.moved
    at = np.flatnonzero(left.take(lists.positions, mode="wrap") | left[:, None])
    owner, target = at // lists.depth, lists.positions.reshape(-1)[at]
    at, owner, target = (values[target >= 0] for values in (at, owner, target))
    return at[~members.meet(owner, target)]
