"""How neighbours are to be found, and what was found: the border between the search and the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quern.indexes.vectors import Floats, Positions, Rows
from quern.jobs.graph.neighbours.centroids import Prints
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists
from quern.jobs.graph.neighbours.members import Members
from quern.jobs.graph.neighbours.truth import Truth

Spread = Callable[[Callable[[Any], Any], Iterable[Any], Callable[[Any], int]], Iterator[Any]]


@dataclass(frozen=True)
class VectorsInOrder:
    """Some vectors of a matrix, memory-mapped perhaps, in an order of their own; read as they are sliced or taken."""

    matrix: Vectors
    order: Positions

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, positions: slice | Positions) -> Floats:
        return np.asarray(self.matrix[self.order[positions]])


Vectors = Floats | VectorsInOrder


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

    @property
    def depth(self) -> int:
        """Neighbours kept of each vector: one more than are wanted, or the last one's ties would be unknown."""
        return self.k + max(1, self.spare)


@dataclass(frozen=True)
class Partitioned:
    """How vectors were partitioned; the next night needs to know it to see what changed, not to partition its own.

    Attributes:
        names: Prints of the partitions' landmarks, shape (partitions, 2).
        members: Who is in which.
        truth: True neighbours of a sample.
    """

    names: Prints
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
    """

    prints: Prints
    lists: NeighbourLists
    dimension: int
    searched: int
    partitioned: Partitioned | None = None
    notes: dict[str, float] = field(default_factory=dict)


def vector_prints(vectors: Rows, threads: int = 1, block: int = 1024) -> Prints:
    """128 bits that tell different vectors apart, shape (n, 2): two sums of products with random odd numbers.

    Words are mixed first: a product's low bits know nothing of its factors' high ones, where signs stand.
    """
    prints = np.zeros((len(vectors), 2), dtype=np.uint64)
    width = -(-np.asarray(vectors[0:1]).shape[1] // 2)
    odd = np.random.default_rng(width).integers(0, 1 << 63, (3, width), np.uint64) * 2 + 1

    def make(start: int) -> None:
        rows = np.asarray(vectors[slice(start, start + block)], dtype=np.float32)
        rows = np.ascontiguousarray(np.pad(rows, ((0, 0), (0, 1))) if rows.shape[1] % 2 else rows)
        words = rows.view(np.uint64)
        mixed = words >> np.uint64(32)
        mixed ^= words
        mixed *= odd[2]
        mixed ^= mixed >> np.uint64(29)
        prints[start : start + block, 0] = np.einsum("ij,j->i", mixed, odd[0])
        prints[start : start + block, 1] = np.einsum("ij,j->i", mixed, odd[1])

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(make, range(0, len(vectors), block)):
            pass
    return prints
