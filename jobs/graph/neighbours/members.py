"""Who is in which partition: a vector is at home in one, and visits those that are nearly as near.

A partition is visited by vectors to which it is less near than their home by no more than a reach, the same for all.
So whether a vector visits a partition depends on it, its home's centroid and that partition's alone: where another
partition came or went, all others stay as they are. A vector amid its partition visits few and one between several
visits them all, which finds as much with a quarter fewer products than as many visits of each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.centroids import Centroids
from quern.jobs.graph.neighbours.codes import products
from quern.jobs.graph.neighbours.prints import Prints

_ROWS = 4096


@dataclass(frozen=True)
class Lists:
    """Positions by partition, ascending within each."""

    positions: torch.Tensor
    ends: torch.Tensor

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

    def meet(self, owner: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Whether the two are compared: one of them visits the other's home."""
        return self.share_home(owner, target) | self.share_home(target, owner)

    def pairs(self) -> tuple[Positions, Positions]:
        """(vector, partition) of all visits, those at home among them, in the order of the vectors."""
        return _pairs(self.bits.numpy())

    def residents(self) -> Lists:
        """Those at home in each partition."""
        return Lists.of(np.arange(len(self)), self.home.numpy(), self.partitions)

    def visitors(self) -> Lists:
        """Those that visit each partition and are at home in another."""
        row, partition = self.pairs()
        away = partition != self.home.numpy()[row]
        return Lists.of(row[away], partition[away], self.partitions)


def assign(numbers: torch.Tensor, centroids: Centroids, reach: float) -> Members:
    """The partitions of coded vectors.

    Args:
        numbers: Codes, shape (n, width).
        centroids: Of the partitions.
        reach: By how much a centroid's cosine may fall short of the nearest one's.
    """
    count, short = len(numbers), int(np.ceil(reach * centroids.unit))
    home = np.empty(count, dtype=np.int64)
    bits = np.empty((count, -(-len(centroids) // 8)), dtype=np.uint8)
    for start in range(0, count, _ROWS):
        part = slice(start, start + _ROWS)
        near = products(numbers[part].cpu(), centroids.numbers).numpy()
        home[part] = near.argmax(1)
        least = near[np.arange(len(near)), home[part]] - short
        bits[part] = np.packbits(near >= least[:, None], axis=1)
    return Members(torch.from_numpy(home), torch.from_numpy(bits), len(centroids))


@dataclass(frozen=True)
class Fresh:
    """What is new in tonight's partitions.

    Attributes:
        moved: Whether a vector's home is not that of the last night, or it is new itself; shape (n,).
        bits: Visits that were not there last night, laid out as those of the members.
    """

    moved: torch.Tensor
    bits: torch.Tensor

    def at(self, positions: torch.Tensor) -> Fresh:
        """What is new of the vectors at `positions`."""
        return Fresh(self.moved[positions], self.bits[positions])

    def pairs(self) -> tuple[Positions, Positions]:
        """(vector, partition) of all new visits, in the order of the vectors."""
        return _pairs(self.bits.numpy())


def fresh_since(members: Members, names: Prints, before: Members, known: Prints, was: Positions) -> Fresh:
    """What is new in `members`.

    Args:
        members: Tonight's.
        names: Names of their partitions.
        before: Those of the last night.
        known: Names of their partitions.
        was: Where each of tonight's vectors was then; -1 where it is new.
    """
    then = _named(names, known)
    old = torch.from_numpy(was.clip(0))
    home = then[members.home]
    moved = torch.from_numpy(was < 0) | (home < 0) | (before.home[old] != home)
    row, partition = (torch.from_numpy(p) for p in members.pairs())
    place = then[partition]
    stayed = torch.from_numpy(was >= 0)[row] & (place >= 0) & before.visit(old[row], place.clamp(min=0))
    row, partition = row[~stayed].numpy(), partition[~stayed].numpy()
    bits = np.zeros(members.bits.shape, dtype=np.uint8)
    np.bitwise_or.at(bits, (row, partition >> 3), (1 << (7 - (partition & 7))).astype(np.uint8))
    return Fresh(moved, torch.from_numpy(bits))


def _named(names: Prints, known: Prints) -> torch.Tensor:
    """Where each of `names` is among `known`; -1 where it is not."""
    places = {tuple(name): place for place, name in enumerate(known.tolist())}
    return torch.tensor([places.get(tuple(name), -1) for name in names.tolist()], dtype=torch.int64)


def _bit(bits: torch.Tensor, rows: torch.Tensor, partitions: torch.Tensor) -> torch.Tensor:
    return (bits[rows, partitions >> 3] >> (7 - (partitions & 7)).to(torch.uint8)) & 1 > 0


def _pairs(bits: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> tuple[Positions, Positions]:
    """(row, bit) of the bits that are set, in the order of the rows."""
    flat = bits.reshape(-1)
    place = np.flatnonzero(flat)
    at, bit = np.nonzero(np.unpackbits(flat[place].reshape(-1, 1), axis=1))
    row, byte = np.divmod(place[at], max(1, bits.shape[1]))
    return row, byte * 8 + bit
