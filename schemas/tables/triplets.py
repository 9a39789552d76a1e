"""Table `triplets`: what chunks state of things. No job makes it yet."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.table import Listing, Table, column

TRIPLETS = Table(
    "triplets",
    ("triplet_id",),
    pa.schema(
        [
            column("triplet_id", pa.string(), "Made from chunk, subject, relation and object."),
            column("chunk_id", pa.string(), "Chunk that states it."),
            column("subject", pa.string(), "Subject, as named in the chunk."),
            column("relation", pa.string(), "Relation, as worded in the chunk."),
            column("object", pa.string(), "Object, as named in the chunk."),
        ]
    ),
    served=True,
    doc="A statement of a chunk: subject, relation, object.",
    row="triplet",
    references={"chunk_id": "chunks"},
    empty=None,
    listings=(Listing("triplets", "chunk_id", ("triplet_id", "subject", "relation", "object")),),
)
