"""Table `queries`: synthetic questions that a chunk answers, with their answers."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.expectations import COSINE, Known
from quern.schemas.contract.table import Listing, Table, column, columns

QUERIES = Table(
    "queries",
    ("query_id",),
    columns(
        column("query_id", pa.string(), "`{chunk_id}-{m}`, m counted from 0."),
        column("chunk_id", pa.string(), "Chunk that answers it."),
        column("question", pa.string(), "Synthetic query (Doc2Query; QCG-RAG section 3.3)."),
        column("answer", pa.string(), "Its answer, quoted from the chunk."),
        column("similarity", pa.float32(), "Cosine of its vector with the chunk's (Doc2Query--), in [-1, 1]."),
        column("kept", pa.bool_(), "Whether it is among the best alpha and so becomes a node."),
    ),
    doc="A question that a chunk answers, with its answer: written by rules or by a model (Doc2Query).",
    row="query",
    references={"chunk_id": "chunks"},
    expects=(Known("chunk_id"), Known("question"), COSINE),
    empty=None,
    listings=(Listing("queries", "chunk_id", ("query_id", "question", "similarity", "kept")),),
)
