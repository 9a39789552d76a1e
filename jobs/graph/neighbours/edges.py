"""The neighbour edges of nodes: those with equal vectors are searched for once, the state of the last night is used.

Without torch all are compared with all in NumPy each night, which is slower and gives the same edges: a pair's score
is canonical, and both searches find all that can be among the best (`indexes.vectors`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from quern.indexes.night_state import NightStates
from quern.indexes.vectors import Floats, Neighbours, Part, Positions, nearest, pair_similarities
from quern.jobs.graph.neighbours.distinct_vectors import DistinctVectors, Edges, expand
from quern.jobs.graph.neighbours.edge_variants import edges_of_variant, nodes_of_a_chunk
from quern.jobs.graph.neighbours.prints import vector_prints
from quern.schemas.extras import installed, require
from quern.schemas.settings import LinkSettings, NeighbourSettings

if TYPE_CHECKING:
    from quern.jobs.graph.neighbours.plan import Spread

STATE_VERSION = 2  # Of what is kept from night to night.
_STEP = 8  # Lists grow by so much at once: those of the last night serve a chunk with one node more.


@dataclass(frozen=True)
class NeighbourEdges:
    """Neighbour edges, and how they were found.

    Attributes:
        edges: The edges.
        searched: Nodes that were searched for; of the others the neighbours were known.
        notes: Figures for the report.
    """

    edges: Edges
    searched: int
    notes: dict[str, float]


def neighbour_edges(
    vectors: Floats,
    chunk: Positions,
    settings: LinkSettings,
    how: NeighbourSettings,
    cores: int,
    folder: Path,
    name: str,
    spread: Spread | None = None,
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
        spread: What spreads partitions over machines, if they are to be.
    """
    # So many of the nearest may be of a node's own chunk.
    k = settings.k + (0 if settings.same_chunk else -(-nodes_of_a_chunk(chunk) // _STEP) * _STEP)
    if installed("torch"):
        return _since_last_night(vectors, chunk, settings, k, how, _Night(cores, folder, name, spread))
    distinct = DistinctVectors.of(vector_prints(vectors))
    return _edges(vectors, distinct, chunk, settings, k, _anew(vectors, distinct, k, how))


@dataclass(frozen=True)
class _Night:
    """What is at hand tonight: see `neighbour_edges`."""

    cores: int
    folder: Path
    name: str
    spread: Spread | None


@dataclass(frozen=True)
class _Found:
    """The nearest of each different vector, how many were searched for, and figures for the report."""

    near: Neighbours
    searched: int
    notes: dict[str, float]


def _since_last_night(
    vectors: Floats, chunk: Positions, settings: LinkSettings, k: int, how: NeighbourSettings, night: _Night
) -> NeighbourEdges:
    from quern.jobs.graph.neighbours.change import change
    from quern.jobs.graph.neighbours.plan import Plan
    from quern.jobs.graph.neighbours.state import StateWriter, read_state
    from quern.jobs.graph.neighbours.threads import beside
    from quern.jobs.graph.neighbours.vectors_in_order import Vectors, VectorsInOrder

    with beside(night.cores) as start:
        before = start(partial(read_state, night.folder))
        state = StateWriter(night.folder, night.name)
        laid_out: list[Callable[[], None]] = []

        def lay_out(*known: Any) -> None:
            laid_out.append(start(partial(state.laid_out, *known)))
            if night.cores <= 1:
                laid_out[-1]()  # Now, or codes would be held until the end.

        plan = Plan(
            k,
            how.spare,
            how.exact_below,
            how.recall,
            how.partitions,
            how.sample,
            night.cores,
            _device(how.device),
            night.spread,
            lay_out,
        )
        prints = vector_prints(vectors)
        distinct = DistinctVectors.of(prints)
        whole = len(distinct.first) == len(vectors)
        different: Vectors = vectors if whole else VectorsInOrder(vectors, distinct.first)
        found = change(before(), different, prints[distinct.first], plan)
        for written in laid_out:
            written()
        written = start(partial(state.finish, found))
        near = Neighbours(found.lists.positions, found.lists.scores)
        edges = _edges(vectors, distinct, chunk, settings, k, _Found(near, found.searched, found.notes))
        written()
    NightStates(night.folder).forget_others()
    return edges


def _edges(
    vectors: Floats, distinct: DistinctVectors, chunk: Positions, settings: LinkSettings, k: int, found: _Found
) -> NeighbourEdges:
    """The edges of nodes, from the `k` nearest of each different vector."""
    positions, scores = (values[:, :k].reshape(-1) for values in (found.near.positions, found.near.similarities))
    at = np.flatnonzero(positions >= 0)
    members = np.diff(distinct.start)
    own = np.flatnonzero(members > 1)
    near = Edges(
        np.concatenate([own, at // k]),
        np.concatenate([own, positions[at]]),
        # Rounding keeps a vector's cosine with itself from being 1.
        np.concatenate([_with_themselves(vectors, distinct.first[own]), scores[at]]),
    )
    edges = edges_of_variant(expand(distinct, near, k + 1), chunk, settings)
    return NeighbourEdges(edges, min(round(found.searched * float(members.mean())), len(vectors)), found.notes)


def _anew(vectors: Floats, distinct: DistinctVectors, k: int, how: NeighbourSettings) -> _Found:
    """The same without torch.

    Raises:
        MissingExtraError: There are so many vectors that they are to be partitioned, or a GPU is to be used.
    """
    count = len(distinct.first)
    if count >= how.exact_below:
        require("torch", f"linking {count:,} nodes by partitions (neighbours.exact_below {how.exact_below:,})")
    if how.device.startswith("cuda"):
        require("torch", f"neighbours.device {how.device}", "set it to cpu")
    different = Part(vectors, distinct.first)
    return _Found(nearest(different, different, k, np.arange(count)), count, {})


def _with_themselves(vectors: Floats, rows: Positions) -> Floats:
    return pair_similarities(vectors, vectors, rows, rows)


def _device(wanted: str) -> str:
    import torch

    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted
