"""The table `edges`: `E_intra`, each node joined to its k nearest nodes (QCG-RAG, section 3.3), and bridges.

Neighbours are found exactly, or beyond `neighbours.exact_below` different vectors by partitions, with a recall that is
measured (`.neighbours.search`); after a night's changes from those of the last one (`.neighbours.change`). Ties go to
the lower key, a node is never its own neighbour, and nodes with equal vectors are searched for once.

Needs the whole table of nodes: its vectors are laid in a memory-mapped file of the build's work directory. In memory
are their keys, for each different vector 1 byte a dimension and about 500 bytes of
lists, and one block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.disk import mapped
from quern.indexes.graph.structure import read_columns
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, Positions, vector_matrix
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.graph.mentions import mention_edges
from quern.jobs.graph.neighbours.edges import STATE_VERSION, neighbour_edges
from quern.schemas.digests import settings_digest
from quern.schemas.settings import LinkSettings, NeighbourSettings
from quern.schemas.tables import EDGES, Table

_BLOCK = 8192


@dataclass(frozen=True)
class Link(TableJob):
    """The edges of the query-centric graph."""

    settings: LinkSettings  # What edges there are.
    how: NeighbourSettings = field(default_factory=NeighbourSettings)  # How neighbours are found.

    name: ClassVar[str] = "link"
    version: ClassVar[int] = 11
    incremental: ClassVar[bool] = True
    tables: ClassVar[tuple[Table, ...]] = (EDGES,)

    def configuration(self) -> Mapping[str, object]:
        """The settings that edges depend on."""
        return {**self.settings.results(), **self.how.results()}

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """The edges of `nodes`; with `mention` edges where `documents` are given, with their titles."""
        nodes, documents = inputs["nodes"], inputs.get("documents")
        laid = _lay(nodes, run)
        with run.writer(EDGES) as writer:
            searched, notes = self._neighbours(laid, run, writer)
            if documents is not None and self.settings.mentions and len(laid.keys):
                written = 0
                for columns in mention_edges(nodes, documents, laid.keys, self.settings):
                    writer.write(edge_rows(laid.keys, "mention", *columns))
                    written += len(columns[0])
                notes = notes | {"mentions": written}
        edges = writer.stage()
        lost = nodes.rows - len(laid.keys)
        return Made((edges,), Counts(nodes.rows, edges.rows, nodes.rows - searched, searched, lost, notes=notes))

    def _neighbours(self, laid: _Laid, run: Run, writer: StageWriter) -> tuple[int, dict[str, float]]:
        """Write the neighbour edges; how many nodes were searched for, and figures of the search."""
        if len(laid.keys) == 0:
            return 0, {}
        folder = run.memo / self.name / settings_digest([self.name, self.version, STATE_VERSION, self.how.results()])
        joined = neighbour_edges(laid.vectors, laid.chunk, self.settings, self.how, run.cores, folder, run.build_id)
        edges, rank = joined.edges, joined.edges.rank
        for start in range(0, len(rank), _BLOCK):
            part = slice(start, start + _BLOCK)
            columns = (edges.source[part], rank[part], edges.target[part], edges.similarity[part])
            writer.write(edge_rows(laid.keys, "neighbour", *columns))
        return joined.searched, joined.notes


@dataclass(frozen=True)
class _Laid:
    keys: pa.Array
    chunk: Positions  # A number for each one's chunk, shape (nodes,).
    vectors: Floats  # Their vectors, memory-mapped, shape (nodes, d).


def _lay(nodes: Stage, run: Run) -> _Laid:
    """The nodes with vectors that can be compared; the others are rejects."""
    names = ["query_id", "chunk_id"]
    rows = read_columns(nodes, names)
    keys, chunks = (rows[name].combine_chunks() for name in names)
    dimension = max(1, nodes.table.schema.field("vector").type.list_size)
    good = np.zeros(len(keys), dtype=np.bool_)
    order = pc.sort_indices(keys).to_numpy()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    matrix = mapped(run.work / "link.f32", np.float32, (len(keys), dimension))
    at = 0
    for batch in nodes.batches(["vector"]):
        vectors = vector_matrix(batch.column(0))
        at += len(vectors)
        target = place[at - len(vectors) : at]
        matrix[target] = vectors
        # A vector has a direction where all its numbers are finite, and not all are zero.
        with np.errstate(all="ignore"):
            length = np.einsum("ij,ij->i", vectors, vectors)
        good[target] = np.isfinite(length) & (length > 0)
    keys, chunk = keys.take(pa.array(order)), chunks.dictionary_encode().indices.to_numpy()[order].astype(np.int64)
    if good.all():
        return _Laid(keys, chunk, matrix)
    detail = "its vector is zero or has numbers that are not finite, so it has no neighbours"
    run.reject(Link.name, [(key, "bad_vector", detail) for key in keys.filter(pa.array(~good)).to_pylist()])
    places = np.flatnonzero(good)
    for start in range(0, len(places), _BLOCK):  # What is overwritten has been moved before.
        matrix[start : start + len(places[start : start + _BLOCK])] = matrix[places[start : start + _BLOCK]]
    return _Laid(keys.filter(pa.array(good)), chunk[good], matrix[: len(places)])


def edge_rows(
    keys: pa.Array, kind: str, source: Positions, rank: Positions, target: Positions, similarity: Floats
) -> pa.RecordBatch:
    """Edges between nodes at positions among `keys`."""
    return pa.RecordBatch.from_arrays(
        [
            keys.take(pa.array(source)).cast(pa.string()),
            pa.array([kind] * len(source), pa.string()),
            pa.array(rank.astype(np.int32)),
            keys.take(pa.array(target)).cast(pa.string()),
            pa.array(similarity),
        ],
        schema=EDGES.schema,
    )
