from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quern.indexes.vectors import Floats, nearest
from quern.jobs.graph.neighbours import inverted_file
from quern.jobs.graph.neighbours.inverted_file import InvertedFile, write_inverted_file


def unit(rows: Floats) -> Floats:
    made: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return made


def drawn(count: int, width: int, seed: int = 0) -> Floats:
    """Vectors around eight centres, every ninth of them twice."""
    draw = np.random.default_rng(seed)
    rows = draw.standard_normal((8, width))[draw.integers(8, size=count)] + draw.standard_normal((count, width))
    rows[::9] = rows[0]
    return unit(rows)


@settings(deadline=None, max_examples=25)
@given(
    count=st.integers(2, 400),
    queries=st.integers(0, 40),
    k=st.integers(1, 50),
    width=st.sampled_from([3, 32, 100]),
    threads=st.integers(1, 2),
)
def test_a_question_that_looks_into_all_partitions_finds_what_comparing_all_finds(
    tmp_path_factory: pytest.TempPathFactory, count: int, queries: int, k: int, width: int, threads: int
) -> None:
    folder, vectors = tmp_path_factory.mktemp("file"), drawn(count, width)
    write_inverted_file(folder, vectors)
    index = InvertedFile.open(folder, vectors, threads)
    asked = drawn(queries, width, seed=1) if queries else np.empty((0, width), np.float32)
    found = replace(index, measured=()).nearest(asked, k)
    true = nearest(asked, vectors, k)
    assert np.array_equal(found.similarities, true.similarities)
    assert np.array_equal(found.positions, true.positions)


def share_found(index: InvertedFile, asked: Floats, vectors: Floats, k: int) -> float:
    true, found = (one.positions for one in (nearest(asked, vectors, k), index.nearest(asked, k)))
    return float(np.mean([len(np.intersect1d(*both)) / k for both in zip(true, found, strict=True)]))


def test_its_recall_is_measured_and_holds_for_questions_that_it_has_not_seen(tmp_path: Path) -> None:
    vectors, asked = np.split(drawn(20_200, 64), [20_000])
    write_inverted_file(tmp_path, vectors, threads=2)
    index = InvertedFile.open(tmp_path, vectors, threads=2)
    assert index.probes(15) < index.probes(200) < len(index.centroids)
    assert [k for k, _, _ in index.measured] == [15, 200, 1000]
    assert index.probes(1001) == len(index.centroids)
    assert all(recall >= 0.98 for _, _, recall in index.measured)
    assert min(share_found(index, asked, vectors, k) for k in (15, 200)) >= 0.97
    assert {path.name for path in tmp_path.iterdir()} == {
        "about.json", "centroids.npy", "codes", "ends.npy", "rows.npy"
    }  # fmt: skip


def test_more_neighbours_than_a_topic_has_are_found_too(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    centres = unit(draw.standard_normal((200, 64)))
    rows = unit(centres[draw.integers(200, size=8100)] + 0.02 * draw.standard_normal((8100, 64)))
    vectors, asked = np.split(rows, [8000])
    write_inverted_file(tmp_path, vectors)
    index = InvertedFile.open(tmp_path, vectors)
    assert min(share_found(index, asked, vectors, k) for k in (15, 200, 1000)) >= 0.97


def test_where_it_finds_too_little_a_question_looks_into_all(tmp_path: Path) -> None:
    vectors = drawn(500, 32)
    write_inverted_file(tmp_path, vectors)
    index = replace(InvertedFile.open(tmp_path, vectors), measured=[(15, 2, 0.97), (200, 3, 0.99)])
    assert [index.probes(k) for k in (1, 15, 200, 201)] == [3, 3, 3, len(index.centroids)]


def test_parts_change_nothing_and_equal_vectors_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, asked = drawn(2000, 32), drawn(40, 32)
    vectors[::3] = vectors[0]
    for name, most in (("_HELD", 50), ("_PRODUCTS", 1000), ("_QUERIES", 8)):
        monkeypatch.setattr(inverted_file, name, most)
    write_inverted_file(tmp_path, vectors)
    index = replace(InvertedFile.open(tmp_path, vectors), measured=())
    found, true = index.nearest(asked, 9), nearest(asked, vectors, 9)
    assert np.array_equal(found.positions, true.positions)
    assert np.array_equal(found.similarities, true.similarities)
