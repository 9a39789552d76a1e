"""A snapshot's graph in figures, with its hubs and communities by name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from quern.indexes.catalog import Snapshot
from quern.indexes.graph.communities import Communities, communities
from quern.pipelines.inspect.graph.structure import Structure, edge_figures, load_structure, projection_figures

_TITLES = 3
_CHARACTERS = 100


@dataclass(frozen=True)
class GraphDescription:
    """The graph and what is said of it; `figures` is like JSON."""

    graph: Structure
    communities: Communities
    figures: dict[str, Any]


def describe_graph(snapshot: Snapshot, most: int = 5) -> GraphDescription:
    """Figures of the graph of `snapshot`, with its `most` greatest hubs and communities."""
    graph = load_structure(snapshot)
    division = communities(graph.projection)
    kinds = {kind: edge_figures(graph, edges) for kind, edges in graph.edges.items()}
    if len(kinds) != 1:
        kinds["all"] = edge_figures(graph, graph.all_edges)
    figures = {
        "snapshot": snapshot.manifest.build_id,
        "nodes": len(graph.nodes),
        "chunks": len(graph.chunks),
        "documents": len(graph.documents),
        "kinds": kinds,
        "chunk_graph": projection_figures(graph),
        "communities": {
            "number": len(division.sizes),
            "modularity": division.modularity,
            "method": "louvain",
            "largest": [_community(snapshot, graph, division, n) for n in range(min(most, len(division.sizes)))],
        },
        "hubs": _hubs(snapshot, graph, most),
    }
    return GraphDescription(graph, division, figures)


def _hubs(snapshot: Snapshot, graph: Structure, most: int) -> list[dict[str, Any]]:
    degrees = graph.in_degrees(graph.all_edges)
    best = np.argsort(-degrees, kind="stable")[:most]
    keys = graph.nodes.take(pa.array(best)).to_pylist()
    rows = snapshot.stage("nodes").lookup("query_id", keys, ["query_id", "chunk_id", "text"]).to_pylist()
    found = {row["query_id"]: row for row in rows}
    return [
        {**found[key], "text": found[key]["text"][:_CHARACTERS], "in_degree": int(degrees[at])}
        for key, at in zip(keys, best, strict=True)
    ]


def _community(snapshot: Snapshot, graph: Structure, division: Communities, number: int) -> dict[str, Any]:
    """Size of a community and the commonest titles of its chunks; without titles, how its best joined chunks begin."""
    members = np.flatnonzero(division.of == number)
    degrees = np.diff(graph.projection.indptr)[members]
    members = members[np.argsort(-degrees, kind="stable")]
    keys = graph.chunks.take(pa.array(members[:500])).to_pylist()  # Chunks of a community whose titles are looked at.
    rows = snapshot.stage("chunks").lookup("chunk_id", keys, ["chunk_id", "title", "text"]).to_pylist()
    counted = Counter(row["title"] for row in rows if row["title"])
    # Of titles as common the first in the alphabet, so that one graph gives one description.
    labels = sorted(counted, key=lambda title: (-counted[title], title))[:_TITLES]
    if not labels:
        text = {row["chunk_id"]: " ".join(row["text"].split()) for row in rows}
        labels = [text[key] for key in keys[:_TITLES]]
    return {"chunks": len(members), "titles": [label[:_CHARACTERS] for label in labels]}
