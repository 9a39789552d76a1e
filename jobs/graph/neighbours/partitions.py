"""The self-join within partitions: near neighbours from a small share of all products.

Two vectors are compared where one is at home in a partition that the other is at home in or visits (as an inverted
file does, searched from both ends). A graph is thus a function of vectors, centroids and reach alone, and these are
functions of the vectors (`.centroids`, `.truth`). After a night only those are compared that did not meet before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.members import Fresh, Lists, Members
from quern.jobs.graph.neighbours.nearest_lists import NearestLists

_ROWS = 4096

Step = Callable[[], None]
_Flags = npt.NDArray[np.bool_]


def join_partitions(nearest: NearestLists, members: Members, among: range | None = None) -> Iterator[Step]:
    """Comparisons of vectors with those that they share a partition with.

    Args:
        nearest: Takes the pairs.
        members: Who is in which partition, in the order of their homes.
        among: The partitions to be joined; all if None.
    """
    among = range(members.partitions) if among is None else among
    at_home, visitors = members.residents(), members.visitors()
    # Those at home together first: most of the best are found there, and few of the others pass after that.
    for number in among:
        for rows in at_home[number].split(_ROWS):
            for columns in at_home[number].split(_ROWS):
                yield partial(nearest.compare, rows, columns, both=False)
    for number in among:
        keep = partial(_first_meeting, members, number)
        for rows in visitors[number].split(_ROWS):
            for columns in at_home[number].split(_ROWS):
                yield partial(nearest.compare, rows, columns, both=True, keep=keep)


def _first_meeting(members: Members, partition: int, owner: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Whether two vectors meet in `partition` first: they may visit each other's homes."""
    twice = members.share_home(owner, target) & members.share_home(target, owner)
    return ~twice | (torch.minimum(members.home[owner], members.home[target]) == partition)


def join_strangers(nearest: NearestLists, members: Members, fresh: Fresh) -> Iterator[Step]:
    """Comparisons of all that share a partition tonight and shared none last night.

    Args:
        nearest: Takes the pairs.
        members: Who is in which partition, in the order of their homes.
        fresh: What of that is new.
    """
    moved = fresh.moved.numpy()
    home, row = members.home.numpy(), torch.arange(len(members)).numpy()
    here = Lists.of(row[moved], home[moved], members.partitions)
    stayed = Lists.of(row[~moved], home[~moved], members.partitions)
    visitors = members.visitors()
    guest, host = fresh.pairs()
    away = home[guest] != host
    arrived = Lists.of(guest[away], host[away], members.partitions)
    acquaintances = _Acquaintances(members, fresh)
    for number in range(members.partitions):
        keep = partial(acquaintances.strangers, number)
        compare = partial(nearest.compare, keep=keep)
        others = torch.cat([stayed[number], visitors[number]]).sort().values
        for rows in here[number].split(_ROWS):
            for columns in here[number].split(_ROWS):
                yield partial(compare, rows, columns, both=False)
            for columns in others.split(_ROWS):
                yield partial(compare, rows, columns, both=True)
        for rows in arrived[number].split(_ROWS):
            for columns in stayed[number].split(_ROWS):
                yield partial(compare, rows, columns, both=True)


@dataclass(frozen=True)
class _Acquaintances:
    """Who met last night as tonight. In NumPy, whose steps cost a tenth where pairs are few, and blocks are many.

    Attributes:
        members: Who is in which partition.
        fresh: What of that is new.
    """

    members: Members
    fresh: Fresh

    def strangers(self, partition: int, owner: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Whether two vectors did not meet last night, and meet in `partition` first tonight."""
        one, other = owner.numpy(), target.numpy()
        home, moved = self.members.home.numpy(), self.fresh.moved.numpy()
        there, here = home[one], home[other]
        forth, forth_anew = self._visits(one, here)
        back, back_anew = self._visits(other, there)
        known = (forth & ~forth_anew & ~moved[other]) | (back & ~back_anew & ~moved[one])
        first = ~(forth & back) | (np.minimum(there, here) == partition)
        return torch.from_numpy(~known & first)

    def _visits(self, rows: Positions, partitions: Positions) -> tuple[_Flags, _Flags]:
        """Whether each of `rows` is in the partition beside it, and whether since tonight alone."""
        byte, mask = partitions >> 3, (128 >> (partitions & 7)).astype(np.uint8)
        now, anew = self.members.bits.numpy()[rows, byte] & mask, self.fresh.bits.numpy()[rows, byte] & mask
        return now > 0, anew > 0


def seek_in_partitions(nearest: NearestLists, rows: torch.Tensor, members: Members) -> Iterator[Step]:
    """Comparisons of `rows` with all that they share a partition with; these alone gain neighbours.

    Args:
        nearest: Takes the pairs.
        rows: Positions, ascending.
        members: Who is in which partition, in the order of their homes.
    """
    at_home, visitors, own = members.residents(), members.visitors(), members.at(rows)
    guest, host = own.pairs()
    guests = Lists.of(rows.numpy()[guest], host, members.partitions)
    hosts = Lists.of(rows.numpy(), own.home.numpy(), members.partitions)
    for number in range(members.partitions):
        for part in guests[number].split(_ROWS):
            for columns in at_home[number].split(_ROWS):
                yield partial(nearest.compare, part, columns, both=False)
    for number in range(members.partitions):
        keep = partial(_not_visited, members)
        for part in hosts[number].split(_ROWS):
            for columns in visitors[number].split(_ROWS):
                yield partial(nearest.compare, part, columns, both=False, keep=keep, raising=False)


def _not_visited(members: Members, owner: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Whether `owner` does not meet `target` at the other's home already."""
    return ~members.share_home(owner, target)
