"""The benchmark of loading a query-centric graph, on a synthetic snapshot."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from quern.indexes.catalog import Manifest, Snapshot, Warehouse
from quern.indexes.graph import QueryGraph
from quern.indexes.stage_writers import StageWriter
from quern.indexes.vectors import vector_array
from quern.schemas.settings import Settings
from quern.schemas.tables import CHUNKS, EDGES, NODES, Table

_DIMENSION = 384
_NODES_OF_A_CHUNK = 16
_NEIGHBOURS = 3


def _rows(table: Table, count: int, **known: pa.Array) -> pa.RecordBatch:
    """`count` rows of `table`; what is not `known` is null or zero, whatever the field allows."""
    filled = [
        known[f.name]
        if f.name in known
        else pa.nulls(count, f.type)
        if f.nullable
        else pa.array([0] * count).cast(f.type)
        for f in table.schema
    ]
    return pa.RecordBatch.from_arrays(filled, schema=table.schema)


def _unit_vectors(count: int, rng: np.random.Generator) -> pa.Array:
    matrix = rng.standard_normal((count, _DIMENSION), dtype=np.float32)
    return vector_array(matrix / np.linalg.norm(matrix, axis=1, keepdims=True))


def _tables(nodes: int) -> dict[str, tuple[Table, pa.RecordBatch]]:
    rng = np.random.default_rng(0)
    chunks = -(-nodes // _NODES_OF_A_CHUNK)
    chunk_ids = pa.array([f"{n:020x}-0" for n in range(chunks)])
    owner = np.arange(nodes) // _NODES_OF_A_CHUNK
    node_ids = pa.array([f"{c:020x}-0-{n}" for c, n in zip(owner, np.arange(nodes) % _NODES_OF_A_CHUNK, strict=True)])
    source = np.repeat(np.arange(nodes), _NEIGHBOURS)
    target = (source + rng.integers(1, nodes, len(source))) % nodes
    rank = np.tile(np.arange(_NEIGHBOURS, dtype=np.int32), nodes)
    similarity = pa.array(rng.random(len(source), dtype=np.float32))
    ends = {"source": node_ids.take(pa.array(source)), "target": node_ids.take(pa.array(target))}
    of_chunk = chunk_ids.take(pa.array(owner))
    tables = {"chunks": CHUNKS.with_dimension(_DIMENSION), "nodes": NODES.with_dimension(_DIMENSION), "edges": EDGES}
    rows = {
        "chunks": _rows(tables["chunks"], chunks, chunk_id=chunk_ids, vector=_unit_vectors(chunks, rng)),
        "nodes": _rows(tables["nodes"], nodes, query_id=node_ids, chunk_id=of_chunk, vector=_unit_vectors(nodes, rng)),
        "edges": _rows(EDGES, len(source), rank=pa.array(rank), similarity=similarity, **ends),
    }
    return {name: (table, rows[name]) for name, table in tables.items()}


def synthetic_snapshot(directory: Path, nodes: int) -> Snapshot:
    """A warehouse with a random graph of `nodes` nodes, 16 a chunk and 3 neighbours each, as its snapshot."""
    warehouse = Warehouse.create(directory)
    versions = {}
    for name, (table, batch) in _tables(nodes).items():
        with StageWriter(warehouse.stages / name / "1.parquet", table) as writer:
            writer.write(batch)
        versions[name] = warehouse.pin(writer.stage(), None)
    now = datetime.now(UTC)
    manifest = Manifest(
        build_id="1",
        parent=None,
        started_at=now,
        source="",
        tables=versions,
        jobs=[],
        audit=[],
        settings=Settings().model_dump(),
    )
    warehouse.publish(manifest)
    return warehouse.snapshot()


def _networkx(snapshot: Snapshot) -> object:
    import networkx

    graph = networkx.DiGraph()
    for batch in snapshot.table("edges").batches(["source", "target", "similarity"]):
        source, target, weight = (batch.column(n).to_pylist() for n in ("source", "target", "similarity"))
        graph.add_weighted_edges_from(zip(source, target, weight, strict=True))
    return graph


def _structure(snapshot: Snapshot) -> object:
    graph = QueryGraph(snapshot)
    return graph.members, graph.edges


def _whole(snapshot: Snapshot) -> object:
    graph = QueryGraph(snapshot)
    return graph.chunks, graph.nodes, graph.edges


def _seconds(work: Callable[[Snapshot], object], snapshot: Snapshot) -> float:
    started = time.perf_counter()
    work(snapshot)
    return time.perf_counter() - started


def benchmark_graph(nodes: int = 100_000, repeats: int = 7) -> dict[str, float]:
    """Seconds from an opened snapshot to its graph, medians over `repeats` rounds.

    Returns:
        `structure`: edges as CSR, and membership. `whole`: with all vectors. `networkx`: the rival, a `DiGraph`
        filled from the same edges. `ratio`: median of each round's networkx over structure.
    """
    works = {"structure": _structure, "whole": _whole, "networkx": _networkx}
    with tempfile.TemporaryDirectory() as directory:
        snapshot = synthetic_snapshot(Path(directory) / "warehouse", nodes)
        rounds = [{name: _seconds(work, snapshot) for name, work in works.items()} for _ in range(repeats)]
    figures = {name: statistics.median(r[name] for r in rounds) for name in works}
    ratio = statistics.median(r["networkx"] / r["structure"] for r in rounds)
    return {"nodes": float(nodes), **figures, "ratio": ratio}
