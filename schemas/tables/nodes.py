"""Table `nodes`: the kept queries, with their vectors."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.expectations import UNIT_VECTOR, Known
from quern.schemas.contract.table import VECTOR, VECTOR_NORM, Listing, Table, column, columns

NODES = Table(
    "nodes",
    ("query_id",),
    columns(
        column("query_id", pa.string(), "The kept query."),
        column("chunk_id", pa.string(), "Chunk it belongs to: the edge of E_inter."),
        column("text", pa.string(), "`question answer`."),
        column("vector", VECTOR, "L2-normalised embedding of `text` in the form that is searched."),
    ),
    served=True,
    doc="A kept query as a node of the query-centric graph.",
    row="node",
    references={"query_id": "queries", "chunk_id": "chunks"},
    indexes=("query_id", "chunk_id"),
    prose=("text",),
    derived=(VECTOR_NORM,),
    expects=(Known("chunk_id"), UNIT_VECTOR),
    # A corpus of nothing but tables may have no question; plain retrieval goes on without.
    empty="warning",
    listings=(Listing("node", "query_id"),),
)
