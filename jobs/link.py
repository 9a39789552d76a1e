"""The table `edges`: `E_intra`, each node joined to its k nearest nodes (QCG-RAG, section 3.3).

Exact, by blocked matrix products (`indexes.vectors`); ties go to the lower key, a node is never its own
neighbour. Needs the whole table of nodes: its vectors are laid in a memory-mapped file of the build's work
directory, so what must be in memory is one block, the keys, and 12 bytes per edge.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indexes.stages import Stage
from indexes.vectors import Floats, nearest
from jobs.progress import watched
from jobs.runner import JobReport, Run
from schemas.digests import settings_digest
from schemas.settings import GraphSettings
from schemas.tables import EDGES

NAME, VERSION = "link", 1
_BLOCK = 2048


def fingerprint(settings: GraphSettings) -> str:
    """Digest of name, version and the settings that edges depend on."""
    return settings_digest([NAME, VERSION, settings.k])


def link(nodes: Stage, settings: GraphSettings, run: Run) -> Stage:
    """The edges of the query-centric graph."""
    started = time.monotonic()
    keys, vectors = _sorted_vectors(nodes, run.work / "link.f32")
    done = 0
    with run.writer(EDGES) as writer, watched(NAME, nodes.rows, lambda: done):
        for start in range(0, len(keys), _BLOCK):
            stop = min(start + _BLOCK, len(keys))
            writer.write(_edges(keys, vectors, start, stop, settings.k))
            done = stop
    edges = writer.stage()
    seconds = round(time.monotonic() - started, 3)
    run.report(JobReport(NAME, fingerprint(settings), nodes.rows, edges.rows, 0, nodes.rows, 0, seconds, "driver"))
    return edges


def _sorted_vectors(nodes: Stage, path: Path) -> tuple[pa.Array, Floats]:
    """Keys in order, and a memory-mapped matrix of the vectors in the same order."""
    ids = [b.column("query_id") for b in nodes.batches(["query_id"])]
    keys = pa.concat_arrays(ids) if ids else pa.array([], pa.string())
    order = pc.sort_indices(keys).to_numpy()
    if len(keys) == 0:
        return keys, np.empty((0, 1), dtype=np.float32)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    dimension = nodes.table.schema.field("vector").type.list_size
    matrix = np.memmap(path, dtype=np.float32, mode="w+", shape=(len(keys), dimension))
    at = 0
    for batch in nodes.batches(["vector"]):
        vectors = batch.column(0).flatten().to_numpy(zero_copy_only=False).reshape(-1, dimension)
        matrix[place[at : at + len(vectors)]] = vectors
        at += len(vectors)
    return keys.take(pa.array(order)), matrix


def _edges(keys: pa.Array, vectors: Floats, start: int, stop: int, k: int) -> pa.RecordBatch:
    own = np.arange(start, stop)
    found = nearest(np.asarray(vectors[start:stop]), vectors, k, own=own)
    node, rank = np.nonzero(found.positions >= 0)
    target = found.positions[node, rank]
    return pa.RecordBatch.from_arrays(
        [
            keys.take(pa.array(own[node])),
            pa.array(np.full(len(node), "neighbour", dtype=object), pa.string()),
            pa.array(rank.astype(np.int32)),
            keys.take(pa.array(target)),
            pa.array(found.similarities[node, rank]),
        ],
        schema=EDGES.schema,
    )
