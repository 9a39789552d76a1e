"""The neighbour edges of nodes: those with equal vectors are searched for once, the state of the last night is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from quern.indexes.night_state import NightStates
from quern.indexes.vectors import Floats, Positions, pair_similarities
from quern.jobs.graph.neighbours.change import change
from quern.jobs.graph.neighbours.distinct_vectors import DistinctVectors, Edges, expand
from quern.jobs.graph.neighbours.edge_variants import edges_of_variant, nodes_of_a_chunk
from quern.jobs.graph.neighbours.gpu import device_for
from quern.jobs.graph.neighbours.plan import Neighbourhood, Plan, Spread
from quern.jobs.graph.neighbours.prints import vector_prints
from quern.jobs.graph.neighbours.state import StateWriter, read_state
from quern.jobs.graph.neighbours.threads import beside
from quern.jobs.graph.neighbours.vectors_in_order import Vectors, VectorsInOrder
from quern.schemas.settings import LinkSettings, NeighbourSettings

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
    with beside(cores) as start:
        before = start(partial(read_state, folder))
        state = StateWriter(folder, name)
        laid_out: list[Callable[[], None]] = []

        def lay_out(*known: Any) -> None:
            laid_out.append(start(partial(state.laid_out, *known)))
            if cores <= 1:
                laid_out[-1]()  # Now, or codes would be held until the end.

        plan = Plan(
            k,
            how.spare,
            how.exact_below,
            how.recall,
            how.partitions,
            how.sample,
            cores,
            device_for(how.device),
            spread,
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
        edges = _edges(vectors, distinct, chunk, settings, k, found)
        written()
    NightStates(folder).forget_others()
    return edges


def _edges(
    vectors: Floats, distinct: DistinctVectors, chunk: Positions, settings: LinkSettings, k: int, found: Neighbourhood
) -> NeighbourEdges:
    """The edges of nodes, from the `k` nearest of each different vector."""
    positions, scores = (values[:, :k].reshape(-1) for values in (found.lists.positions, found.lists.scores))
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
    return NeighbourEdges(edges, min(round(found.searched * float(members.mean())), len(vectors)), found.notes)
