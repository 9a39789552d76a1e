"""A snapshot's graph in figures, with its hubs and communities by name.

Memory: that of the structure (`indexes.graph.structure`), and while a figure is computed some 40 bytes an edge.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse, stats
from scipy.sparse import csgraph

from quern.indexes.catalog import Snapshot
from quern.indexes.graph.communities import Communities, communities
from quern.indexes.graph.structure import Edges, Tables, joined, projected, read_edges, read_members

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Structure:
    """Nodes, chunks and documents by position, and the edges by kind."""

    nodes: pa.Array  # Ids of the nodes, sorted.
    chunks: pa.Array  # Ids of the chunks, sorted.
    documents: pa.Array  # Ids of the documents that have chunks.
    owner: Counts  # Position of each node's chunk, shape (nodes,).
    document: Counts  # Position of each chunk's document, shape (chunks,).
    edges: dict[str, Edges]  # Kind to its edges.

    @cached_property
    def all_edges(self) -> Edges:
        """Edges of all kinds."""
        return joined(list(self.edges.values()))

    def in_degrees(self, edges: Edges) -> Counts:
        """Edges that lead to each node, shape (nodes,)."""
        return np.bincount(edges.target, minlength=len(self.nodes))

    def components(self, edges: Edges) -> Counts:
        """The weakly connected component of each node, shape (nodes,)."""
        size = len(self.nodes)
        ones = np.ones(len(edges), dtype=np.bool_)
        matrix = sparse.csr_array((ones, (edges.source, edges.target)), shape=(size, size))
        return np.asarray(csgraph.connected_components(matrix, directed=True, connection="weak")[1], dtype=np.int64)

    @cached_property
    def projection(self) -> sparse.csr_array:
        """Chunk to chunk: how many edges, of any kind and direction, join the nodes of two chunks; symmetric."""
        return projected(self.owner, len(self.chunks), self.all_edges)


def load_structure(snapshot: Tables) -> Structure:
    """The structure of the graph of `snapshot`."""
    members = read_members(snapshot)
    return Structure(
        nodes=members.nodes,
        chunks=members.chunks,
        documents=members.documents.keys,
        owner=members.owner,
        document=members.documents.of_chunk,
        edges=read_edges(snapshot, members.nodes),
    )


def edge_figures(graph: Structure, edges: Edges) -> dict[str, float]:
    """What describes edges of one kind, or of all.

    `hubness` is the skewness of the in-degrees, after Radovanovic, Nanopoulos and Ivanovic (JMLR 11, 2010, section
    3.1): 0 where all nodes are named about as often, above 1 where a few nodes are near everything.
    """
    size, number = len(graph.nodes), max(1, len(edges))
    degrees = graph.in_degrees(edges)
    chunk = graph.owner[edges.source], graph.owner[edges.target]
    same_document = graph.document[chunk[0]] == graph.document[chunk[1]]
    components = np.bincount(graph.components(edges)) if size else np.zeros(1, dtype=np.int64)
    uneven = bool(size) and int(degrees.min()) != int(degrees.max())
    similarity = np.quantile(edges.similarity, [0.05, 0.5, 0.95]) if len(edges) else np.zeros(3)
    # Edges whose reverse is an edge too.
    there = edges.source.astype(np.int64) * size + edges.target
    back = edges.target.astype(np.int64) * size + edges.source
    return {
        "edges": len(edges),
        "mutual": _share(int(np.isin(there, back).sum()), number),
        "same_chunk": _share(int((chunk[0] == chunk[1]).sum()), number),
        "same_document": _share(int(same_document.sum()), number),
        "components": int((components > 0).sum()),
        "largest_component": _share(int(components.max()), max(1, size)),
        "in_degree_max": int(degrees.max(initial=0)),
        "in_degree_p99": float(np.quantile(degrees, 0.99)) if size else 0.0,
        "in_degree_zero": _share(int((degrees == 0).sum()), max(1, size)),
        "hubness": round(float(stats.skew(degrees)), 3) if uneven else 0.0,
        "similarity_p5": round(float(similarity[0]), 4),
        "similarity_p50": round(float(similarity[1]), 4),
        "similarity_p95": round(float(similarity[2]), 4),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4)


def projection_figures(graph: Structure) -> dict[str, float]:
    """What describes the graph of chunks."""
    matrix = graph.projection
    size = matrix.shape[0]
    degrees = np.diff(matrix.indptr)
    components = np.bincount(csgraph.connected_components(matrix, directed=False)[1]) if size else np.zeros(1, np.int64)
    rows = np.repeat(np.arange(size), degrees)
    joined = graph.document[rows] != graph.document[matrix.indices]
    return {
        "pairs": matrix.nnz // 2,
        "pairs_of_two_documents": int(joined.sum()) // 2,
        "isolated": int((degrees == 0).sum()),
        "components": int((components > 0).sum()),
        "largest_component": _share(int(components.max()), max(1, size)),
        "degree_p50": float(np.median(degrees)) if size else 0.0,
        "degree_max": int(degrees.max(initial=0)),
    }


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
    degrees = graph.in_degrees(graph.all_edges)
    best = np.argsort(-degrees, kind="stable")[:most]
    keys = graph.nodes.take(pa.array(best)).to_pylist()
    rows = snapshot.stage("nodes").lookup("query_id", keys, ["query_id", "chunk_id", "text"]).to_pylist()
    by_id = {row["query_id"]: row for row in rows}
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
        "hubs": [
            {**by_id[key], "text": by_id[key]["text"][:100], "in_degree": int(degrees[at])}
            for key, at in zip(keys, best, strict=True)
        ],
    }
    return GraphDescription(graph, division, figures)


def _community(snapshot: Snapshot, graph: Structure, division: Communities, number: int) -> dict[str, Any]:
    """Size of a community and the commonest titles of its chunks; without titles, how its best joined chunks begin."""
    members = np.flatnonzero(division.of == number)
    degrees = np.diff(graph.projection.indptr)[members]
    members = members[np.argsort(-degrees, kind="stable")]
    keys = graph.chunks.take(pa.array(members[:500])).to_pylist()  # Chunks of a community whose titles are looked at.
    rows = snapshot.stage("chunks").lookup("chunk_id", keys, ["chunk_id", "title", "text"]).to_pylist()
    counted = Counter(row["title"] for row in rows if row["title"])
    # Of titles as common the first in the alphabet, so that one graph gives one description.
    labels = sorted(counted, key=lambda title: (-counted[title], title))[:3]
    if not labels:
        text = {row["chunk_id"]: " ".join(row["text"].split()) for row in rows}
        labels = [text[key] for key in keys[:3]]
    return {"chunks": len(members), "titles": [label[:100] for label in labels]}
