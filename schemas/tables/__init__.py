"""One Arrow schema per table of the warehouse, each field with its meaning, unit and source.

Keys are stable: the same content gets the same key on every build and every machine. Times are UTC
`timestamp[us]`. A vector column is declared as `VECTOR` here and gets its width from the embedding model
through `Table.with_dimension`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

TIMESTAMP = pa.timestamp("us", tz="UTC")
VECTOR = pa.list_(pa.float32())
IMAGE = pa.struct(
    [
        ("url", pa.string()),
        ("alt", pa.string()),
        ("caption", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
    ]
)
STATED = pa.struct([("field", pa.string()), ("by", pa.string())])
COUNT = pa.struct([("type", pa.string()), ("count", pa.int32())])


@dataclass(frozen=True)
class Table:
    """The contract of one table.

    Attributes:
        name: Name of the table, also of its directory in the warehouse.
        key: Columns that identify a row; never null, unique over the table.
        schema: Arrow schema; every field carries a `doc` metadata entry.
        served: Whether readers open it through LanceDB; the others are staged as Parquet.
        provenance: Columns that say when a row was made, not what it holds; left out of the table's digest.
        digested: Columns for which another column, a digest of them, stands in the table's digest.
    """

    name: str
    key: tuple[str, ...]
    schema: pa.Schema
    served: bool
    provenance: tuple[str, ...] = ()
    digested: tuple[str, ...] = ()

    def with_dimension(self, dimension: int) -> Table:
        """This table with its vector columns fixed to `dimension` float32 numbers."""
        fields = [
            pa.field(f.name, pa.list_(pa.float32(), dimension), f.nullable, f.metadata) if f.type == VECTOR else f
            for f in self.schema
        ]
        return replace(self, schema=pa.schema(fields))

    def without(self, *columns: str) -> Table:
        """This table before the named columns have been computed."""
        return replace(self, schema=pa.schema([f for f in self.schema if f.name not in columns]))

    def doc(self, column: str) -> str:
        """What the named column means."""
        metadata: dict[bytes, bytes] = self.schema.field(column).metadata or {}
        return metadata.get(b"doc", b"").decode()


def _field(name: str, kind: pa.DataType, doc: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable, {"doc": doc})


def _optional(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    return _field(name, kind, doc, nullable=True)


PAGES = Table(
    "pages",
    ("url",),
    pa.schema(
        [
            _field("url", pa.string(), "Address the page was fetched from; for a folder made from the file's path."),
            _optional(
                "fetched_at", TIMESTAMP, "When it was fetched (WARC-Date); null for files, whose times are local."
            ),
            _optional("status", pa.int32(), "HTTP status; null where no HTTP exchange is recorded."),
            _field("content_type", pa.string(), "Media type without parameters, sniffed where none is declared."),
            _optional("charset", pa.string(), "Character encoding declared by the HTTP header."),
            _field("body", pa.binary(), "The page as bytes, after content and transfer decoding."),
            _optional("etag", pa.string(), "HTTP ETag, for conditional requests."),
            _optional("last_modified", pa.string(), "HTTP Last-Modified, as sent."),
            _field("source_file", pa.string(), "File the page was read from, relative to the input."),
            _optional("warc_file", pa.string(), "WARC file that archives the page."),
            _optional("warc_offset", pa.int64(), "Byte offset of its record in `warc_file`; line number for JSONL."),
            _field("digest", pa.string(), "BLAKE2b-128 of `body`, hexadecimal."),
        ]
    ),
    served=False,
    digested=("body",),
)

DOCUMENTS = Table(
    "documents",
    ("doc_id",),
    pa.schema(
        [
            _field("doc_id", pa.string(), "Given by a JSONL document, else made from the canonical URL."),
            _field("page_url", pa.string(), "`pages.url` it was made from."),
            _optional("url", pa.string(), "Canonical URL."),
            _optional("site", pa.string(), "Host name without `www.`, or as given."),
            _optional("site_name", pa.string(), "Name of the site, as it calls itself."),
            _optional("title", pa.string(), "Title of the document, without the site's name where that is known."),
            _optional("author", pa.string(), "Author as named on the page."),
            _optional("published_at", TIMESTAMP, "Publication time; a date alone is midnight UTC."),
            _optional("modified_at", TIMESTAMP, "Last modification, where the page states one."),
            _optional("language", pa.string(), "ISO 639-1 code of the text."),
            _field("text", pa.string(), "Main text; paragraphs separated by line breaks."),
            _field("images", pa.list_(IMAGE), "Images beside the main text; width and height in pixels where stated."),
            _field("metadata_from", pa.list_(STATED), "What stated each field of metadata: `json-ld`, `open-graph`..."),
            _field("personal_data", pa.list_(COUNT), "Personal data found in the text: how many of each type."),
            _field("digest", pa.string(), "BLAKE2b-128 of title and text, hexadecimal: what changed shows here."),
            _optional("duplicate_of", pa.string(), "`doc_id` of the document that this one repeats."),
        ]
    ),
    served=True,
)

CHUNKS = Table(
    "chunks",
    ("chunk_id",),
    pa.schema(
        [
            _field("chunk_id", pa.string(), "`{doc_id}-{n}`, n counted from 0 in reading order."),
            _field("doc_id", pa.string(), "Document it was cut from."),
            _field("text", pa.string(), "`documents.text[start:end]`, exactly."),
            _field("start", pa.int64(), "First character in `documents.text`."),
            _field("end", pa.int64(), "One past the last character in `documents.text`."),
            _field("token_count", pa.int32(), "Tokens of `text` by the embedder's tokenizer, special tokens excluded."),
            _field(
                "terms", pa.string(), "Words for full-text search: the title and the text, CamelCase and CJK split."
            ),
            _optional("title", pa.string(), "Title of the document: context for synthetic queries and citations."),
            _optional("published_at", TIMESTAMP, "Publication time of the document."),
            _field("vector", VECTOR, "L2-normalised embedding of title, line break and text."),
        ]
    ),
    served=True,
)

QUERIES = Table(
    "queries",
    ("query_id",),
    pa.schema(
        [
            _field("query_id", pa.string(), "`{chunk_id}-{m}`, m counted from 0."),
            _field("chunk_id", pa.string(), "Chunk that answers it."),
            _field("question", pa.string(), "Synthetic query (Doc2Query; QCG-RAG section 3.3)."),
            _field("answer", pa.string(), "Its answer, quoted from the chunk."),
            _field("similarity", pa.float32(), "Cosine of `question answer` with the chunk (Doc2Query--), in [-1, 1]."),
            _field("kept", pa.bool_(), "Whether it is among the best alpha and so becomes a node."),
        ]
    ),
    served=False,
)

NODES = Table(
    "nodes",
    ("query_id",),
    pa.schema(
        [
            _field("query_id", pa.string(), "The kept query."),
            _field("chunk_id", pa.string(), "Chunk it belongs to: the edge of E_inter."),
            _field("text", pa.string(), "`question answer`, the text that is embedded."),
            _field("vector", VECTOR, "L2-normalised embedding of `text`."),
        ]
    ),
    served=True,
)

EDGES = Table(
    "edges",
    ("source", "kind", "rank"),
    pa.schema(
        [
            _field("source", pa.string(), "`query_id` the edge leaves from."),
            _field(
                "kind",
                pa.string(),
                "`neighbour`: one of the k nearest nodes (E_intra); `answer_question`: its answer is near the target's "
                "question; `mention`: its text names the title of the target's document.",
            ),
            _field("rank", pa.int32(), "0 for the nearest of the kind."),
            _field("target", pa.string(), "`query_id` the edge leads to."),
            _field(
                "similarity",
                pa.float32(),
                "`neighbour`: cosine of the two nodes' vectors; `answer_question`: of answer and question; `mention`: "
                "rarity of the title, its idf as a share of the largest possible, in [0, 1].",
            ),
        ]
    ),
    served=True,
)

EVENTS = Table(
    "events",
    ("event_id",),
    pa.schema(
        [
            _field("event_id", pa.string(), "Made from chunk, date and title."),
            _field("chunk_id", pa.string(), "Chunk that reports it."),
            _field("date", TIMESTAMP, "Start of the day, month or year of the event."),
            _field("precision", pa.string(), "`year`, `month` or `day`."),
            _field("date_from", pa.string(), "`text`, or `document` where the report's own date was taken."),
            _field("title", pa.string(), "What happened, in a few words."),
            _field("summary", pa.string(), "What happened, in a sentence."),
            _field("vector", VECTOR, "L2-normalised embedding of title and summary."),
        ]
    ),
    served=True,
)

TIMELINES = Table(
    "timelines",
    ("timeline_id",),
    pa.schema(
        [
            _field("timeline_id", pa.string(), "Made from its events."),
            _field("topic", pa.string(), "What the events have in common."),
            _field("keywords", pa.list_(pa.string()), "Keywords of the events."),
            _field("event_ids", pa.list_(pa.string()), "Its events, in order of time."),
        ]
    ),
    served=True,
)

TRIPLETS = Table(
    "triplets",
    ("triplet_id",),
    pa.schema(
        [
            _field("triplet_id", pa.string(), "Made from chunk, subject, relation and object."),
            _field("chunk_id", pa.string(), "Chunk that states it."),
            _field("subject", pa.string(), "Subject, as named in the chunk."),
            _field("relation", pa.string(), "Relation, as worded in the chunk."),
            _field("object", pa.string(), "Object, as named in the chunk."),
        ]
    ),
    served=True,
)

IMAGES = Table(
    "images",
    ("image_id",),
    pa.schema(
        [
            _field("image_id", pa.string(), "Made from document and URL."),
            _field("doc_id", pa.string(), "Document it stands in."),
            _field("url", pa.string(), "Absolute address."),
            _optional("alt", pa.string(), "Alternative text."),
            _optional("caption", pa.string(), "Caption."),
            _optional("width", pa.int32(), "Pixels."),
            _optional("height", pa.int32(), "Pixels."),
        ]
    ),
    served=True,
)

SOURCES = Table(
    "sources",
    ("site",),
    pa.schema(
        [
            _field("site", pa.string(), "Host name without `www.`."),
            _optional("name", pa.string(), "Name of the site, as it calls itself."),
            _field("home_url", pa.string(), "Address of its home page."),
            _field("topics", pa.list_(pa.string()), "Topics it writes about."),
            _field("documents", pa.int64(), "Documents of the corpus that it published."),
            _optional("reachable_at", TIMESTAMP, "When its home page last answered."),
        ]
    ),
    served=True,
)

REJECTS = Table(
    "rejects",
    ("job", "key", "reason"),
    pa.schema(
        [
            _field("job", pa.string(), "Job that left the row out."),
            _field("key", pa.string(), "Key of the row that was left out, or file and position."),
            _field("reason", pa.string(), "Reason code."),
            _field("detail", pa.string(), "What exactly was wrong, for a person."),
            _field("build_id", pa.string(), "Build that left it out; an unchanged table keeps the first."),
        ]
    ),
    served=False,
    provenance=("build_id",),
)

TABLES: dict[str, Table] = {
    t.name: t
    for t in (
        PAGES,
        DOCUMENTS,
        CHUNKS,
        QUERIES,
        NODES,
        EDGES,
        EVENTS,
        TIMELINES,
        TRIPLETS,
        IMAGES,
        SOURCES,
        REJECTS,
    )
}
