"""Tonight's partitions: centroids, reach and members, the same whatever was known before.

The true neighbours of a sample of vectors tell how far vectors visit partitions, and what recall that gives. The sample
is the last vectors in the order of their prints, so most of it is the same night after night, and so are its
neighbours: new vectors are compared with it, and those of it that are new with all.

A state keeps from night to night the vectors' prints, lists of neighbours and partitions: for each different vector 8
bytes a neighbour, a bit a partition, and 32 bytes besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from quern.indexes.night_state import NightStates
from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.centroids import Centroids, partition_count, train
from quern.jobs.graph.neighbours.codes import BLOCK, Codes, products
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists, Pairs
from quern.jobs.graph.neighbours.members import Members, assign
from quern.jobs.graph.neighbours.nearest_lists import NearestLists, ReadableVectors, seek_in_all
from quern.jobs.graph.neighbours.plan import Plan, Vectors
from quern.jobs.graph.neighbours.ranking import Flags, Prints, last_by_print
from quern.jobs.graph.neighbours.threads import parts, run_all


@dataclass(frozen=True)
class Layout:
    """Vectors in their partitions; the next night needs it to see what changed, not to partition its own."""

    members: Members  # Who is in which partition.
    truth: Truth  # True neighbours of a sample.
    # By how much less near than its home a partition may be that a vector visits; 0 of a night that is past.
    reach: float = 0.0

    def notes(self, lists: NeighbourLists, prints: Prints, k: int) -> dict[str, float]:
        """Figures of the partitions, and the recall of `lists`, measured on vectors that decided on nothing."""
        return {
            "partitions": float(self.members.partitions),
            "probes": round(self.members.visits / max(1, len(self.members)), 2),
            "reach": self.reach,
            "recall": recall(self.truth, ~for_reach(self.truth, prints), lists, k),
        }


@dataclass(frozen=True)
class Neighbourhood:
    """Neighbours of n different vectors."""

    prints: Prints  # What each vector is known by, shape (n, 2).
    lists: NeighbourLists  # Its neighbours.
    dimension: int  # Numbers of a vector.
    searched: int  # Vectors that were searched for.
    layout: Layout | None = None  # Their partitions; None where all were compared with all.
    notes: dict[str, float] = field(default_factory=dict)  # Figures for the report.


def lay_out(
    codes: Codes, vectors: Vectors, prints: Prints, plan: Plan, before: Layout | None = None, *places: Positions
) -> Layout:
    """The partitions of `vectors`, whose `codes` have likely margins.

    Args:
        codes: Of the vectors.
        vectors: The vectors.
        prints: What each is known by.
        plan: How neighbours are found.
        before: Those of the last night, if there are any.
        *places: With `before`, where each vector was then, and where each of that night's is; see `true_after_changes`.
    """
    count = min(plan.partitions or partition_count(len(codes)), len(codes))
    among = Searched(codes, vectors, prints, plan.k, plan.depth, plan.threads)
    size = 2 * plan.sample
    truth = true_after_changes(among, size, before.truth, *places) if before else true_neighbours(among, size)
    centroids = train(codes, prints, count, plan.threads)
    pairs = truth.pairs(for_reach(truth, prints), plan.k)
    reach = needed_reach(*pairs, codes, centroids, plan.recall)
    return Layout(assign(codes.numbers, centroids, reach, plan.threads), truth, reach)


# A reach is a multiple of this: that of tomorrow is the same but in one night of ten. On nodes it is .11 to .14.
_STEP = 0.01


@dataclass(frozen=True)
class Truth:
    """Vectors and their true neighbours."""

    rows: Positions  # Positions of the vectors, ascending.
    lists: NeighbourLists  # The neighbours of each.

    def pairs(self, chosen: Flags, k: int) -> tuple[Positions, Positions]:
        """(vector, neighbour) of the `k` nearest of the `chosen` vectors."""
        row, rank = np.nonzero((self.lists.positions[:, :k] >= 0) & chosen[:, None])
        return self.rows[row], self.lists.positions[row, rank]


@dataclass(frozen=True)
class Searched:
    """What true neighbours are sought among."""

    codes: Codes  # Of all vectors.
    vectors: ReadableVectors
    prints: Prints  # What each is known by.
    k: int  # Neighbours sought.
    depth: int  # Neighbours kept.
    threads: int  # Blocks compared at once.

    def nearest(self) -> NearestLists:
        """Lists that are to be filled."""
        return NearestLists(self.codes, self.vectors, self.depth, threads=self.threads)


def true_neighbours(among: Searched, size: int) -> Truth:
    """The true neighbours of a sample of so many vectors, or of all if there are fewer."""
    rows = sample(among.prints, size)
    lists = NeighbourLists.of_none(len(rows), among.depth)
    lists.replace(_in_all(among, rows, np.arange(len(rows))), np.arange(len(rows)))
    return Truth(rows, lists)


def true_after_changes(among: Searched, size: int, before: Truth, was: Positions, now: Positions) -> Truth:
    """The same from that of the last night.

    Args:
        among: What neighbours are sought among.
        size: Vectors of the sample.
        before: Last night's.
        was: Where each of tonight's vectors was; -1 where it is new.
        now: Where each of the last night's is, -1 where it went; one entry more, -1.
    """
    rows = sample(among.prints, size)
    there = np.full(len(now), -1, dtype=np.int64)
    there[before.rows] = np.arange(len(before.rows))
    source = np.where(was[rows] >= 0, there[was[rows]], -1)
    lists = before.lists.carried(source, now)
    # What those that were in the sample find among new vectors that is as near as what their lists have.
    known, new, pairs = np.flatnonzero(source >= 0), np.flatnonzero(was < 0), _NONE
    if len(known) and len(new):
        nearest = among.nearest()
        nearest.floor[rows[known]] = lists.cut[known]
        steps = [
            partial(nearest.compare, owners, columns, both=False)
            for columns in parts(new, 4 * BLOCK)
            for owners in parts(rows[known], BLOCK)
        ]
        run_all(steps, among.threads)
        pairs = _by_list(nearest, rows)
    lists.merge(pairs, lists.gaps)
    again = np.union1d(np.flatnonzero(source < 0), lists.too_short(among.k))
    lists.replace(_in_all(among, rows, again), again)
    lists.sort_ties()
    return Truth(rows, lists)


def sample(prints: Prints, size: int) -> Positions:
    """Positions of the last `size` vectors in the order of their prints, ascending."""
    return np.sort(last_by_print(prints, size))


def _in_all(among: Searched, rows: Positions, chosen: Positions) -> Pairs:
    """What the `chosen` of `rows` find among all."""
    if len(chosen) == 0:
        return _NONE
    nearest = among.nearest()
    run_all(seek_in_all(nearest, rows[chosen], len(among.codes), None), among.threads)
    return _by_list(nearest, rows)


_NONE = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))


def _by_list(nearest: NearestLists, rows: Positions) -> Pairs:
    """The pairs that were found, owners by their place among `rows`."""
    owner, target, score = nearest.pairs()
    return Pairs(np.searchsorted(rows, owner), target, score)


def for_reach(truth: Truth, prints: Prints) -> Flags:
    """Which of the sample decide on the reach; the others tell the recall."""
    chosen: Flags = (prints[truth.rows, 1] & np.uint64(1)).astype(np.bool_)
    return chosen


def needed_reach(owner: Positions, target: Positions, codes: Codes, centroids: Centroids, share: float) -> float:
    """The least reach by which the `share` of all pairs is likely found, in whole steps, by a sample of them.

    A standard error more of the sample is to be found: a reach that falls short by the luck of the draw costs recall.
    """
    if len(owner) == 0:
        return 0.0
    count = len(owner)
    near = products(codes.numbers[np.concatenate([owner, target])], centroids.numbers)
    home, every = near.argmax(1), np.arange(2 * count)
    # By how much each is less near to the home of the other than to its own.
    short = near[every, home] - near[every, np.roll(home, count)]
    least = np.sort(np.minimum(short[:count], short[count:]))
    surely = share + (share * (1 - share) / count) ** 0.5
    needed = int(least[min(count - 1, int(np.ceil(surely * count)) - 1)])
    return float(np.ceil(needed / centroids.unit / _STEP) * _STEP)


def recall(truth: Truth, chosen: Flags, found: NeighbourLists, k: int) -> float:
    """The share of true neighbours of the `chosen` vectors that is in their lists of `found`."""
    owner, target = truth.pairs(chosen, k)
    if len(owner) == 0:
        return 1.0
    return float((found.positions[owner, :k] == target[:, None]).any(axis=1).mean())


_Columns = dict[str, np.ndarray[tuple[int, ...], np.dtype[Any]]]


def write_state(folder: Path, name: str, neighbourhood: Neighbourhood) -> None:
    """Make `neighbourhood` the state `name` of `folder`."""
    columns: _Columns = {"prints": neighbourhood.prints, **_list_columns("", neighbourhood.lists)}
    about: dict[str, Any] = {"dimension": neighbourhood.dimension}
    if (layout := neighbourhood.layout) is not None:
        about["partitions"] = layout.members.partitions
        columns |= {"home": layout.members.home.astype(np.int32), "bits": layout.members.bits}
        columns |= {"sample": layout.truth.rows, **_list_columns("sample_", layout.truth.lists)}
    states = NightStates(folder)
    path = states.begin(name)
    for column, values in columns.items():
        np.save(path / f"{column}.npy", values, allow_pickle=False)
    states.commit(path, about)


def read_state(folder: Path) -> Neighbourhood | None:
    """The newest state of `folder` that is as it was written; None where there is none."""
    return NightStates(folder).newest(_read)


def _list_columns(prefix: str, lists: NeighbourLists) -> _Columns:
    few = int(lists.positions.max(initial=0)) < 1 << 31
    positions = lists.positions.astype(np.int32 if few else np.int64)
    return {f"{prefix}positions": positions, f"{prefix}scores": lists.scores, f"{prefix}cut": lists.cut}


def _lists(columns: _Columns, prefix: str) -> NeighbourLists:
    positions = columns[f"{prefix}positions"].astype(np.int64)
    return NeighbourLists(positions, columns[f"{prefix}scores"], columns[f"{prefix}cut"])


def _read(path: Path, about: Mapping[str, Any]) -> Neighbourhood:
    # Mapped, not copied: what changes is written to new arrays. Those mapped outlive the files.
    names = [name.removesuffix(".npy") for name in about["digests"]]
    columns = {name: np.load(path / f"{name}.npy", mmap_mode="c", allow_pickle=False) for name in names}
    layout = None
    if "partitions" in about:
        members = Members(columns["home"].astype(np.int64), columns["bits"], int(about["partitions"]))
        layout = Layout(members, Truth(columns["sample"], _lists(columns, "sample_")))
    return Neighbourhood(columns["prints"], _lists(columns, ""), int(about["dimension"]), 0, layout)
