"""The neighbour edges of nodes: those with equal vectors are searched for once, the state of the last night is used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.neighbours.change import change
from quern.jobs.graph.neighbours.distinct_vectors import DistinctVectors, Edges, expand
from quern.jobs.graph.neighbours.edge_variants import edges_of_variant, nodes_of_a_chunk
from quern.jobs.graph.neighbours.nearest_lists import pair_scores
from quern.jobs.graph.neighbours.plan import Plan, Spread, Vectors, VectorsInOrder, vector_prints
from quern.jobs.graph.neighbours.state import read_state, write_state
from quern.schemas.settings import LinkSettings, NeighbourSettings

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
    prints = vector_prints(vectors, cores)
    distinct = DistinctVectors.of(prints)
    whole = len(distinct.first) == len(prints)
    different: Vectors = vectors if whole else VectorsInOrder(vectors, distinct.first)
    # So many of the nearest may be of a node's own chunk.
    k = settings.k + (0 if settings.same_chunk else -(-nodes_of_a_chunk(chunk) // _STEP) * _STEP)
    device = _device(how.device)
    plan = Plan(k, how.spare, how.exact_below, how.recall, how.partitions, how.sample, cores, device, spread)
    neighbourhood = change(read_state(folder), different, prints[distinct.first], plan)
    write_state(folder, name, neighbourhood)
    row, rank = np.nonzero(neighbourhood.lists.positions[:, :k] >= 0)
    members = np.diff(distinct.start)
    own = np.flatnonzero(members > 1)
    near = Edges(
        np.concatenate([own, row]),
        np.concatenate([own, neighbourhood.lists.positions[row, rank]]),
        # Rounding keeps a vector's cosine with itself from being 1.
        np.concatenate([pair_scores(different, own, own), neighbourhood.lists.scores[row, rank]]),
    )
    edges = edges_of_variant(expand(distinct, near, k + 1), chunk, settings)
    return NeighbourEdges(
        edges, min(round(neighbourhood.searched * float(members.mean())), len(vectors)), neighbourhood.notes
    )


def _device(wanted: str) -> str:
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted
