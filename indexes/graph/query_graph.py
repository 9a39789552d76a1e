"""The query-centric graph of a snapshot (QCG-RAG, section 3): sparse matrices over nodes and chunks.

`E_intra`, the neighbour edges, is a nodes x nodes CSR matrix; `E_inter`, which chunk a node belongs to, one
position per node. Nodes and chunks are numbered in the order of their keys; the numbers live in memory only.

Memory: 4 bytes per vector component of nodes and chunks (1,536 a row for MiniLM), or none of a table that has more
vectors than are held in memory: these lie on disk, with an index. 12 bytes per edge, 12 per node, and the keys.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from quern.indexes.catalog.folder import Snapshot
from quern.indexes.disk import let_go, mapped
from quern.indexes.graph.structure import Documents, Edges, Members, joined, read_columns, read_edges, read_members
from quern.indexes.keys import positions_in
from quern.indexes.lexical import LexicalIndex
from quern.indexes.search_files import SearchFiles
from quern.indexes.vectors import Floats, Neighbours, Positions, vector_matrix


class VectorIndex(Protocol):
    """An index of vectors that lie on disk."""

    def nearest(self, queries: Floats, k: int) -> Neighbours:
        """The `k` nearest vectors to each of `queries`, shape (q, d); not always all of them."""


class VectorIndexes(Protocol):
    """A kind of index."""

    def write(self, folder: Path, vectors: Floats) -> None:
        """Write the index of mapped vectors, shape (n, d), to a folder."""

    def open(self, folder: Path, vectors: Floats) -> VectorIndex:
        """The index in a folder."""


@dataclass(frozen=True)
class Keyed:
    """Rows of a table in the order of their keys."""

    keys: pa.Array  # Sorted keys, string array of n.
    vectors: Floats  # Their vectors, shape (n, d) float32.
    owner: Positions  # The position of each one's chunk, shape (n,); of a chunk its own.
    index: VectorIndex | None = None  # Of vectors on disk.


def _nameless(shape: tuple[int, int]) -> Floats:
    """Room for vectors in a temporary file that has no name any more and goes with the process."""
    path = Path(tempfile.gettempdir()) / f"quern-vectors-{os.getpid()}-{uuid4().hex}"
    try:
        return mapped(path, np.float32, shape)
    finally:
        path.unlink(missing_ok=True)


class QueryGraph:
    """The graph of one snapshot, loaded table by table as it is needed."""

    def __init__(
        self, snapshot: Snapshot, vectors_in_memory: int = 1_000_000, indexes: Callable[[], VectorIndexes] | None = None
    ) -> None:
        """The graph of `snapshot`.

        Args:
            snapshot: The snapshot.
            vectors_in_memory: Of a table that has more vectors they lie on disk, in files that are made once.
            indexes: Gives the kind of index that these have; None to compare with all of them.
        """
        self._snapshot, self._in_memory, self._indexes = snapshot, vectors_in_memory, indexes

    @cached_property
    def members(self) -> Members:
        """Which chunk each node belongs to, and which document each chunk."""
        return read_members(self._snapshot)

    @cached_property
    def chunks(self) -> Keyed:
        """All chunks with their vectors."""
        return self._keyed("chunks", "chunk_id", self.members.chunks, np.arange(len(self.members.chunks)))

    @cached_property
    def nodes(self) -> Keyed:
        """All nodes with their vectors, each with the position of its chunk."""
        return self._keyed("nodes", "query_id", self.members.nodes, self.members.owner)

    def _keyed(self, name: str, key: str, keys: pa.Array, owner: Positions) -> Keyed:
        version = self._snapshot.manifest.tables[name]
        shape = (len(keys), version.dimension or 0)
        if shape[0] <= self._in_memory:
            return Keyed(keys, self._filled(np.empty, shape, name, key, keys), owner)
        indexes = self._indexes() if self._indexes else None

        def make(folder: Path) -> None:
            room = partial(mapped, folder / "vectors", np.float32)
            vectors = self._filled(room, shape, name, key, keys)
            if indexes:
                indexes.write(folder, vectors)

        def opened(folder: Path) -> Keyed:
            vectors = np.memmap(folder / "vectors", np.float32, "r", shape=shape)
            return Keyed(keys, vectors, owner, indexes.open(folder, vectors) if indexes else None)

        suffix = "index" if indexes else "vectors"
        files = SearchFiles(self._snapshot.warehouse.root)
        keyed = files.opened(f"{name}-{version.digest[:32]}-{suffix}", make, opened)
        return keyed or Keyed(keys, self._filled(_nameless, shape, name, key, keys), owner)

    def _filled(
        self, room: Callable[[tuple[int, int]], Floats], shape: tuple[int, int], name: str, key: str, keys: pa.Array
    ) -> Floats:
        """The table's vectors in the order of `keys`, read batch by batch into one matrix."""
        matrix = room(shape)
        for batch in self._snapshot.table(name).batches([key, "vector"]):
            matrix[positions_in(keys, batch.column(key))] = vector_matrix(batch.column("vector"))
            let_go(matrix, slice(0, len(matrix)))
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
    def _edges(self) -> dict[str, Edges]:
        return read_edges(self._snapshot, self.members.nodes)

    def _matrix(self, kind: str, added: float) -> sparse.csr_array:
        return self._edges.get(kind, joined([])).matrix(len(self.members.nodes), added)

    @cached_property
    def lexical(self) -> LexicalIndex:
        """Full-text search over the chunks."""
        return LexicalIndex([self.chunk_column("terms")])

    def chunk_column(self, name: str) -> pa.Array:
        """A column of the chunks, in the order of their keys."""
        rows = read_columns(self._snapshot.table("chunks"), ["chunk_id", name]).sort_by("chunk_id")
        return rows[name].combine_chunks()

    @cached_property
    def documents(self) -> Documents:
        """Which document each chunk belongs to."""
        return self.members.documents

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
        visited = sparse.csr_array((np.ones(len(question), dtype=np.bool_), (question, node)), shape=shape)
        reached = [(question, node, np.zeros(len(question), dtype=np.int32))]
        frontier = visited
        step = self.edges.astype(np.bool_)
        for hop in range(1, hops + 1):
            frontier = (frontier @ step).astype(np.bool_)
            frontier = (frontier > visited).tocsr()
            visited = (visited + frontier).tocsr()
            new = frontier.tocoo()
            reached.append((new.row.astype(np.int64), new.col.astype(np.int64), np.full(new.nnz, hop, dtype=np.int32)))
        q, n, hop_of = (np.concatenate(c) for c in zip(*reached, strict=True))
        order = np.lexsort((n, q))
        return Widened(q[order], n[order], hop_of[order])


@dataclass(frozen=True)
class Widened:
    """Reached nodes per question, sorted by question and node; arrays of one length."""

    question: Positions
    node: Positions
    hop: npt.NDArray[np.int32]
