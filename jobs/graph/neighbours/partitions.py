"""Partitions of vectors, and the self-join within them: near neighbours from a small share of all products.

Spherical k-means makes the partitions. A vector's home is the partition whose centroid is nearest; it is also a
visitor of the next nearest, `probes` in all. Two vectors are compared where one is at home in a partition that the
other is at home in or visits (as an inverted file does, searched from both ends). Centroids and assignments are made
of 8-bit codes by integer products, so they are the same on every machine, and a graph is a function of vectors and
centroids alone.

How many partitions are visited is measured, not guessed: on a sample whose true neighbours are known, the fewest that
find the wanted share. Another sample tells the recall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.codes import Codes, products
from quern.jobs.graph.neighbours.nearest_lists import NearestLists

_TRAINED_ON = 96  # Vectors per partition (faiss takes 39 to 256): half as many give partitions of less equal size.
_ROUNDS = 6
_ROWS = 4096
_SUMMED = 512


@dataclass(frozen=True)
class Centroids:
    """What partitions are made of.

    Attributes:
        numbers: Codes of the centroids, shape (partitions, width) int8.
        scale: Scale of the codes of the vectors that are assigned.
        probes: Partitions that a vector is sought in.
        trained_on: Vectors there were when the partitions were made.
    """

    numbers: torch.Tensor
    scale: float
    probes: int
    trained_on: int


def train(codes: Codes, count: int) -> Centroids:
    """Centroids of `count` partitions of the coded vectors."""
    size = min(len(codes), _TRAINED_ON * count)
    sample = codes.numbers[spaced(len(codes), size)].cpu()
    numbers = sample[spaced(size, count)].clone()
    for _ in range(_ROUNDS):
        home = nearest_centroids(sample, numbers, 1).squeeze(1)
        # Sums of integers do not depend on their order.
        total = torch.zeros(numbers.shape, dtype=torch.int32)
        for part, at in zip(sample.split(_SUMMED), home.split(_SUMMED), strict=True):
            total.index_add_(0, at, part.int())
        mean = total.double()
        mean *= 127 / mean.abs().amax(dim=1, keepdim=True).clamp(min=1)
        # All of one length, so that the largest product is the largest cosine.
        length = torch.linalg.vector_norm(mean, dim=1, keepdim=True).clamp(min=1)
        mean *= length[length > 1].min() / length if (length > 1).any() else 1.0
        filled = torch.bincount(home, minlength=len(numbers)) > 0
        numbers[filled] = mean.round().to(torch.int8)[filled]
    return Centroids(numbers, codes.scale, 1, len(codes))


def spaced(count: int, most: int) -> torch.Tensor:
    """At most `most` positions among `count`, evenly spaced, the first and the last among them."""
    size = min(count, most)
    return torch.arange(size) * (count - 1) // max(1, size - 1)


def nearest_centroids(numbers: torch.Tensor, centroids: torch.Tensor, count: int) -> torch.Tensor:
    """The `count` nearest centroids of each code, the nearest first; shape (n, count) int64.

    What is found for a code depends on it and the centroids alone, where two are equally near too.
    """
    found = torch.empty((len(numbers), count), dtype=torch.int64)
    for start in range(0, len(numbers), _ROWS):
        part = slice(start, start + _ROWS)
        near = products(numbers[part].cpu(), centroids)
        found[part] = near.argmax(1, keepdim=True) if count == 1 else near.topk(count, dim=1).indices
    return found


@dataclass(frozen=True)
class Members:
    """Who is in which partition.

    Attributes:
        probes: Partitions of each vector, its home first; shape (n, probes) int32.
    """

    probes: torch.Tensor

    @property
    def home(self) -> torch.Tensor:
        """Partition that each vector is at home in, shape (n,)."""
        return self.probes[:, 0]

    def lists(self, columns: slice, partitions: int) -> Lists:
        """The vectors of each partition, by these columns of `probes`."""
        flat = self.probes[:, columns]
        order = torch.argsort(flat.reshape(-1), stable=True)
        ends = torch.cumsum(torch.bincount(flat.reshape(-1), minlength=partitions), 0)
        return Lists(order // max(1, flat.shape[1]), torch.cat([torch.zeros(1, dtype=torch.int64), ends]))

    def share_home(self, owner: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Whether each target's home is among its owner's partitions."""
        return (self.probes[owner] == self.home[target][:, None]).any(1)


@dataclass(frozen=True)
class Lists:
    """Positions by partition, ascending within each."""

    positions: torch.Tensor
    ends: torch.Tensor

    def __getitem__(self, partition: int) -> torch.Tensor:
        return self.positions[self.ends[partition] : self.ends[partition + 1]]


def assign(numbers: torch.Tensor, centroids: Centroids) -> Members:
    """The partitions of coded vectors."""
    count = min(centroids.probes, len(centroids.numbers))
    return Members(nearest_centroids(numbers, centroids.numbers, count).int())


Step = Callable[[], None]


def join_partitions(
    nearest: NearestLists, members: Members, partitions: int, among: range | None = None
) -> Iterator[Step]:
    """Comparisons of vectors with those that they share a partition with.

    Args:
        nearest: Takes the pairs.
        members: Who is in which partition, in the order of their homes.
        partitions: Their number.
        among: The partitions to be joined; all if None.
    """
    among = range(partitions) if among is None else among
    at_home, visitors = members.lists(slice(0, 1), partitions), members.lists(slice(1, None), partitions)
    # Those at home together first: most of the best are found there, and few of the others pass after that.
    for number in among:
        for rows in at_home[number].split(_ROWS):
            for columns in at_home[number].split(_ROWS):
                yield partial(nearest.compare, rows, columns, both=False)
    for number in among:
        own, guests = at_home[number], visitors[number]
        keep = partial(_first_meeting, members, number)
        for rows in guests.split(_ROWS):
            for columns in own.split(_ROWS):
                yield partial(nearest.compare, rows, columns, both=True, keep=keep)


def _first_meeting(members: Members, partition: int, owner: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Whether two vectors meet in `partition` first: they may visit each other's homes."""
    twice = members.share_home(owner, target) & members.share_home(target, owner)
    return ~twice | (torch.minimum(members.home[owner], members.home[target]) == partition)


def seek_in_partitions(
    nearest: NearestLists, rows: torch.Tensor, members: Members, partitions: int, gaining: torch.Tensor | None
) -> Iterator[Step]:
    """Comparisons of `rows` with all that they share a partition with; `gaining`: columns that gain neighbours.

    Args:
        nearest: Takes the pairs.
        rows: Positions, ascending.
        members: Who is in which partition, in the order of their homes.
        partitions: Their number.
        gaining: A flag for each vector; None if columns gain nothing.
    """
    compare = partial(nearest.compare, both=gaining is not None, gaining=gaining)
    at_home = members.lists(slice(0, 1), partitions)
    guests = Members(members.probes[rows]).lists(slice(0, None), partitions)
    for number in range(partitions):
        for part in rows[guests[number]].split(_ROWS):
            for columns in at_home[number].split(_ROWS):
                yield partial(compare, part, columns)
    for number, hosts in enumerate(_hosts(rows, members, partitions)):
        keep = partial(_visits, members, number)
        for part in hosts.split(_ROWS):
            for columns in at_home[number].split(_ROWS):
                yield partial(compare, part, columns, keep=keep, raising=False)


def _hosts(rows: torch.Tensor, members: Members, partitions: int) -> Iterator[torch.Tensor]:
    """For each partition those of `rows` that do not visit it, but that any at home there may visit."""
    visited = torch.zeros((partitions, partitions), dtype=torch.bool)
    visited[members.home.long()[:, None], members.probes.long()] = True
    probes = members.probes[rows]
    home = probes[:, 0].long()
    for number in range(partitions):
        yield rows[visited[number, home] & ~(probes == number).any(1)]


def _visits(members: Members, number: int, owner: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Whether the one of two vectors that is at home in partition `number` visits the home of the other."""
    resident = members.home[owner] == number
    guest, host = torch.where(resident, owner, target), torch.where(resident, target, owner)
    return members.share_home(guest, host)


@dataclass(frozen=True)
class Sample:
    """Some vectors and their true neighbours: pairs of positions, of one length."""

    owner: Positions
    target: Positions


def needed_probes(sample: Sample, codes: Codes, centroids: Centroids) -> Positions:
    """For each true pair the fewest probes by which it is found, shape (pairs,)."""
    ends = [codes.numbers[torch.from_numpy(p)] for p in (sample.owner, sample.target)]
    homes = [nearest_centroids(numbers, centroids.numbers, 1).squeeze(1) for numbers in ends]
    ranks = [_rank(ends[0], homes[1], centroids), _rank(ends[1], homes[0], centroids)]
    needed: Positions = torch.minimum(*ranks).numpy() + 1
    return needed


def _rank(numbers: torch.Tensor, partition: torch.Tensor, centroids: Centroids) -> torch.Tensor:
    """How many centroids are nearer to each code than that of the given partition."""
    found = products(numbers.cpu(), centroids.numbers).long() * len(centroids.numbers)
    found -= torch.arange(len(centroids.numbers))
    return (found > found.gather(1, partition[:, None])).sum(1)


def calibrate(centroids: Centroids, needed: Positions, recall: float) -> Centroids:
    """Centroids with the fewest probes that find the share `recall` of the pairs."""
    if len(needed) == 0:
        return centroids
    probes = int(np.sort(needed)[min(len(needed) - 1, int(np.ceil(recall * len(needed))) - 1)])
    return replace(centroids, probes=probes)
