"""The self-join within partitions: near neighbours from a small share of all products.

Two vectors are compared where one is at home in a partition that the other is at home in or visits (as an inverted
file does, searched from both ends). A graph is thus a function of vectors, centroids and reach alone, and these are
functions of the vectors (`.centroids`, `.truth`). After a night only those are compared that did not meet before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch

from quern.jobs.graph.neighbours.members import Fresh, Lists, Members
from quern.jobs.graph.neighbours.nearest_lists import NearestLists

_ROWS = 4096

Step = Callable[[], None]


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
    for number in range(members.partitions):
        keep = partial(_strangers, members, fresh, number)
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


def _strangers(
    members: Members, fresh: Fresh, partition: int, owner: torch.Tensor, target: torch.Tensor
) -> torch.Tensor:
    """Whether two vectors did not meet last night, and meet in `partition` first tonight."""
    known = _met(members, fresh, owner, target) | _met(members, fresh, target, owner)
    return ~known & _first_meeting(members, partition, owner, target)


def _met(members: Members, fresh: Fresh, guest: torch.Tensor, host: torch.Tensor) -> torch.Tensor:
    """Whether `guest` visited the home of `host` last night as it does tonight."""
    home = members.home[host]
    return members.visit(guest, home) & ~fresh.visits(guest, home) & ~fresh.moved[host]


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
