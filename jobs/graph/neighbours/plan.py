"""How neighbours are to be found, and what was found: the border between the search and the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from quern.jobs.graph.neighbours.centroids import Rounds
from quern.jobs.graph.neighbours.kept_codes import KeptCodes
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists
from quern.jobs.graph.neighbours.members import Members
from quern.jobs.graph.neighbours.prints import Prints
from quern.jobs.graph.neighbours.truth import Truth

Spread = Callable[[Callable[[Any], Any], Iterable[Any], Callable[[Any], int]], Iterator[Any]]


@dataclass(frozen=True)
class Plan:
    """How neighbours are to be found.

    Attributes:
        k: Neighbours asked for.
        spare: Further ones kept; changes no result.
        exact_below: Fewer vectors than this are compared all with all.
        recall: Share of true neighbours that partitions are to find.
        partitions: Their number; 0 for one that suits.
        sample: Vectors on which recall is measured, and as many that decide how far vectors visit partitions.
        threads: Blocks compared at once; changes no result.
        device: `cpu` or `cuda`; changes no result.
        spread: Does a function of each of many items, of so many bytes, on several machines, in any order; None for
            this process alone. Changes no result.
        laid_out: Is told of the vectors' prints, partitions and codes as soon as they are known. Changes no result.
    """

    k: int
    spare: int = 4
    exact_below: int = 200_000
    recall: float = 0.99
    partitions: int = 0
    sample: int = 1000
    threads: int = 1
    device: str = "cpu"
    spread: Spread | None = None
    laid_out: Callable[[Prints, Partitioned, KeptCodes], object] | None = None

    @property
    def depth(self) -> int:
        """Neighbours kept of each vector: one more than are wanted, or the last one's ties would be unknown."""
        return self.k + max(1, self.spare)


@dataclass(frozen=True)
class Partitioned:
    """How vectors were partitioned; the next night needs to know it to see what changed, not to partition its own.

    Attributes:
        rounds: What made their centroids.
        members: Who is in which.
        truth: True neighbours of a sample.
    """

    rounds: Rounds
    members: Members
    truth: Truth


@dataclass(frozen=True)
class Neighbourhood:
    """Neighbours of n different vectors.

    Attributes:
        prints: What each vector is known by, shape (n, 2).
        lists: Its neighbours.
        dimension: Numbers of a vector.
        searched: Vectors that were searched for.
        partitioned: Their partitions; None where all were compared with all.
        notes: Figures for the report.
        codes: Of the vectors that are in partitions, where they are at hand; they change no result.
    """

    prints: Prints
    lists: NeighbourLists
    dimension: int
    searched: int
    partitioned: Partitioned | None = None
    notes: dict[str, float] = field(default_factory=dict)
    codes: KeptCodes | None = None
