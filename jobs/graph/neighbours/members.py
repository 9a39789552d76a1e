"""Who is in which partition: a vector is at home in one, and visits those that are nearly as near.

A partition is visited by vectors to which it is less near than their home by no more than a reach, the same for all.
A vector amid its partition visits few and one between several visits them all, which finds as much with a quarter fewer
products than as many visits of each. Two vectors are compared where one is at home in a partition that the other is at
home in or visits (as an inverted file does, searched from both ends). A graph is thus a function of vectors, centroids
and reach alone, and these are functions of the vectors. After a night those are compared that did not meet before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.centroids import Centroids, folded
from quern.jobs.graph.neighbours.codes import BLOCK, SPAN, Numbers, products
from quern.jobs.graph.neighbours.nearest_lists import Keep, NearestLists
from quern.jobs.graph.neighbours.ranking import Flags
from quern.jobs.graph.neighbours.threads import parts, run_all, spans

_WORD = 8  # Bytes; bits are looked at by words.
_MASKS = np.array([128, 64, 32, 16, 8, 4, 2, 1], dtype=np.uint8)


@dataclass(frozen=True)
class Lists:
    """Positions by partition, in one order within each."""

    positions: Positions
    ends: Positions

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, partition: int) -> Positions:
        return self.positions[self.ends[partition] : self.ends[partition + 1]]

    @classmethod
    def of(cls, row: Positions, partition: Positions, partitions: int) -> Lists:
        """Those of the pairs (`row`, `partition`), which are in the order of the rows."""
        # Small integers are sorted by their digits.
        small = partition.astype(np.uint16) if partitions <= 1 << 16 else partition
        order = np.argsort(small, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(partition, minlength=partitions))])
        return cls(row[order], ends)


@dataclass(frozen=True)
class Members:
    """Who is in which partition."""

    home: Positions  # Partition that each vector is at home in, shape (n,) int64.
    # Partitions that each vector visits, its home among them, a bit for each; shape (n, bytes) uint8, whole words of 8
    # bytes.
    bits: npt.NDArray[np.uint8]
    partitions: int  # Their number.

    def __len__(self) -> int:
        return len(self.home)

    @cached_property
    def homeward(self) -> Positions:
        """The vectors' positions in the order of their homes, those of one home in their own."""
        return np.argsort(self.home, kind="stable")

    def at(self, positions: Positions) -> Members:
        """Those of the vectors at `positions`."""
        return Members(self.home[positions], self.bits[positions], self.partitions)

    def visit(self, rows: Positions, partitions: Positions) -> Flags:
        """Whether each of `rows` is in the partition beside it."""
        byte = self.bits.reshape(-1)[rows * self.bits.shape[1] + (partitions >> 3)]
        there: Flags = byte & _MASKS[partitions & 7] > 0
        return there

    def meet(self, owner: Positions, target: Positions) -> Flags:
        """Whether the two are compared: one of them visits the other's home."""
        met = self.visit(owner, self.home[target])
        rest = np.flatnonzero(~met)
        met[rest] = self.visit(target[rest], self.home[owner[rest]])
        return met

    @property
    def visits(self) -> int:
        """Number of all visits, those at home among them."""
        return int(np.bitwise_count(self.bits.view(np.uint64)).sum(dtype=np.int64))

    def pairs(self, rows: Positions | None = None) -> tuple[Positions, Positions]:
        """(vector, partition) of all visits, or those of `rows`, those at home among them, in their order."""
        words = self.bits.view(np.uint64)
        if rows is None:
            return _pairs(words)
        at, partition = _pairs(words[rows])
        return rows[at], partition

    def occupants(self) -> Occupants:
        """Those in each partition."""
        home, every = self.home, np.arange(len(self))
        away = self.bits.copy()
        away[every, home >> 3] &= ~_MASKS[home & 7]
        row, partition = _pairs(away.view(np.uint64))
        return Occupants(Lists.of(every, home, self.partitions), Lists.of(row, partition, self.partitions))


@dataclass(frozen=True)
class Occupants:
    """Vectors by partition."""

    residents: Lists  # Those at home in each.
    visitors: Lists  # Those that visit each and are at home in another.

    def __len__(self) -> int:
        return len(self.residents)


def assign(numbers: Numbers, centroids: Centroids, reach: float, threads: int = 1) -> Members:
    """The partitions of coded vectors.

    Args:
        numbers: Codes, shape (n, width).
        centroids: Of the partitions.
        reach: By how much a centroid's cosine may fall short of the nearest one's.
        threads: Blocks compared at once.
    """
    count, short = len(numbers), int(np.ceil(reach * centroids.unit))
    home = np.empty(count, dtype=np.int64)
    bits = np.zeros((count, -(-len(centroids) // (8 * _WORD)) * _WORD), dtype=np.uint8)

    whole = folded(centroids.numbers)

    def visit(span: slice) -> None:
        for start in range(span.start, span.stop, BLOCK):
            part = slice(start, min(start + BLOCK, span.stop))
            near = products(numbers[part], whole)
            home[part] = near.argmax(1)
            least = near[np.arange(len(near)), home[part]] - short
            there = near >= least[:, None]
            there[:, len(centroids) :] = False
            packed = np.packbits(there.reshape(-1)).reshape(len(near), -1)
            bits[part, : packed.shape[1]] = packed

    run_all([partial(visit, span) for span in spans(count, SPAN, threads)], threads)
    return Members(home, bits, len(centroids))


@dataclass(frozen=True)
class Fresh:
    """What is new in tonight's partitions."""

    moved: Flags  # Whether a vector's home is not that of the last night, or it is new itself; shape (n,).
    left: Flags  # Whether it visits a partition no more; shape (n,).
    guest: Positions  # Who visits a partition anew, home among them, in the order of the vectors; shape (visits,).
    host: Positions  # The partition.

    def with_all_of(self, rows: Flags, members: Members) -> Fresh:
        """The same where all visits of `rows` are new as well."""
        guest, host = members.pairs(np.flatnonzero(rows))
        others = ~rows[self.guest]
        guest, host = (np.concatenate(both) for both in ((self.guest[others], guest), (self.host[others], host)))
        return Fresh(self.moved | rows, self.left, guest, host)


def fresh_since(members: Members, before: Members, was: Positions) -> Fresh:
    """What is new in `members`.

    Args:
        members: Tonight's.
        before: Those of the last night; a partition is the one of the same number, if there were as many.
        was: Where each of tonight's vectors was then; -1 where it is new.
    """
    if before.partitions != members.partitions:
        every = np.ones(len(members), dtype=np.bool_)
        return Fresh(every, every, *members.pairs())
    moved = (was < 0) | (before.home[was] != members.home)
    then, now = (m.bits.view(np.uint64) for m in (before, members))
    other = was < 0
    other[np.flatnonzero(then.take(was, axis=0, mode="wrap") != now) // now.shape[1]] = True
    changed = np.flatnonzero(other)
    then, now = then[was[changed]], now[changed]
    then[was[changed] < 0] = 0
    left = np.zeros(len(members), dtype=np.bool_)
    left[changed] = (then & ~now).any(axis=1)
    guest, host = _pairs(now & ~then)
    return Fresh(moved, left, changed[guest], host)


def _pairs(words: npt.NDArray[np.uint64]) -> tuple[Positions, Positions]:
    """(row, bit) of the bits that are set, in the order of the rows; shape (rows, words)."""
    flat = words.reshape(-1)
    place = np.flatnonzero(flat)
    at, bit = np.nonzero(np.unpackbits(flat[place].view(np.uint8).reshape(-1, _WORD), axis=1))
    row, word = np.divmod(place[at], max(1, words.shape[1]))
    return row, word * 64 + bit


_SIDE = 4096
Step = Callable[[], None]


def join_partitions(nearest: NearestLists, members: Members) -> Iterator[Step]:
    """Comparisons of vectors with those that they share a partition with.

    Args:
        nearest: Takes the pairs.
        members: Who is in which partition, in the order of their homes.
    """
    occupants = members.occupants()
    at_home, visitors = occupants.residents, occupants.visitors
    # Those at home together first: most of the best are found there, and few of the others pass after that.
    for number in range(members.partitions):
        for rows in parts(at_home[number], _SIDE):
            for columns in parts(at_home[number], _SIDE):
                yield partial(nearest.compare, rows, columns, both=False)
    for number in range(members.partitions):
        keep = partial(_first_meeting, members, number)
        for rows in parts(visitors[number], _SIDE):
            for columns in parts(at_home[number], _SIDE):
                yield partial(nearest.compare, rows, columns, both=True, keep=keep)


def _first_meeting(members: Members, partition: int, owner: Positions, target: Positions) -> Flags:
    """Whether two vectors meet in `partition` first: they may visit each other's homes."""
    home = members.home
    twice = members.visit(owner, home[target]) & members.visit(target, home[owner])
    first: Flags = ~twice | (np.minimum(home[owner], home[target]) == partition)
    return first


def newcomers_of(members: Members, fresh: Fresh) -> Occupants:
    """What is new in tonight's partitions: who is at home or visits, and did not last night."""
    home, here = members.home, np.flatnonzero(fresh.moved)
    away = home[fresh.guest] != fresh.host
    return Occupants(
        Lists.of(here, home[here], members.partitions),
        Lists.of(fresh.guest[away], fresh.host[away], members.partitions),
    )


def join_strangers(nearest: NearestLists, keep: Keep, occupants: Occupants, newcomers: Occupants) -> Iterator[Step]:
    """Comparisons of all that share a partition tonight and shared none last night, and of some that did.

    Some are compared more than once; to tell before who met last night costs as much as to compare them. `keep` tells
    of the few pairs that are near.
    """
    for number in range(len(occupants)):
        come, away = newcomers.residents[number], newcomers.visitors[number]
        for rows in parts(np.sort(np.concatenate([come, away])), _SIDE):
            for columns in parts(occupants.residents[number], _SIDE):
                yield partial(nearest.compare, rows, columns, both=True, keep=keep)
        for rows in parts(come, _SIDE):
            for columns in parts(occupants.visitors[number], _SIDE):
                yield partial(nearest.compare, rows, columns, both=True, keep=keep)
