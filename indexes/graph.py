"""The query-centric graph of a snapshot (QCG-RAG, section 3): sparse matrices over nodes and chunks.

`E_intra`, the neighbour edges, is a nodes x nodes CSR matrix; `E_inter`, which chunk a node belongs to, one
position per node. Nodes and chunks are numbered in the order of their keys; the numbers live in memory only.

Memory: 4 bytes per vector component of nodes and chunks (1,536 a row for MiniLM), 12 bytes per edge, 12 per node,
and the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from quern.indexes.catalog import Snapshot
from quern.indexes.lexical import LexicalIndex
from quern.indexes.served import ServedTable
from quern.indexes.vectors import Floats, Positions, vector_matrix


@dataclass(frozen=True)
class Membership:
    """`E_inter`: nodes and the chunks that they belong to.

    Attributes:
        nodes: Sorted ids of the nodes.
        chunks: Sorted ids of the chunks.
        owner: Position in `chunks` of each node's chunk, shape (nodes,).
    """

    nodes: pa.Array
    chunks: pa.Array
    owner: Positions


@dataclass(frozen=True)
class Keyed:
    """Rows of a table in the order of their keys.

    Attributes:
        keys: Sorted keys, string array of n.
        vectors: Their vectors, shape (n, d) float32.
        owner: For nodes, the position of each one's chunk, shape (n,); empty for chunks.
    """

    keys: pa.Array
    vectors: Floats
    owner: Positions


_NO_OWNER: Positions = np.empty(0, dtype=np.int64)


def _sorted(column: pa.ChunkedArray) -> pa.Array:
    keys = column.combine_chunks()
    return keys.take(pc.sort_indices(keys))


def _read(table: ServedTable, columns: list[str]) -> pa.Table:
    schema = pa.schema([table.table.schema.field(c) for c in columns])
    return pa.Table.from_batches([b.cast(schema) for b in table.batches(columns)], schema=schema)


def positions_in(keys: pa.Array, wanted: pa.Array | pa.ChunkedArray) -> Positions:
    """Positions of `wanted` among `keys`, -1 where absent."""
    found = pc.fill_null(pc.index_in(wanted, value_set=keys), -1)
    return np.asarray(
        found.to_numpy(zero_copy_only=False) if isinstance(found, pa.Array) else found.to_numpy(), np.int64
    )


class QueryGraph:
    """The graph of one snapshot, loaded table by table as it is needed."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def membership(self) -> Membership:
        """Which chunk each node belongs to."""
        chunks = _sorted(_read(self._snapshot.table("chunks"), ["chunk_id"])["chunk_id"])
        rows = _read(self._snapshot.table("nodes"), ["query_id", "chunk_id"]).sort_by("query_id")
        return Membership(rows["query_id"].combine_chunks(), chunks, positions_in(chunks, rows["chunk_id"]))

    @cached_property
    def chunks(self) -> Keyed:
        """All chunks with their vectors."""
        return Keyed(self.membership.chunks, self._vectors("chunks", "chunk_id", self.membership.chunks), _NO_OWNER)

    @cached_property
    def nodes(self) -> Keyed:
        """All nodes with their vectors, each with the position of its chunk."""
        members = self.membership
        return Keyed(members.nodes, self._vectors("nodes", "query_id", members.nodes), members.owner)

    def _vectors(self, name: str, key: str, keys: pa.Array) -> Floats:
        """The table's vectors in the order of `keys`, read batch by batch into one matrix."""
        matrix = np.empty((len(keys), self._snapshot.manifest.tables[name].dimension), dtype=np.float32)
        for batch in self._snapshot.table(name).batches([key, "vector"]):
            matrix[positions_in(keys, batch.column(key))] = vector_matrix(batch.column("vector"))
        return matrix

    @cached_property
    def edges(self) -> sparse.csr_array:
        """`E_intra` as a nodes x nodes matrix of cosines + 1, so that no stored edge is zero."""
        return self._matrix("neighbour", 1.0)

    @cached_property
    def mentions(self) -> sparse.csr_array:
        """Which node names the document of which other, as a nodes x nodes matrix of rarities; maybe empty."""
        return self._matrix("mention", 0.0)

    @cached_property
    def answers(self) -> sparse.csr_array:
        """Whose answer is near whose question, as a nodes x nodes matrix of cosines + 1; maybe empty."""
        return self._matrix("answer_question", 1.0)

    @cached_property
    def _edge_rows(self) -> pa.Table:
        return _read(self._snapshot.table("edges"), ["source", "kind", "target", "similarity"])

    def _matrix(self, kind: str, added: float) -> sparse.csr_array:
        rows = self._edge_rows.filter(pc.equal(self._edge_rows["kind"], kind))
        keys = self.membership.nodes
        source, target = positions_in(keys, rows["source"]), positions_in(keys, rows["target"])
        weight = rows["similarity"].to_numpy() + np.float32(added)
        return sparse.csr_array((weight, (source, target)), shape=(len(keys), len(keys)))

    @cached_property
    def lexical(self) -> LexicalIndex:
        """Full-text search over the chunks."""
        return LexicalIndex([self.chunk_column("terms")])

    def chunk_column(self, name: str) -> pa.Array:
        """A column of the chunks, in the order of their keys."""
        rows = _read(self._snapshot.table("chunks"), ["chunk_id", name]).sort_by("chunk_id")
        return rows[name].combine_chunks()

    @cached_property
    def documents(self) -> Documents:
        """Which document each chunk belongs to."""
        rows = _read(self._snapshot.table("chunks"), ["chunk_id", "doc_id"]).sort_by("chunk_id")
        encoded = rows["doc_id"].combine_chunks().dictionary_encode()
        return Documents(encoded.dictionary, np.asarray(encoded.indices.to_numpy(), dtype=np.int64))

    def widen(self, question: Positions, node: Positions, questions: int, hops: int) -> Widened:
        """All nodes within `hops` of the matched ones: `Q*` of the paper (section 3.4).

        Args:
            question: Question of each matched pair, shape (pairs,).
            node: Node of each matched pair, shape (pairs,).
            questions: Number of questions.
            hops: h.

        Returns:
            Every reached pair once, with the hop at which it was first reached and through which node.
        """
        shape = (questions, self.edges.shape[0])
        seen = sparse.csr_array((np.ones(len(question), dtype=np.bool_), (question, node)), shape=shape)
        reached = [(question, node, np.zeros(len(question), dtype=np.int32))]
        frontier = seen
        step = self.edges.astype(np.bool_)
        for hop in range(1, hops + 1):
            frontier = (frontier @ step).astype(np.bool_)
            frontier = (frontier > seen).tocsr()
            seen = (seen + frontier).tocsr()
            new = frontier.tocoo()
            reached.append((new.row.astype(np.int64), new.col.astype(np.int64), np.full(new.nnz, hop, dtype=np.int32)))
        q, n, hop_of = (np.concatenate(c) for c in zip(*reached, strict=True))
        order = np.lexsort((n, q))
        return Widened(q[order], n[order], hop_of[order])


@dataclass(frozen=True)
class Documents:
    """Documents of the chunks.

    Attributes:
        keys: Document ids, each once.
        of_chunk: Position in `keys` of each chunk's document, shape (chunks,).
    """

    keys: pa.Array
    of_chunk: Positions


@dataclass(frozen=True)
class Widened:
    """Reached nodes per question, sorted by question and node; arrays of one length."""

    question: Positions
    node: Positions
    hop: npt.NDArray[np.int32]
