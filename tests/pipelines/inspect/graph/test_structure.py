from __future__ import annotations

import pytest

from quern.pipelines.inspect.graph.structure import Structure, edge_figures, projection_figures


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
