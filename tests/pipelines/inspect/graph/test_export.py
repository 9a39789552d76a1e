from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow.parquet as pq
import pytest

from quern.pipelines.inspect.graph.export import GraphError, export_graph
from quern.pipelines.inspect.graph.structure import Structure, describe_graph
from quern.schemas.tables import EDGES
from quern.schemas.words.lines import printable
from tests.conftest import Quern
from tests.disks import small_disk
from tests.pipelines.inspect.graph.small_snapshot import NASTY


def test_graphml_is_read_by_networkx_whatever_the_texts_hold(small: Any, graph: Structure, tmp_path: Path) -> None:
    described = describe_graph(small)
    path = tmp_path / "graph.graphml"
    assert export_graph(small, graph, described.communities, path) == [path]
    read = nx.read_graphml(path)
    assert read.number_of_nodes() == 4 + 8
    assert read.number_of_edges() == 8 + 8
    assert read.nodes["chunk:a"]["label"] == printable(NASTY)
    assert "<script>" not in path.read_text()
    assert "\x00" not in printable(NASTY)
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


def test_a_disk_that_is_full_is_an_error_in_each_format(small: Any, graph: Structure, tmp_path: Path) -> None:
    division = describe_graph(small).communities
    with small_disk(tmp_path / "disk", 64) as disk:
        disk.fill()
        for name in ("graph.graphml", "tables"):
            with pytest.raises(GraphError, match=r"cannot be written: .*No space left on device"):
                export_graph(small, graph, division, disk.path / name)


def test_the_command_describes_and_exports(mini_web: Path, tmp_path: Path, quern_here: Quern) -> None:
    done = quern_here("graph", "-w", mini_web, "--json", "--export", tmp_path / "g.graphml", "--layer", "chunks")
    figures = json.loads(done.stdout)
    assert figures["kinds"]["neighbour"]["edges"] >= figures["nodes"]
    assert len(figures["hubs"]) == 5
    assert nx.read_graphml(tmp_path / "g.graphml").number_of_nodes() == figures["chunks"]
    shown = quern_here("graph", "-w", mini_web).stdout
    assert "hubs: nodes that most edges lead to" in shown
    refused = quern_here("graph", "-w", mini_web, "--layer", "all")
    told = "quern: there is no layer 'all'; there are: both, nodes, chunks\n"
    assert (refused.returncode, refused.stderr) == (2, told)
