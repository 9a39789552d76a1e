from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from quern.pipelines.inspect.graph.structure import describe_graph
from quern.schemas.tables import CHUNKS, EDGES, NODES
from tests.conftest import Quern
from tests.pipelines.inspect.graph.small_snapshot import Small, Staged


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


def test_the_command_describes_the_graph(mini_web: Path, quern_here: Quern) -> None:
    figures = json.loads(quern_here("graph", "-w", mini_web, "--json").stdout)
    assert figures["kinds"]["neighbour"]["edges"] >= figures["nodes"]
    assert len(figures["hubs"]) == 5
    assert "hubs: nodes that most edges lead to" in quern_here("graph", "-w", mini_web).stdout
