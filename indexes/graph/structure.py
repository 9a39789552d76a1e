"""What belongs to what in a snapshot's graph, without vectors and texts: the one reader of its nodes and edges.

Read batch by batch from the served tables, in a quarter of the time that Parquet with its small row groups takes.
Memory: the keys (about 30 bytes a node and chunk), 12 bytes an edge, 16 a node and a chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from quern.indexes.keys import positions_in
from quern.indexes.vectors import Positions
from quern.schemas.tables import Table

_ROWS = 1 << 20  # Rows whose keys are looked up at once.


class Columns(Protocol):
    """A table that is read batch by batch."""

    @property
    def table(self) -> Table:
        """Its contract."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns, batch by batch."""


class Tables(Protocol):
    """What has tables by name: a snapshot."""

    def table(self, name: str) -> Columns:
        """The table `name`."""


def read_columns(table: Columns, names: Sequence[str]) -> pa.Table:
    """The named columns of `table`, whole; strings as large ones, as 2 GiB are what others can be combined to."""
    schema = pa.schema([wide(field) for field in _schema(table, names)])
    return pa.Table.from_batches([batch.cast(schema) for batch in table.batches(names)], schema=schema)


def wide(field: pa.Field) -> pa.Field:
    """The field, with 64 bits for the places of its strings."""
    return field.with_type(pa.large_string()) if pa.types.is_string(field.type) else field


def _schema(table: Columns, names: Sequence[str]) -> pa.Schema:
    return pa.schema([table.table.schema.field(name) for name in names])


@dataclass(frozen=True)
class Documents:
    """Documents of the chunks."""

    keys: pa.Array  # Sorted document ids, each once.
    of_chunk: Positions  # Position in `keys` of each chunk's document, shape (chunks,).


@dataclass(frozen=True)
class Members:
    """Which chunk each node belongs to (`E_inter`), and which document each chunk."""

    nodes: pa.Array  # Sorted ids of the nodes.
    chunks: pa.Array  # Sorted ids of the chunks.
    owner: Positions  # Position in `chunks` of each node's chunk, shape (nodes,).
    documents: Documents  # The chunks' documents.


@dataclass(frozen=True)
class Edges:
    """Edges of some kinds; arrays of shape (edges,)."""

    source: npt.NDArray[np.int32]  # Position of the node that each leaves from.
    target: npt.NDArray[np.int32]  # Position of the node that it leads to.
    similarity: npt.NDArray[np.float32]  # Its similarity, as the table `edges` says for its kind.

    def __len__(self) -> int:
        return len(self.source)

    def matrix(self, nodes: int, added: float) -> sparse.csr_array:
        """Source x target of `nodes` nodes, each edge with its similarity and what is `added` to it."""
        weight = self.similarity + np.float32(added)
        return sparse.csr_array((weight, (self.source, self.target)), shape=(nodes, nodes))


def joined(parts: Sequence[Edges]) -> Edges:
    """The edges of all `parts`."""
    if not parts:
        return Edges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))
    return Edges(
        np.concatenate([e.source for e in parts]),
        np.concatenate([e.target for e in parts]),
        np.concatenate([e.similarity for e in parts]),
    )


def read_members(snapshot: Tables) -> Members:
    """Nodes, chunks and documents of `snapshot`."""
    node_rows = read_columns(snapshot.table("nodes"), ["query_id", "chunk_id"]).sort_by("query_id")
    chunk_rows = read_columns(snapshot.table("chunks"), ["chunk_id", "doc_id"]).sort_by("chunk_id")
    chunks = chunk_rows["chunk_id"].combine_chunks()
    documents = chunk_rows["doc_id"].combine_chunks().dictionary_encode()
    order = pc.sort_indices(documents.dictionary)
    rank = np.argsort(order.to_numpy())
    return Members(
        node_rows["query_id"].combine_chunks(),
        chunks,
        positions_in(chunks, node_rows["chunk_id"]),
        Documents(documents.dictionary.take(order), rank[documents.indices.to_numpy()]),
    )


def read_edges(snapshot: Tables, nodes: pa.Array) -> dict[str, Edges]:
    """Kind to its edges, kinds in alphabetical order; `nodes` as in `Members`."""
    of_kind: dict[str, list[Edges]] = {}
    for rows in _large(snapshot.table("edges"), ["source", "target", "kind", "similarity"]):
        source, target = (positions_in(nodes, rows[n]).astype(np.int32) for n in ("source", "target"))
        similarity = rows["similarity"].to_numpy()
        for kind in pc.unique(rows["kind"]).to_pylist():
            same = pc.equal(rows["kind"], kind).to_numpy()
            of_kind.setdefault(kind, []).append(Edges(source[same], target[same], similarity[same]))
    return {kind: joined(parts) for kind, parts in sorted(of_kind.items())}


def _large(table: Columns, names: Sequence[str]) -> Iterator[pa.Table]:
    """The named columns of `table` in parts of about `_ROWS` rows."""
    schema = _schema(table, names)
    part: list[pa.RecordBatch] = []
    for batch in table.batches(names):
        part.append(batch.cast(schema))
        if sum(b.num_rows for b in part) >= _ROWS:
            yield pa.Table.from_batches(part)
            part = []
    if part:
        yield pa.Table.from_batches(part)


def projected(owner: Positions, size: int, edges: Edges) -> sparse.csr_array:
    """Chunk to chunk: how many `edges`, in whatever direction, join the nodes of two chunks; symmetric.

    Args:
        owner: Position of each node's chunk.
        size: Number of chunks.
        edges: The edges.
    """
    ends = (owner[edges.source], owner[edges.target])
    between = sparse.coo_array((np.ones(len(edges), dtype=np.int64), ends), shape=(size, size)).tocsr()
    both = (between + between.T).tocsr()
    both.setdiag(0)
    both.eliminate_zeros()
    return both
