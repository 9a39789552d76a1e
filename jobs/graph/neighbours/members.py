"""Who is in which partition: a vector is at home in one, and visits those that are nearly as near.

A partition is visited by vectors to which it is less near than their home by no more than a reach, the same for all.
A vector amid its partition visits few and one between several visits them all, which finds as much with a quarter fewer
products than as many visits of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.centroids import Centroids
from quern.jobs.graph.neighbours.codes import products
from quern.jobs.graph.neighbours.join import run_all

_ROWS = 1024
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
        left: Whether it visits a partition no more; shape (n,).
        bits: Visits that were not there last night, laid out as those of the members.
    """

    moved: Flags
    left: Flags
    bits: torch.Tensor

    def with_all_of(self, rows: Flags, members: Members) -> Fresh:
        """The same where all visits of `rows` are new as well."""
        bits, chosen = self.bits.clone(), torch.from_numpy(np.flatnonzero(rows))
        bits[chosen] = members.bits[chosen]
        return Fresh(self.moved | rows, self.left, bits)

    def arrivals(self, members: Members, place: Positions) -> Lists:
        """The vectors that visit each partition anew and are not at home in it, by a `place` of each."""
        guest, host = _pairs(self.bits.numpy())
        away = members.home.numpy()[guest] != host
        return Lists.of(place[guest[away]], host[away], members.partitions)

    @property
    def visits(self) -> int:
        """Number of all new visits."""
        return _ones(self.bits)


def fresh_since(members: Members, before: Members, was: Positions) -> Fresh:
    """What is new in `members`.

    Args:
        members: Tonight's.
        before: Those of the last night; a partition is the one of the same number, if there were as many.
        was: Where each of tonight's vectors was then; -1 where it is new.
    """
    if before.partitions != members.partitions:
        every = np.ones(len(members), dtype=np.bool_)
        return Fresh(every, every, members.bits)
    moved = (was < 0) | (before.home.numpy()[was] != members.home.numpy())
    then, now = before.bits.numpy()[was], members.bits.numpy()
    then[was < 0] = 0
    changed = np.flatnonzero((then != now).any(axis=1))
    left, bits = np.zeros(len(members), dtype=np.bool_), np.zeros_like(now)
    left[changed] = (then[changed] & ~now[changed]).any(axis=1)
    bits[changed] = now[changed] & ~then[changed]
    return Fresh(moved, left, torch.from_numpy(bits))


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
