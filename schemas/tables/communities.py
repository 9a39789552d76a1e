"""Table `communities`: passages that the query-centric graph joins, with what they say in a few sentences."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import Between, Known
from quern.schemas.contract.table import Table, column, columns, optional

CENTRAL = pa.struct(
    {
        **dict.fromkeys(("query_id", "chunk_id", "doc_id"), pa.string()),
        **dict.fromkeys(("start", "end"), pa.int64()),
        **dict.fromkeys(("text", "title"), pa.string()),
        "published_at": TIMESTAMP,
    }
)
STATED = pa.struct([("text", pa.string()), ("rests_on", pa.list_(pa.int32()))])

COMMUNITIES = Table(
    "communities",
    ("community_id",),
    columns(
        column("community_id", pa.string(), "Made from level and members."),
        column("level", pa.int32(), "0 for the coarsest; a community is divided at the next level if it is large."),
        column("chunk_count", pa.int32(), "Number of its chunks."),
        column("document_count", pa.int32(), "Number of their documents."),
        column("chunk_ids", pa.list_(pa.string()), "Its chunks, in the order of their keys."),
        optional("from_time", TIMESTAMP, "Publication time of its first document that has one."),
        optional("to_time", TIMESTAMP, "The same of its last."),
        column("keywords", pa.list_(pa.string()), "Words by which it differs most; none if a model wrote its title."),
        column(
            "sentences",
            pa.list_(CENTRAL),
            "Its most central sentences, best first, without repetitions: `text` is `documents.text[start:end]`, "
            "`query_id` the node that led there, `title` and `published_at` those of the document.",
        ),
        column("digest", pa.string(), "BLAKE2b-128 of members and sentences: what changed shows here."),
        column("title", pa.string(), "What it is about, in a few words."),
        column("summary", pa.list_(STATED), "What it says: sentences, with numbers of `sentences` from 1."),
        column("by", pa.string(), "What wrote title and summary: `rules`, or the kind of generator."),
    ),
    served=True,
    doc="A group of chunks that the query-centric graph joins, with its central sentences and a summary.",
    row="community",
    indexes=("community_id",),
    prose=("title", "keywords"),
    expects=(Between("level", 0), Between("chunk_count", 1), Known("title")),
    empty=None,
    hidden=("digest",),
)
