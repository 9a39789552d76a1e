"""Nodes with equal vectors: boilerplate repeats a text on thousands of pages, and is searched for once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.neighbours.prints import Prints, first_halves
from quern.jobs.graph.neighbours.ranking import begins, by_score, ranks


@dataclass(frozen=True)
class DistinctVectors:
    """Groups of nodes with one vector each.

    Attributes:
        first: Lowest position of each group, ascending, shape (groups,).
        members: Positions of all nodes, group by group, ascending within a group, shape (nodes,).
        start: Where each group begins in `members`, shape (groups + 1,).
    """

    first: Positions
    members: Positions
    start: Positions

    @classmethod
    def of(cls, prints: Prints) -> DistinctVectors:
        """The groups of nodes of these prints."""
        halves = first_halves(prints)
        # A tenth of the time of a table of hashes, where all are different.
        if begins(np.sort(halves)).all():
            return cls(np.arange(len(prints)), np.arange(len(prints)), np.arange(len(prints) + 1))
        group = pa.array(prints[:, 0]).dictionary_encode().indices.to_numpy()  # By first appearance.
        first = np.full(int(group.max()) + 1, len(group), dtype=np.int64)
        np.minimum.at(first, group, np.arange(len(group)))
        if (prints[first[group], 1] != prints[:, 1]).any():
            group, first = _distinct_by_both(prints)
        members = np.argsort(group, kind="stable")
        return cls(first, members, np.searchsorted(group[members], np.arange(len(first) + 1)))


def _distinct_by_both(prints: Prints) -> tuple[Positions, Positions]:
    """Each node's group and each group's first node, where different vectors have one first half of their prints."""
    order = np.lexsort((prints[:, 1], prints[:, 0]))  # Stable: the lowest position of a group comes first.
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = (prints[order[1:]] != prints[order[:-1]]).any(axis=1)
    first = order[begins]
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    group = np.empty(len(order), dtype=np.int64)
    group[order] = number[np.cumsum(begins) - 1]
    return group, np.sort(first)


@dataclass(frozen=True)
class Edges:
    """Edges between nodes, arrays of one length, sorted by source and rank.

    Attributes:
        source: Positions of the nodes they leave from.
        target: Positions of the nodes they lead to.
        similarity: Cosines.
    """

    source: Positions
    target: Positions
    similarity: Floats

    def where(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Edges:
        """Those that are `kept`."""
        return Edges(self.source[kept], self.target[kept], self.similarity[kept])

    @property
    def rank(self) -> Positions:
        """Place of each among those of its source, from 0."""
        return ranks(self.source)

    @classmethod
    def ordered(cls, source: Positions, target: Positions, similarity: Floats) -> Edges:
        """The edges by source, the most similar first, ties to the lower target."""
        order = by_score(source, similarity, target)
        return cls(source[order], target[order], similarity[order])


def expand(distinct: DistinctVectors, near: Edges, each: int) -> Edges:
    """Edges of nodes from those of groups: a group's nodes to the first `each` nodes of its neighbouring groups.

    Args:
        distinct: The groups.
        near: Edges of groups; one of several nodes is a neighbour of itself.
        each: One more than are wanted suffices: of nodes with one vector those with the lowest keys come first.
    """
    if len(distinct.first) == len(distinct.members):
        return near
    near = _enough(distinct, near, each)
    group, other = near.source, near.target
    offers = np.minimum(distinct.start[other + 1] - distinct.start[other], each)
    pair = np.repeat(np.arange(len(group)), offers)
    nth = np.arange(len(pair)) - np.repeat(np.cumsum(offers) - offers, offers)
    target = distinct.members[distinct.start[other[pair]] + nth]
    takers = distinct.start[group[pair] + 1] - distinct.start[group[pair]]
    row = np.repeat(np.arange(len(pair)), takers)
    mine = np.arange(len(row)) - np.repeat(np.cumsum(takers) - takers, takers)
    source = distinct.members[distinct.start[group[pair[row]]] + mine]
    target, similarity = target[row], near.similarity[pair[row]]
    differ = source != target
    return Edges.ordered(source[differ], target[differ], similarity[differ])


def _enough(distinct: DistinctVectors, near: Edges, each: int) -> Edges:
    """Of each group's edges the most similar that offer `each` nodes together, and those as similar as the last."""
    near = Edges.ordered(near.source, near.target, near.similarity)
    group = near.source
    offers = np.minimum(distinct.start[near.target + 1] - distinct.start[near.target], each)
    begins = np.searchsorted(group, group)
    before = np.cumsum(offers) - offers
    before -= before[begins]
    last = np.full(len(distinct.first), np.inf, dtype=np.float32)
    np.minimum.at(last, group[before < each], near.similarity[before < each])
    return near.where(near.similarity >= last[group])
