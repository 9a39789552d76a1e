from __future__ import annotations

import shutil

import numpy as np
import pyarrow as pa
import pytest

from quern.indexes.graph import QueryGraph
from quern.indexes.graph.structure import read_columns
from quern.indexes.keys import positions_in
from quern.indexes.vectors import nearest
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.searcher import Searcher


@pytest.fixture(scope="module")
def graph(searcher: Searcher) -> QueryGraph:
    return searcher.graph


def test_vectors_stand_in_the_order_of_the_keys(searcher: Searcher, graph: QueryGraph) -> None:
    for name, key, keyed in (("nodes", "query_id", graph.nodes), ("chunks", "chunk_id", graph.chunks)):
        assert keyed.keys.to_pylist() == sorted(keyed.keys.to_pylist())
        some = keyed.keys.to_pylist()[::97]
        rows = {r[key]: r["vector"] for r in searcher.snapshot.table(name).lookup(key, some).to_pylist()}
        for place, row in zip(
            positions_in(keyed.keys, keyed.keys.take(list(range(0, len(keyed.keys), 97)))), some, strict=True
        ):
            assert np.array_equal(keyed.vectors[place], np.array(rows[row], dtype=np.float32))


def test_every_node_belongs_to_the_chunk_that_its_key_names(graph: QueryGraph) -> None:
    chunks = graph.chunks.keys.to_pylist()
    owners = [chunks[o] for o in graph.nodes.owner.tolist()]
    assert owners == [key.rsplit("-", 1)[0] for key in graph.nodes.keys.to_pylist()]


def test_edges_are_the_cosines_of_their_nodes_and_never_a_node_itself(graph: QueryGraph) -> None:
    edges = graph.edges.tocoo()
    assert len(edges.row) == 3 * len(graph.nodes.keys)
    assert (edges.row != edges.col).all()
    cosines = (graph.nodes.vectors[edges.row] * graph.nodes.vectors[edges.col]).sum(axis=1)
    assert np.allclose(edges.data - 1.0, cosines, atol=1e-5)


def test_strings_of_whole_columns_have_room_for_more_than_two_gigabytes(searcher: Searcher) -> None:
    rows = read_columns(searcher.snapshot.table("chunks"), ["chunk_id", "terms"])
    assert set(rows.schema.types) == {pa.large_string()}
    assert searcher.graph.members.nodes.type == searcher.graph.members.documents.keys.type == pa.large_string()


def test_vectors_that_are_not_held_in_memory_are_found_equally(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quern.indexes.vectors._VECTORS", 50)
    held, mapped = searcher.graph, QueryGraph(searcher.snapshot, vectors_in_memory=10)
    assert isinstance(mapped.nodes.vectors, np.memmap)
    assert np.array_equal(mapped.nodes.vectors, held.nodes.vectors)
    asked = held.chunks.vectors[:7]
    found, read = (nearest(asked, of.nodes.vectors, 5, scan=True) for of in (held, mapped))
    assert np.array_equal(found.positions, read.positions)
    assert np.array_equal(found.similarities, read.similarities)
    assert not list(searcher.snapshot.warehouse.root.rglob(".tmp-*"))


def test_questions_are_answered_from_an_index_on_disk_as_from_memory(searcher: Searcher) -> None:
    retrieve = searcher.settings.retrieve.model_copy(update={"vectors_in_memory": 20})
    on_disk = Searcher(searcher.snapshot, searcher.settings.model_copy(update={"retrieve": retrieve}))
    questions = searcher.queries["question"].to_pylist()[::40]
    here, there = (
        Batch(one, questions).nearest_of(one.graph.nodes, 5).positions.tolist() for one in (searcher, on_disk)
    )
    assert isinstance(on_disk.graph.nodes.vectors, np.memmap)
    assert on_disk.graph.nodes.index is not None
    assert np.mean([len({*a} & {*b}) / 5 for a, b in zip(here, there, strict=True)]) >= 0.95


def test_vectors_are_compared_from_a_temporary_file_where_nothing_can_be_written(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda _path, _mode: False)
    graph = QueryGraph(searcher.snapshot, vectors_in_memory=11)
    shutil.rmtree(searcher.snapshot.warehouse.root / "search", ignore_errors=True)
    assert np.array_equal(graph.nodes.vectors, searcher.graph.nodes.vectors)
    assert isinstance(graph.nodes.vectors, np.memmap)
    assert not (searcher.snapshot.warehouse.root / "search").exists()
