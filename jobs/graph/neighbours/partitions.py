"""The self-join within partitions: near neighbours from a small share of all products.

Two vectors are compared where one is at home in a partition that the other is at home in or visits (as an inverted
file does, searched from both ends). A graph is thus a function of vectors, centroids and reach alone, and these are
functions of the vectors (`.centroids`, `.truth`). After a night those are compared that did not meet before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.members import Flags, Fresh, Lists, Members, Occupants
from quern.jobs.graph.neighbours.nearest_lists import NearestLists
from quern.jobs.graph.neighbours.sieve import Sieve
from quern.jobs.graph.neighbours.threads import parts

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
    occupants = members.occupants()
    at_home, visitors = occupants.residents, occupants.visitors
    # Those at home together first: most of the best are found there, and few of the others pass after that.
    for number in among:
        for rows in parts(at_home[number], _ROWS):
            for columns in parts(at_home[number], _ROWS):
                yield partial(nearest.compare, rows, columns, both=False)
    for number in among:
        keep = partial(_first_meeting, members, number)
        for rows in parts(visitors[number], _ROWS):
            for columns in parts(at_home[number], _ROWS):
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


def join_strangers(sieve: Sieve, occupants: Occupants, newcomers: Occupants) -> Iterator[Step]:
    """Comparisons of all that share a partition tonight and shared none last night, and of some that did.

    Some are compared more than once; to tell before who met last night costs as much as to compare them.
    """
    for number in range(len(occupants)):
        for rows in newcomers.parts(number, _ROWS):
            for columns in occupants.parts(number, _ROWS):
                yield partial(sieve.compare, rows, columns)
