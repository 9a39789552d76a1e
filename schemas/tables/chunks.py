"""Table `chunks`: documents cut to what the embedding model reads."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import UNIT_VECTOR, Between, Equal, Greater, Known
from quern.schemas.contract.table import (
    TEXT_LENGTH,
    VECTOR,
    VECTOR_NORM,
    Derived,
    Listing,
    Table,
    column,
    columns,
    optional,
)

CHUNKS = Table(
    "chunks",
    ("chunk_id",),
    columns(
        column("chunk_id", pa.string(), "`{doc_id}-{n}`, n counted from 0 in reading order."),
        column("doc_id", pa.string(), "Document it was cut from."),
        column("text", pa.string(), "`documents.text[start:end]`, exactly."),
        column("start", pa.int64(), "First character in `documents.text`."),
        column("end", pa.int64(), "One past the last character in `documents.text`."),
        column("token_count", pa.int32(), "Tokens of `text` by the embedder's tokenizer, special tokens excluded."),
        column("terms", pa.string(), "Words for full-text search, of title, header and text; CamelCase, CJK split."),
        optional("header", pa.string(), "Header of the table in whose midst the chunk begins, as in the document."),
        optional("title", pa.string(), "Title of the document: context for synthetic queries and citations."),
        optional("published_at", TIMESTAMP, "Publication time of the document."),
        optional("utc_offset", pa.int32(), "`documents.utc_offset`: the document's days are counted in it."),
        column("vector", VECTOR, "L2-normalised embedding of title and text in the form that is searched."),
    ),
    served=True,
    doc="A passage of a document that repeats no other, as long as the embedding model reads at once.",
    row="chunk",
    references={"doc_id": "documents"},
    indexes=("chunk_id", "doc_id"),
    prose=("text", "header", "title"),
    words="terms",
    derived=(TEXT_LENGTH, Derived("span_length", "difference", ("end", "start")), VECTOR_NORM),
    expects=(
        Known("doc_id"),
        Known("text"),
        Between("start", 0),
        Greater("end", "start"),
        Equal(
            "text_length",
            "span_length",
            title="chunks spans",
            notes="The chunk's text is as long as its span of `documents.text`.",
        ),
        Between("token_count", 1),
        UNIT_VECTOR,
    ),
    hidden=("terms",),
    listings=(Listing("chunks", "doc_id"),),
)
