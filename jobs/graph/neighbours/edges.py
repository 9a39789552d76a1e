"""The neighbour edges of nodes: those with equal vectors are searched for once, the state of the last night is used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.neighbours.change import change
from quern.jobs.graph.neighbours.distinct_vectors import Edges, Groups, expand
from quern.jobs.graph.neighbours.edge_variants import chosen, nodes_of_a_chunk
from quern.jobs.graph.neighbours.nearest_lists import pair_scores
from quern.jobs.graph.neighbours.plan import Laid, Plan, Spread, Vectors, prints_of
from quern.jobs.graph.neighbours.state import read_state, write_state
from quern.schemas.settings import GraphSettings, LinkSettings

_STEP = 8  # Lists grow by so much at once: those of the last night serve a chunk with one node more.


@dataclass(frozen=True)
class Joined:
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
    settings: GraphSettings,
    how: LinkSettings,
    cores: int,
    folder: Path,
    name: str,
    spread: Spread | None = None,
) -> Joined:
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
    prints = prints_of(vectors, cores)
    groups = Groups.of(prints)
    whole = len(groups.first) == len(prints)
    different: Vectors = vectors if whole else Laid(vectors, groups.first)
    # So many of the nearest may be of a node's own chunk.
    k = settings.k + (0 if settings.same_chunk else -(-nodes_of_a_chunk(chunk) // _STEP) * _STEP)
    device = _device(how.device)
    plan = Plan(k, how.spare, how.exact_below, how.recall, how.partitions, how.sample, cores, device, spread)
    found = change(read_state(folder), different, prints[groups.first], plan)
    write_state(folder, name, found)
    row, rank = np.nonzero(found.positions[:, :k] >= 0)
    members = np.diff(groups.start)
    own = np.flatnonzero(members > 1)
    near = Edges(
        np.concatenate([own, row]),
        np.concatenate([own, found.positions[row, rank]]),
        # Rounding keeps a vector's cosine with itself from being 1.
        np.concatenate([pair_scores(different, own, own), found.scores[row, rank]]),
    )
    edges = chosen(expand(groups, near, k + 1), chunk, settings)
    return Joined(edges, min(round(found.searched * float(members.mean())), len(vectors)), found.notes)


def _device(wanted: str) -> str:
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted
