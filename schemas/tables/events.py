"""Table `events`: what happened, and when."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import UNIT_VECTOR, Between, Greater, Known, OneOf
from quern.schemas.contract.table import VECTOR, VECTOR_NORM, Listing, Table, column, columns, optional

PRECISIONS = ("day", "week", "month", "quarter", "season", "half", "year", "decade", "range")
SOURCE = pa.struct(
    {**dict.fromkeys(("event_id", "chunk_id", "doc_id"), pa.string()), **dict.fromkeys(("start", "end"), pa.int64())}
)

EVENTS = Table(
    "events",
    ("event_id",),
    columns(
        column("event_id", pa.string(), "Made from what the report kept says, so that it changes with it."),
        column("chunk_id", pa.string(), "Chunk that reports it; of several the one whose report was kept."),
        column("doc_id", pa.string(), "Document of that chunk."),
        column("start", pa.int64(), "First character of `summary` in `documents.text`."),
        column("end", pa.int64(), "One past its last character."),
        column("from_day", TIMESTAMP, "First day of the time meant, at midnight."),
        column("to_day", TIMESTAMP, "Last day of the time meant, at midnight."),
        column(
            "precision",
            pa.string(),
            "Unit that the date is given in: " + ", ".join(f"`{p}`" for p in PRECISIONS[:-1]) + "; or `range`.",
        ),
        column("timex", pa.string(), "The date as a TIMEX value: 2024-03-02, 2024-W09, 2024-03, 2024-Q1, 2024."),
        column("date_from", pa.string(), "`text`, or `document` where the report's own date was taken."),
        column("expected", pa.bool_(), "Whether it was planned for a day after the report's own."),
        column("title", pa.string(), "What happened, in a few words."),
        column("summary", pa.string(), "What happened: a sentence of the chunk, `documents.text[start:end]`."),
        column("entities", pa.list_(pa.string()), "Names of those that the reports of it name."),
        optional("published_at", TIMESTAMP, "Publication time of the document."),
        column("sources", pa.list_(SOURCE), "All reports of it, this one first, each with its span."),
        column("vector", VECTOR, "L2-normalised embedding of `title summary` in the form that is searched."),
    ),
    served=True,
    doc="Something that chunks report to have happened, or to be planned, at a time.",
    row="event",
    references={"chunk_id": "chunks", "doc_id": "documents"},
    indexes=("event_id", "chunk_id"),
    prose=("title", "summary"),
    derived=(VECTOR_NORM,),
    expects=(
        Between("start", 0),
        Greater("end", "start"),
        Known("from_day"),
        Known("to_day"),
        OneOf("precision", PRECISIONS),
        OneOf("date_from", ("text", "document")),
        Known("title"),
        Known("summary"),
        UNIT_VECTOR,
    ),
    empty=None,
    no_loss=frozenset({"no_date", "published_later"}),
    listings=(Listing("events", "chunk_id", ("event_id", "timex", "title")),),
)
