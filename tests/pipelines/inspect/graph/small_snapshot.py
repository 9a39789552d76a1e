"""A snapshot of four chunks that was written by hand."""

from __future__ import annotations

from quern.indexes.stages import Stage
from quern.schemas.tables import CHUNKS, EDGES, NODES
from tests.conftest import Staged

# Chunks a, b of document d1, c of d2, alone of d3; two nodes each.
EDGE_ROWS = [
    ("a-0", "a-1", "neighbour"),
    ("a-1", "a-0", "neighbour"),
    ("a-0", "b-0", "neighbour"),
    ("b-0", "b-1", "neighbour"),
    ("b-1", "c-0", "mention"),
    ("c-0", "c-1", "neighbour"),
    ("c-1", "c-0", "neighbour"),
    ("alone-0", "alone-1", "neighbour"),
]
NASTY = 'Ben & "Jerry" <script>alert(1)</script> ]]> \x00\x08\ufffe 東京 \U0001f600'


class Small:
    """A snapshot of tables that were written by hand, in no order."""

    def __init__(self, staged: Staged) -> None:
        documents = {"a": "d1", "b": "d1", "c": "d2", "alone": "d3"}
        chunks = [
            {"chunk_id": c, "doc_id": d, "title": NASTY if c == "a" else None, "text": f"Text of {c}.", "vector": [1.0]}
            for c, d in reversed(documents.items())
        ]
        nodes = [
            {"query_id": f"{c}-{n}", "chunk_id": c, "text": f"What of {c}? {n}", "vector": [1.0]}
            for n in (1, 0)
            for c in documents
        ]
        edges = [{"source": s, "target": t, "kind": k, "rank": 0, "similarity": 0.5} for s, t, k in reversed(EDGE_ROWS)]
        self._stages = {
            "chunks": staged(CHUNKS.with_dimension(1), chunks),
            "nodes": staged(NODES.with_dimension(1), nodes),
            "edges": staged(EDGES, edges),
        }

    def stage(self, name: str) -> Stage:
        return self._stages[name]

    table = stage

    class manifest:  # noqa: N801 - stands for an attribute
        build_id = "small"
