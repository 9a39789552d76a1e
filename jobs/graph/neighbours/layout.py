"""Tonight's partitions: centroids, reach and members, the same whatever was known before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.centroids import LastRounds, partition_count, train
from quern.jobs.graph.neighbours.codes import Codes
from quern.jobs.graph.neighbours.kept_codes import KeptCodes
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists
from quern.jobs.graph.neighbours.members import Members, assign
from quern.jobs.graph.neighbours.plan import Partitioned, Plan
from quern.jobs.graph.neighbours.prints import Prints
from quern.jobs.graph.neighbours.threads import beside
from quern.jobs.graph.neighbours.truth import (
    Searched,
    for_reach,
    needed_reach,
    recall,
    true_after_changes,
    true_neighbours,
)
from quern.jobs.graph.neighbours.vectors_in_order import Vectors


@dataclass(frozen=True)
class Layout:
    """Vectors in their partitions.

    Attributes:
        partitioned: The partitions.
        reach: By how much less near than its home a partition may be that a vector visits.
    """

    partitioned: Partitioned
    reach: float

    @property
    def members(self) -> Members:
        """Who is in which partition."""
        return self.partitioned.members

    def notes(self, lists: NeighbourLists, prints: Prints, k: int) -> dict[str, float]:
        """Figures of the partitions, and the recall of `lists`, measured on vectors that decided on nothing."""
        truth, visits = self.partitioned.truth, self.members.visits
        return {
            "partitions": float(self.members.partitions),
            "probes": round(visits / max(1, len(self.members)), 2),
            "reach": self.reach,
            "recall": recall(truth, ~for_reach(truth, prints), lists, k),
        }


@dataclass(frozen=True)
class LastNight:
    """What is known of the last night.

    Attributes:
        partitioned: Its partitions.
        was: Where each of tonight's vectors was; -1 where it is new.
        now: Where each of the last night's is, -1 where it went; one entry more, -1.
        codes: Of its vectors, where they are at hand.
    """

    partitioned: Partitioned
    was: Positions
    now: Positions
    codes: KeptCodes | None = None

    @property
    def rounds(self) -> LastRounds | None:
        """Its rounds, if they can be taken up."""
        if self.codes is None:
            return None
        return LastRounds(self.partitioned.rounds, self.codes, self.was, np.flatnonzero(self.now[:-1] < 0))


def lay_out(codes: Codes, vectors: Vectors, prints: Prints, plan: Plan, before: LastNight | None) -> Layout:
    """The partitions of `vectors`, whose `codes` have likely margins."""
    count = min(plan.partitions or partition_count(len(codes)), len(codes))
    among = Searched(codes, _Read(vectors), prints, plan.k, plan.depth, plan.threads)
    size = 2 * plan.sample
    with beside(plan.threads) as start:
        if before is None:
            true = start(partial(true_neighbours, among, size))
            centroids = train(codes, prints, count, threads=plan.threads)
        else:
            last = before.partitioned
            true = start(partial(true_after_changes, among, size, last.truth, before.was, before.now))
            centroids = train(codes, prints, count, before.rounds, plan.threads)
        truth = true()
    pairs = truth.pairs(for_reach(truth, prints), plan.k)
    reach = needed_reach(*pairs, codes, centroids, plan.recall)
    members = assign(codes.numbers, centroids, reach, plan.threads)
    layout = Layout(Partitioned(centroids.rounds, members, truth), reach)
    if plan.laid_out is not None:
        kept = KeptCodes.of(codes, before.codes, before.was) if before else KeptCodes.of(codes)
        plan.laid_out(prints, layout.partitioned, kept)
    return layout


@dataclass(frozen=True)
class _Read:
    """Vectors that are read at positions, mapped or not."""

    vectors: Vectors

    def __getitem__(self, positions: Positions) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return np.asarray(self.vectors[positions])
