"""Who is in which partition: a vector is at home in one, and visits those that are nearly as near.

A partition is visited by vectors to which it is less near than their home by no more than a reach, the same for all.
So whether a vector visits a partition depends on it, its home's centroid and that partition's alone: where another
partition came or went, all others stay as they are. A vector amid its partition visits few and one between several
visits them all, which finds as much with a quarter fewer products than as many visits of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.centroids import Centroids, places_among
from quern.jobs.graph.neighbours.codes import products
from quern.jobs.graph.neighbours.join import run_all
from quern.jobs.graph.neighbours.prints import Prints

_ROWS = 4096
_MASKS = np.array([128, 64, 32, 16, 8, 4, 2, 1], dtype=np.uint8)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Lists:
    """Positions by partition, in one order within each."""

    positions: torch.Tensor
    ends: torch.Tensor

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, partition: int) -> torch.Tensor:
        return self.positions[self.ends[partition] : self.ends[partition + 1]]

    @classmethod
    def of(cls, row: Positions, partition: Positions, partitions: int) -> Lists:
        """Those of the pairs (`row`, `partition`), which are in the order of the rows."""
        # Small integers are sorted by their digits.
        small = partition.astype(np.uint16) if partitions <= 1 << 16 else partition
        order = np.argsort(small, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(partition, minlength=partitions))])
        return cls(torch.from_numpy(row[order]), torch.from_numpy(ends))


@dataclass(frozen=True)
class Members:
    """Who is in which partition.

    Attributes:
        home: Partition that each vector is at home in, shape (n,) int64.
        bits: Partitions that each vector visits, its home among them, a bit for each; shape (n, bytes) uint8.
        partitions: Their number.
    """

    home: torch.Tensor
    bits: torch.Tensor
    partitions: int

    def __len__(self) -> int:
        return len(self.home)

    def at(self, positions: torch.Tensor) -> Members:
        """Those of the vectors at `positions`."""
        return Members(self.home[positions], self.bits[positions], self.partitions)

    def visit(self, rows: torch.Tensor, partitions: torch.Tensor) -> torch.Tensor:
        """Whether each of `rows` is in the partition beside it."""
        return _bit(self.bits, rows, partitions)

    def share_home(self, owner: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Whether each owner visits its target's home."""
        return self.visit(owner, self.home[target])

    def meet(self, owner: Positions, target: Positions) -> Flags:
        """Whether the two are compared: one of them visits the other's home."""
        home = self.home.numpy()
        met = self._in(owner, home[target])
        rest = np.flatnonzero(~met)
        met[rest] = self._in(target[rest], home[owner[rest]])
        return met

    def _in(self, rows: Positions, partitions: Positions) -> Flags:
        """Whether each of `rows` is in the partition beside it."""
        bits = self.bits.numpy()
        byte = bits.reshape(-1)[rows * bits.shape[1] + (partitions >> 3)]
        there: Flags = byte & _MASKS[partitions & 7] > 0
        return there

    @property
    def visits(self) -> int:
        """Number of all visits, those at home among them."""
        return _ones(self.bits)

    def pairs(self) -> tuple[Positions, Positions]:
        """(vector, partition) of all visits, those at home among them, in the order of the vectors."""
        return _pairs(self.bits.numpy())

    def occupants(self) -> Occupants:
        """Those in each partition."""
        home = self.home.numpy()
        row, partition = self.pairs()
        away = partition != home[row]
        return Occupants(
            Lists.of(np.arange(len(self)), home, self.partitions),
            Lists.of(row[away], partition[away], self.partitions),
        )


@dataclass(frozen=True)
class Occupants:
    """Vectors by partition.

    Attributes:
        residents: Those at home in each.
        visitors: Those that visit each and are at home in another.
    """

    residents: Lists
    visitors: Lists


def assign(numbers: torch.Tensor, centroids: Centroids, reach: float, threads: int = 1) -> Members:
    """The partitions of coded vectors.

    Args:
        numbers: Codes, shape (n, width).
        centroids: Of the partitions.
        reach: By how much a centroid's cosine may fall short of the nearest one's.
        threads: Blocks compared at once.
    """
    count, short = len(numbers), int(np.ceil(reach * centroids.unit))
    home = np.empty(count, dtype=np.int64)
    bits = np.empty((count, -(-len(centroids) // 8)), dtype=np.uint8)

    def visit(start: int) -> None:
        part = slice(start, start + _ROWS)
        near = products(numbers[part].cpu(), centroids.numbers).numpy()
        home[part] = near.argmax(1)
        least = near[np.arange(len(near)), home[part]] - short
        bits[part] = np.packbits(near >= least[:, None], axis=1)

    run_all([partial(visit, start) for start in range(0, count, _ROWS)], threads)
    return Members(torch.from_numpy(home), torch.from_numpy(bits), len(centroids))


@dataclass(frozen=True)
class Fresh:
    """What is new in tonight's partitions.

    Attributes:
        moved: Whether a vector's home is not that of the last night, or it is new itself; shape (n,).
        bits: Visits that were not there last night, laid out as those of the members.
    """

    moved: Flags
    bits: torch.Tensor

    def arrivals(self, members: Members, place: Positions) -> Lists:
        """The vectors that visit each partition anew and are not at home in it, by a `place` of each."""
        guest, host = _pairs(self.bits.numpy())
        away = members.home.numpy()[guest] != host
        return Lists.of(place[guest[away]], host[away], members.partitions)

    @property
    def visits(self) -> int:
        """Number of all new visits."""
        return _ones(self.bits)


def fresh_since(members: Members, names: Prints, before: Members, known: Prints, was: Positions) -> Fresh:
    """What is new in `members`.

    Args:
        members: Tonight's.
        names: Names of their partitions.
        before: Those of the last night.
        known: Names of their partitions.
        was: Where each of tonight's vectors was then; -1 where it is new.
    """
    then = places_among(names, known)
    home = then[members.home.numpy()]
    moved = (was < 0) | (home < 0) | (before.home.numpy()[was] != home)
    runs = _runs(then)
    bits, width = np.empty(members.bits.shape, dtype=np.uint8), members.bits.shape[1]
    for start in range(0, len(was), _ROWS):
        part = slice(start, start + _ROWS)
        there = np.unpackbits(before.bits.numpy()[was[part]], axis=1)
        there[was[part] < 0] = 0
        had = np.zeros((len(there), 8 * width), dtype=np.uint8)
        for now, old, count in runs:
            had[:, now : now + count] = there[:, old : old + count]
        bits[part] = members.bits.numpy()[part] & ~np.packbits(had, axis=1)
    return Fresh(moved, torch.from_numpy(bits))


def _runs(then: Positions) -> list[tuple[int, int, int]]:
    """Partitions that follow each other tonight as they did: where they begin, where they began, how many they are."""
    now = np.flatnonzero(then >= 0)
    parts = np.split(now, np.flatnonzero((np.diff(now) != 1) | (np.diff(then[now]) != 1)) + 1)
    return [(int(part[0]), int(then[part[0]]), len(part)) for part in parts if len(part)]


def _bit(bits: torch.Tensor, rows: torch.Tensor, partitions: torch.Tensor) -> torch.Tensor:
    return (bits[rows, partitions >> 3] >> (7 - (partitions & 7)).to(torch.uint8)) & 1 > 0


def _pairs(bits: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> tuple[Positions, Positions]:
    """(row, bit) of the bits that are set, in the order of the rows."""
    flat = bits.reshape(-1)
    place = np.flatnonzero(flat)
    at, bit = np.nonzero(np.unpackbits(flat[place].reshape(-1, 1), axis=1))
    row, byte = np.divmod(place[at], max(1, bits.shape[1]))
    return row, byte * 8 + bit


def _ones(bits: torch.Tensor) -> int:
    return int(np.bitwise_count(bits.numpy()).sum(dtype=np.int64))
