"""Table `events`: what happened, and when. No job makes it yet."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import UNIT_VECTOR, Dated, OneOf
from quern.schemas.contract.table import VECTOR, VECTOR_NORM, Listing, Table, column

EVENTS = Table(
    "events",
    ("event_id",),
    pa.schema(
        [
            column("event_id", pa.string(), "Made from chunk, date and title."),
            column("chunk_id", pa.string(), "Chunk that reports it."),
            column("date", TIMESTAMP, "Start of the day, month or year of the event."),
            column("precision", pa.string(), "`year`, `month` or `day`."),
            column("date_from", pa.string(), "`text`, or `document` where the report's own date was taken."),
            column("title", pa.string(), "What happened, in a few words."),
            column("summary", pa.string(), "What happened, in a sentence."),
            column("vector", VECTOR, "L2-normalised embedding of title and summary."),
        ]
    ),
    served=True,
    doc="Something that a chunk reports to have happened at a time.",
    row="event",
    references={"chunk_id": "chunks"},
    derived=(VECTOR_NORM,),
    expects=(
        Dated("date"),
        OneOf("precision", ("year", "month", "day")),
        OneOf("date_from", ("text", "document")),
        UNIT_VECTOR,
    ),
    empty=None,
    listings=(Listing("events", "chunk_id", ("event_id", "date", "title")),),
)
