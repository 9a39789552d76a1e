"""Table `triplets`: what chunks state of things."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import Between, Greater, Known, OneOf
from quern.schemas.contract.table import Listing, Table, column, columns, optional

TRIPLETS = Table(
    "triplets",
    ("triplet_id",),
    columns(
        column("triplet_id", pa.string(), "Made from chunk, subject, relation and object."),
        column("chunk_id", pa.string(), "Chunk that states it."),
        column("doc_id", pa.string(), "Document of that chunk."),
        column("start", pa.int64(), "First character of the sentence or row that states it, in `documents.text`."),
        column("end", pa.int64(), "One past its last character."),
        column("subject", pa.string(), "Subject, as named in the chunk."),
        column("subject_start", pa.int64(), "First character of the subject in `documents.text`."),
        column("subject_end", pa.int64(), "One past its last character."),
        column("relation", pa.string(), "Relation, as worded in the chunk; of a row the head of the column."),
        column("relation_start", pa.int64(), "First character of the relation in `documents.text`."),
        column("relation_end", pa.int64(), "One past its last character."),
        column("object", pa.string(), "Object, as named in the chunk."),
        column("object_start", pa.int64(), "First character of the object in `documents.text`."),
        column("object_end", pa.int64(), "One past its last character."),
        column("how", pa.string(), "What states it: a `sentence`, a `row` of a table, or a `model`."),
        optional("subject_name", pa.string(), "The name that the subject is, in the fullest form of its chunk."),
        optional("object_name", pa.string(), "The name that the object is, in the fullest form of its chunk."),
        optional("published_at", TIMESTAMP, "Publication time of the document."),
    ),
    served=True,
    doc="A statement of a chunk: subject, relation, object.",
    row="triplet",
    references={"chunk_id": "chunks", "doc_id": "documents"},
    indexes=("triplet_id", "chunk_id"),
    prose=("subject", "relation", "object"),
    expects=(
        Between("start", 0),
        Greater("end", "start"),
        Greater("subject_end", "subject_start"),
        Greater("relation_end", "relation_start"),
        Greater("object_end", "object_start"),
        Known("subject"),
        Known("relation"),
        Known("object"),
        OneOf("how", ("sentence", "row", "label", "name", "model")),
    ),
    empty=None,
    listings=(Listing("triplets", "chunk_id", ("triplet_id", "subject", "relation", "object")),),
)
