"""The neighbour edges of nodes: those with equal vectors are searched for once, the state of the last night is used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quern.indexes.night_state import NightStates
from quern.indexes.vectors import Floats, Positions, pair_similarities
from quern.jobs.graph.neighbours.layout import read_state, write_state
from quern.jobs.graph.neighbours.plan import Plan, Vectors, VectorsInOrder
from quern.jobs.graph.neighbours.ranking import Prints, by_score, keys_of, ranks, vector_prints
from quern.jobs.graph.neighbours.search import change
from quern.schemas.settings import LinkSettings, NeighbourSettings

STATE_VERSION = 3  # Of what is kept from night to night.


@dataclass(frozen=True)
class NeighbourEdges:
    """Neighbour edges, and how they were found."""

    edges: Edges
    searched: int  # Nodes that were searched for; of the others the neighbours were known.
    notes: dict[str, float]  # Figures for the report.


def neighbour_edges(
    vectors: Floats,
    chunk: Positions,
    settings: LinkSettings,
    how: NeighbourSettings,
    cores: int,
    folder: Path,
    name: str,
) -> NeighbourEdges:
    """The neighbour edges of nodes.

    Args:
        vectors: L2-normalised, in the order of the nodes' keys, shape (nodes, d), one at least; may be memory-mapped.
        chunk: A number for each node's chunk, shape (nodes,).
        settings: What edges there are.
        how: How they are found.
        cores: What may be used.
        folder: Where the state is kept from night to night.
        name: The state's name tonight.
    """
    # So many of the nearest may be of a node's own chunk; by eights, so that lists of the last night serve a chunk with
    # one node more.
    k = settings.k + (0 if settings.same_chunk else -(-int(np.bincount(chunk).max(initial=1)) // 8) * 8)
    plan = Plan(k, how.spare, how.exact_below, how.recall, how.partitions, how.sample, cores)
    prints = vector_prints(vectors)
    distinct = DistinctVectors.of(prints)
    whole = len(distinct.first) == len(vectors)
    different: Vectors = vectors if whole else VectorsInOrder(vectors, distinct.first)
    neighbourhood = change(read_state(folder), different, prints[distinct.first], plan)
    write_state(folder, name, neighbourhood)
    NightStates(folder).forget_others()
    # The edges of nodes, from the `k` nearest of each different vector.
    positions, scores = (
        values[:, :k].reshape(-1) for values in (neighbourhood.lists.positions, neighbourhood.lists.scores)
    )
    at = np.flatnonzero(positions >= 0)
    members = np.diff(distinct.start)
    own = np.flatnonzero(members > 1)
    themselves = distinct.first[own]
    near = Edges(
        np.concatenate([own, at // k]),
        np.concatenate([own, positions[at]]),
        # Rounding keeps a vector's cosine with itself from being 1.
        np.concatenate([pair_similarities(vectors, vectors, themselves, themselves), scores[at]]),
    )
    edges = edges_of_variant(expand(distinct, near, k + 1), chunk, settings)
    return NeighbourEdges(
        edges, min(round(neighbourhood.searched * float(members.mean())), len(vectors)), neighbourhood.notes
    )


def edges_of_variant(near: Edges, chunk: Positions, settings: LinkSettings) -> Edges:
    """The edges of the graph, from the nearest nodes of each.

    Args:
        near: Nearest nodes; enough of them, where those of the same chunk are to be left out.
        chunk: Chunk of each node, shape (nodes,).
        settings: The variant.
    """
    if not settings.same_chunk:
        near = near.where(chunk[near.source] != chunk[near.target])
    near = near.where(near.rank < settings.k)
    if settings.direction == "mutual":
        return near.where(_returned(near, len(chunk)))
    if settings.direction == "symmetric":
        one_way = near.where(~_returned(near, len(chunk)))
        return Edges.ordered(
            np.concatenate([near.source, one_way.target]),
            np.concatenate([near.target, one_way.source]),
            np.concatenate([near.similarity, one_way.similarity]),
        )
    return near


def _returned(edges: Edges, nodes: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    forth, back = edges.source * nodes + edges.target, edges.target * nodes + edges.source
    return np.isin(forth, back)


@dataclass(frozen=True)
class DistinctVectors:
    """Groups of nodes with one vector each."""

    first: Positions  # Lowest position of each group, ascending, shape (groups,).
    members: Positions  # Positions of all nodes, group by group, ascending within a group, shape (nodes,).
    start: Positions  # Where each group begins in `members`, shape (groups + 1,).

    @classmethod
    def of(cls, prints: Prints) -> DistinctVectors:
        """The groups of nodes of these prints."""
        group = keys_of(prints).dictionary_encode().indices.to_numpy()  # By first appearance.
        first = np.unique(group, return_index=True)[1]
        members = np.argsort(group, kind="stable")
        return cls(first, members, np.searchsorted(group[members], np.arange(len(first) + 1)))


@dataclass(frozen=True)
class Edges:
    """Edges between nodes, arrays of one length, sorted by source and rank."""

    source: Positions  # Positions of the nodes they leave from.
    target: Positions  # Positions of the nodes they lead to.
    similarity: Floats  # Cosines.

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
    # Of each group's edges the most similar that offer `each` nodes together, and those as similar as the last.
    near = Edges.ordered(near.source, near.target, near.similarity)
    group = near.source
    offers = np.minimum(distinct.start[near.target + 1] - distinct.start[near.target], each)
    before = np.cumsum(offers) - offers
    before -= before[np.searchsorted(group, group)]
    last = np.full(len(distinct.first), np.inf, dtype=np.float32)
    np.minimum.at(last, group[before < each], near.similarity[before < each])
    near = near.where(near.similarity >= last[group])
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
