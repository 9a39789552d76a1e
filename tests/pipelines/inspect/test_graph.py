"""The graph of a snapshot in figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quern.indexes.catalog import Snapshot, Warehouse
from quern.pipelines.inspect.graph import (
    Structure,
    describe_graph,
    edge_figures,
    load_structure,
    projection_figures,
)
from quern.schemas.tables import CHUNKS, EDGES, NODES
from tests.conftest import Quern
from tests.tables import publish

# Chunks a, b of document d1, c of d2, alone of d3; two nodes each.
EDGE_ROWS = [
    ("a-0", "a-1", "neighbour"),
    ("a-1", "a-0", "neighbour"),
    ("a-0", "b-0", "neighbour"),
    ("b-0", "b-1", "neighbour"),
    ("b-1", "c-0", "mention"),
    ("c-0", "c-1", "neighbour"),
    ("c-1", "c-0", "neighbour"),
    ("alone-0", "alone-1", "neighbour"),
]
NASTY = 'Ben & "Jerry" <script>alert(1)</script> ]]> \x00\x08\ufffe 東京 \U0001f600'


def snapshot_of(root: Path, documents: dict[str, str], edges: list[tuple[str, str, str]]) -> Snapshot:
    """A snapshot of chunks by their documents, two nodes of each, and edges, written in no order."""
    vector = {"vector": [0.0] * 384}
    chunks = [
        {"chunk_id": c, "doc_id": d, "title": NASTY if c == "a" else None, "text": f"Text of {c}."} | vector
        for c, d in reversed(documents.items())
    ]
    nodes = [
        {"query_id": f"{c}-{n}", "chunk_id": c, "text": f"What of {c}? {n}"} | vector for n in (1, 0) for c in documents
    ]
    rows = [{"source": s, "target": t, "kind": k, "rank": 0, "similarity": 0.5} for s, t, k in reversed(edges)]
    return publish(Warehouse.create(root), "small", {CHUNKS: chunks, NODES: nodes, EDGES: rows})


@pytest.fixture
def small(tmp_path: Path) -> Snapshot:
    return snapshot_of(tmp_path / "wh", {"a": "d1", "b": "d1", "c": "d2", "alone": "d3"}, EDGE_ROWS)


@pytest.fixture
def graph(small: Snapshot) -> Structure:
    return load_structure(small)


def test_figures_are_those_worked_out_by_hand(graph: Structure) -> None:
    assert graph.nodes.to_pylist() == ["a-0", "a-1", "alone-0", "alone-1", "b-0", "b-1", "c-0", "c-1"]
    near = edge_figures(graph, graph.edges["neighbour"])
    assert near["edges"] == 7
    assert near["mutual"] == pytest.approx(4 / 7, abs=1e-4)
    assert near["same_chunk"] == pytest.approx(6 / 7, abs=1e-4)
    assert near["same_document"] == 1.0
    assert near["components"] == 3, "a with b, c, alone"
    assert near["largest_component"] == 0.5
    both = edge_figures(graph, graph.all_edges)
    assert (both["edges"], both["components"], both["largest_component"]) == (8, 2, 0.75)
    assert both["same_document"] == pytest.approx(7 / 8, abs=1e-4)
    assert (both["in_degree_max"], both["in_degree_zero"]) == (2, 1 / 8)
    chunks = projection_figures(graph)
    assert (chunks["pairs"], chunks["pairs_of_two_documents"], chunks["isolated"]) == (2, 1, 1)
    assert (chunks["components"], chunks["largest_component"], chunks["degree_max"]) == (2, 0.75, 2)


def test_a_graph_is_described_by_its_hubs_and_communities(small: Snapshot, quern_here: Quern) -> None:
    words = ("graph", "-w", small.warehouse.root)
    figures = json.loads(quern_here(*words, "--json").stdout)
    assert (figures["hubs"][0]["query_id"], figures["hubs"][0]["in_degree"]) == ("c-0", 2)
    assert list(figures["kinds"]) == ["mention", "neighbour", "all"]
    assert figures["communities"]["largest"][0]["titles"][0].startswith("Ben & ")
    assert "hubs: nodes that most edges lead to" in quern_here(*words).stdout


def test_a_graph_without_nodes_or_edges_has_figures(tmp_path: Path) -> None:
    figures = describe_graph(snapshot_of(tmp_path / "wh", {}, []), 3).figures
    assert (figures["nodes"], figures["communities"]["number"], figures["kinds"]["all"]["edges"]) == (0, 0, 0)
