from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from quern.indexes.stages import Stage
from quern.pipelines.inspect.graph.communities import communities, modularity, propagate_labels
from quern.pipelines.inspect.graph.describe import describe_graph
from quern.pipelines.inspect.graph.export import GraphError, export_graph, xml_text
from quern.pipelines.inspect.graph.structure import Structure, edge_figures, load_structure, projection_figures
from quern.schemas.tables import CHUNKS, EDGES, NODES, Table
from tests.conftest import Quern

Staged = Callable[[Table, list[dict[str, Any]]], Stage]
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


class Small:
    """A snapshot of tables that were written by hand, in no order."""

    def __init__(self, staged: Staged) -> None:
        documents = {"a": "d1", "b": "d1", "c": "d2", "alone": "d3"}
        chunks = [
            {"chunk_id": c, "doc_id": d, "title": NASTY if c == "a" else None, "text": f"Text of {c}.", "vector": [1.0]}
            for c, d in reversed(documents.items())
        ]
        nodes = [
            {"query_id": f"{c}-{n}", "chunk_id": c, "text": f"What of {c}? {n}", "vector": [1.0]}
            for n in (1, 0)
            for c in documents
        ]
        edges = [{"source": s, "target": t, "kind": k, "rank": 0, "similarity": 0.5} for s, t, k in reversed(EDGE_ROWS)]
        self._stages = {
            "chunks": staged(CHUNKS.with_dimension(1), [_filled(CHUNKS, row) for row in chunks]),
            "nodes": staged(NODES.with_dimension(1), nodes),
            "edges": staged(EDGES, edges),
        }

    def stage(self, name: str) -> Stage:
        return self._stages[name]

    table = stage

    class manifest:  # noqa: N801 - stands for an attribute
        build_id = "small"


def _filled(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """The row with something in every column that must not be empty."""
    blank: dict[str, Any] = {"string": "", "int32": 0, "int64": 0}
    return {f.name: None if f.nullable else blank.get(str(f.type)) for f in table.schema} | row


@pytest.fixture
def small(staged: Staged) -> Any:
    return Small(staged)


@pytest.fixture
def graph(small: Any) -> Structure:
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


def test_the_projection_counts_edges_of_both_directions_between_two_chunks(graph: Structure) -> None:
    assert graph.chunks.to_pylist() == ["a", "alone", "b", "c"]
    assert graph.projection.toarray().tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]]


def test_a_graph_is_described_by_its_hubs_and_communities(small: Any) -> None:
    figures = describe_graph(small, 2).figures
    assert figures["hubs"][0]["query_id"] == "c-0"
    assert figures["hubs"][0]["in_degree"] == 2
    assert list(figures["kinds"]) == ["mention", "neighbour", "all"]
    assert figures["communities"]["largest"][0]["titles"][0].startswith("Ben & ")
    json.dumps(figures)


def test_a_graph_without_nodes_or_edges_has_figures(staged: Staged) -> None:
    empty = Small.__new__(Small)
    empty._stages = {
        name: staged(table, [])
        for name, table in {
            "chunks": CHUNKS.with_dimension(1),
            "nodes": NODES.with_dimension(1),
            "edges": EDGES,
        }.items()
    }
    figures = describe_graph(empty, 3).figures  # type: ignore[arg-type]
    assert (figures["nodes"], figures["communities"]["number"], figures["kinds"]["all"]["edges"]) == (0, 0, 0)


@st.composite
def weights(draw: st.DrawFn) -> sparse.csr_array:
    size = draw(st.integers(1, 12))
    drawn = np.array(draw(st.lists(st.integers(0, 3), min_size=size**2, max_size=size**2)))
    upper = np.triu(drawn.reshape(size, size), 1)
    return sparse.csr_array(upper + upper.T)


@settings(max_examples=40, deadline=None)
@given(weights())
def test_modularity_is_that_of_networkx(matrix: sparse.csr_array) -> None:
    found = communities(matrix)
    drawn = nx.from_scipy_sparse_array(matrix)
    if drawn.number_of_edges():
        sets = [set(np.flatnonzero(found.of == n).tolist()) for n in range(len(found.sizes))]
        expected = nx.community.modularity(drawn, sets, weight="weight")
        assert modularity(matrix, found.of) == pytest.approx(expected, abs=1e-9)
    assert found.sizes.tolist() == sorted(found.sizes.tolist(), reverse=True)


def test_labels_find_cliques_that_single_edges_join() -> None:
    """What the method for large graphs finds where the answer is plain: no label crosses to another component."""
    drawn = nx.disjoint_union_all([nx.complete_graph(n) for n in (6, 9, 4)])
    drawn.add_edge(0, 7)
    of = propagate_labels(nx.to_scipy_sparse_array(drawn, format="csr"), seed=1)
    assert [len(set(of[a:b].tolist())) for a, b in ((0, 6), (6, 15), (15, 19))] == [1, 1, 1]
    assert len(set(of.tolist())) == 3
    large = communities(nx.to_scipy_sparse_array(drawn, format="csr"), most_pairs=1)
    assert (large.method, large.sizes.tolist()) == ("label_propagation", [9, 6, 4])


def test_graphml_is_read_by_networkx_whatever_the_texts_hold(small: Any, graph: Structure, tmp_path: Path) -> None:
    described = describe_graph(small)
    path = tmp_path / "graph.graphml"
    assert export_graph(small, graph, described.communities, path) == [path]
    read = nx.read_graphml(path)
    assert read.number_of_nodes() == 4 + 8
    assert read.number_of_edges() == 8 + 8
    assert read.nodes["chunk:a"]["label"] == xml_text(NASTY)
    assert "<script>" not in path.read_text()
    assert "\x00" not in xml_text(NASTY)
    assert read.edges["node:b-1", "node:c-0"] == {"kind": "mention", "similarity": 0.5}
    assert read.edges["node:a-0", "chunk:a"] == {"kind": "belongs"}
    assert read.nodes["node:c-0"]["in_degree"] == 2
    export_graph(small, graph, described.communities, path, "chunks")
    chunks = nx.read_graphml(path)
    assert not chunks.is_directed()
    assert {frozenset(e) for e in chunks.edges} == {
        frozenset({"chunk:a", "chunk:b"}),
        frozenset({"chunk:b", "chunk:c"}),
    }


def test_tables_hold_every_node_chunk_and_edge(small: Any, graph: Structure, tmp_path: Path) -> None:
    written = export_graph(small, graph, describe_graph(small).communities, tmp_path / "tables")
    read = {p.stem: pq.read_table(p) for p in written}
    assert {name: table.num_rows for name, table in read.items()} == {
        "nodes": 8,
        "chunks": 4,
        "chunk_edges": 2,
        "edges": 8,
    }
    assert read["edges"].schema.names == EDGES.schema.names
    assert dict(zip(*(read["chunks"][n].to_pylist() for n in ("chunk_id", "degree")), strict=True)) == {
        "a": 1,
        "alone": 0,
        "b": 2,
        "c": 1,
    }


def test_a_place_that_cannot_be_written_to_is_an_error(small: Any, graph: Structure, tmp_path: Path) -> None:
    division = describe_graph(small).communities
    with pytest.raises(GraphError, match=r"ends in \.graphml, or a folder"):
        export_graph(small, graph, division, tmp_path / "graph.csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(GraphError, match="cannot be written"):
        export_graph(small, graph, division, tmp_path / "file" / "graph.graphml")


def test_the_command_describes_and_exports(mini_web: Path, tmp_path: Path, quern_here: Quern) -> None:
    done = quern_here("graph", "-w", mini_web, "--json", "--export", tmp_path / "g.graphml", "--layer", "chunks")
    figures = json.loads(done.stdout)
    assert figures["kinds"]["neighbour"]["edges"] >= figures["nodes"]
    assert len(figures["hubs"]) == 5
    assert nx.read_graphml(tmp_path / "g.graphml").number_of_nodes() == figures["chunks"]
    shown = quern_here("graph", "-w", mini_web).stdout
    assert "hubs: nodes that most edges lead to" in shown
    refused = quern_here("graph", "-w", mini_web, "--layer", "all")
    assert (refused.returncode, refused.stderr) == (2, "quern: --layer all: there are both, nodes, chunks\n")
