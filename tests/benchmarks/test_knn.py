"""The benchmark of the graph builder, small: its sides agree."""

from __future__ import annotations

import importlib.util

import pytest

from tests.benchmarks.knn import RECALL, benchmark_knn

NODES = 2000


def test_the_approximate_graph_and_its_peer_reach_the_recall_asked_for() -> None:
    figures = benchmark_knn(NODES, repeats=1, part="approximate")
    assert figures["approximate recall"] >= RECALL
    assert figures["approximate measured"] == pytest.approx(figures["approximate recall"], abs=0.02)
    if importlib.util.find_spec("faiss"):
        # Threads do not find the same each time.
        assert figures["approximate recall of faiss"] >= RECALL - 0.01
