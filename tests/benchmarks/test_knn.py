"""The benchmark of the graph builder, small: its sides agree."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from quern.indexes.vectors import nearest
from tests.benchmarks.__main__ import main
from tests.benchmarks.knn import RECALL, benchmark_knn, recall_of

NODES = 2000


def test_the_approximate_graph_and_its_peer_reach_the_recall_asked_for() -> None:
    figures = benchmark_knn(NODES, repeats=1, part="approximate")
    assert figures["approximate recall"] >= RECALL
    assert figures["approximate measured"] == pytest.approx(figures["approximate recall"], abs=0.02)
    if importlib.util.find_spec("faiss"):
        # Threads do not find the same each time.
        assert figures["approximate recall of faiss"] >= RECALL - 0.01


def test_memory_is_that_of_a_process_that_only_links(capsys: pytest.CaptureFixture[str]) -> None:
    main(["knn", "--nodes", str(NODES), "--part", "memory"])
    figures = {line[:24].strip(): line[24:].strip() for line in capsys.readouterr().out.splitlines()}
    assert figures["memory nodes"] == f"{NODES:,}"
    assert 0.05 < float(figures["memory GiB"]) < 4


def test_equally_near_neighbours_are_as_good_as_each_other() -> None:
    vectors = np.eye(4, dtype=np.float32)[[0, 0, 0, 0, 0, 1]]
    truth = nearest(vectors, vectors, 3, np.arange(6)).positions
    other = np.array([[4, 3, 2], [4, 3, 2], [4, 3, 1], [4, 2, 1], [3, 2, 1], [4, 3, 2]])
    assert recall_of(other, truth, vectors) == 1.0
    other[0] = [5, 4, -1]
    assert recall_of(other, truth, vectors) == pytest.approx(16 / 18)
