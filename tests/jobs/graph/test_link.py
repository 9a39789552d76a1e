from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quern.indexes.stages import Stage
from quern.indexes.vectors import similarities
from quern.jobs.core.run import Run, run_whole
from quern.jobs.graph.link import Link
from quern.schemas.settings import LinkSettings, NeighbourSettings
from quern.schemas.tables import NODES
from tests.conftest import Staged


def nodes(vectors: dict[str, list[float]]) -> list[dict[str, Any]]:
    return [
        {"query_id": key, "chunk_id": "c", "text": key, "vector": list(np.array(v) / np.linalg.norm(v))}
        for key, v in vectors.items()
    ]


def link(nodes: Stage, settings: LinkSettings, how: NeighbourSettings, run: Run) -> Stage:
    (edges,) = run_whole(Link(settings, how), {"nodes": nodes}, run).stages
    return edges


def edges(run: Run, staged: Staged, vectors: dict[str, list[float]], k: int = 3) -> dict[str, list[str]]:
    made = link(staged(NODES.with_dimension(2), nodes(vectors)), LinkSettings(k=k), NeighbourSettings(), run)
    found: dict[str, list[str]] = {}
    for batch in made.batches():
        for row in batch.to_pylist():
            neighbours = found.setdefault(row["source"], [])
            assert row["rank"] == len(neighbours)
            assert row["kind"] == "neighbour"
            neighbours.append(row["target"])
    return found


FAN = {"d": [1.0, 0.3], "a": [1.0, 0.0], "c": [1.0, 0.2], "b": [1.0, 0.1]}


def test_each_node_is_joined_to_its_nearest_in_order(run: Run, staged: Staged) -> None:
    assert edges(run, staged, FAN, k=2) == {"a": ["b", "c"], "b": ["c", "a"], "c": ["d", "b"], "d": ["c", "b"]}


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_nodes_than_k_are_joined_to_all_others(run: Run, staged: Staged, count: int) -> None:
    few = dict(list(FAN.items())[:count])
    assert edges(run, staged, few) == {key: [o for o in few if o != key] for key in few if count > 1}


@pytest.mark.parametrize("k", [1, 2, 5])
def test_many_equal_texts_are_linked_as_a_full_sort_would(run: Run, staged: Staged, k: int) -> None:
    rng = np.random.default_rng(k)
    pool = rng.standard_normal((6, 2))
    vectors = {f"n{i:03}": pool[rng.integers(6)].tolist() for i in rng.permutation(80).tolist()}
    rows = nodes(vectors)
    keys = sorted(vectors)
    matrix = np.array([next(r["vector"] for r in rows if r["query_id"] == key) for key in keys], dtype=np.float32)
    expected = {}
    for n, key in enumerate(keys):
        scores = similarities(np.repeat(matrix[n : n + 1], len(keys), axis=0), matrix)
        order = [p for p in np.lexsort((np.arange(len(keys)), -scores)) if p != n][:k]
        expected[key] = [keys[p] for p in order]
    assert edges(run, staged, vectors, k=k) == expected


@pytest.mark.parametrize("bad", [[0.0, 0.0], [3e38, 3e38]])
def test_a_vector_without_direction_is_a_reject_and_no_neighbour(run: Run, staged: Staged, bad: list[float]) -> None:
    rows = [*nodes(FAN), {"query_id": "bad", "chunk_id": "c", "text": "", "vector": bad}]
    made = link(staged(NODES.with_dimension(2), rows), LinkSettings(k=2), NeighbourSettings(), run)
    ends = {e for b in made.batches() for c in ("source", "target") for e in b.column(c).to_pylist()}
    assert ends == set(FAN)
    run.rejects.close()
    assert [(r["job"], r["key"], r["reason"]) for b in run.rejects.stage().batches() for r in b.to_pylist()] == [
        ("link", "bad", "bad_vector")
    ]


def variant(run: Run, staged: Staged, chunks: dict[str, str] | None = None, **settings: Any) -> set[tuple[str, str]]:
    rows = [row | {"chunk_id": (chunks or {}).get(row["query_id"], "c")} for row in nodes(FAN)]
    made = link(staged(NODES.with_dimension(2), rows), LinkSettings(**settings), NeighbourSettings(), run)
    return {(r["source"], r["target"]) for b in made.batches() for r in b.to_pylist()}


def test_edges_may_go_both_ways_or_only_where_both_ends_agree(run: Run, staged: Staged) -> None:
    directed = variant(run, staged, k=1)
    assert directed == {("a", "b"), ("b", "c"), ("c", "d"), ("d", "c")}
    back = {(target, source) for source, target in directed}
    assert variant(run, staged, k=1, direction="symmetric") == directed | back
    assert variant(run, staged, k=1, direction="mutual") == directed & back


def test_nodes_of_one_chunk_may_be_kept_apart(run: Run, staged: Staged) -> None:
    found = variant(run, staged, {"a": "1", "b": "1", "c": "2", "d": "2"}, k=1, same_chunk=False)
    assert found == {("a", "c"), ("b", "c"), ("c", "b"), ("d", "b")}


def test_a_night_takes_up_from_the_last_and_makes_the_same_edges(run: Run, staged: Staged) -> None:
    rng = np.random.default_rng(7)
    vectors = {f"n{i:03}": rng.standard_normal(2).tolist() for i in range(150)}
    edges(run, staged, dict(list(vectors.items())[:145]))
    tonight = edges(run, staged, dict(list(vectors.items())[3:]))
    assert run.reports[-1].computed < 20
    for state in run.memo.rglob("positions.npy"):
        state.write_bytes(b"damaged")
    assert edges(run, staged, dict(list(vectors.items())[3:])) == tonight
    assert run.reports[-1].computed == 147
