"""The variants of neighbour edges: which of the nearest nodes become edges, and in which direction."""

from __future__ import annotations

import numpy as np

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.distinct_vectors import Edges
from quern.schemas.settings import LinkSettings


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
    if settings.min_similarity > -1:  # Rounding puts cosines of opposite vectors below -1.
        near = near.where(near.similarity >= settings.min_similarity)
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
    """Which edges have one in the other direction."""
    forth, back = edges.source * nodes + edges.target, edges.target * nodes + edges.source
    return np.isin(forth, back)


def nodes_of_a_chunk(chunk: Positions) -> int:
    """Most nodes of one chunk."""
    return int(np.bincount(chunk).max(initial=1)) if len(chunk) else 1
