"""Table `pages`: web pages as they were fetched."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import Between, Dated, Known
from quern.schemas.contract.table import Table, column, columns, optional

_WARNINGS: Final = frozenset(
    "ambiguous_date bad_date bad_value cut_metadata digest_mismatch json_array missing_column mixed_encoding "
    "preamble".split()
)

PAGES = Table(
    "pages",
    ("url",),
    columns(
        column("url", pa.string(), "Address the page was fetched from; for a folder made from the file's path."),
        optional("fetched_at", TIMESTAMP, "When it was fetched (WARC-Date); null for files: local times."),
        optional("status", pa.int32(), "HTTP status; null where no HTTP exchange is recorded."),
        column("content_type", pa.string(), "Media type without parameters, sniffed where none is declared."),
        optional("charset", pa.string(), "Character encoding declared by the HTTP header."),
        column("body", pa.binary(), "The page as bytes, after content and transfer decoding."),
        optional("etag", pa.string(), "HTTP ETag, for conditional requests."),
        optional("last_modified", pa.string(), "HTTP Last-Modified, as sent."),
        column("source_file", pa.string(), "File the page was read from, relative to the input."),
        optional("warc_file", pa.string(), "WARC file that archives the page."),
        optional("warc_offset", pa.int64(), "Byte offset of its record in `warc_file`; line number for JSONL."),
        column("digest", pa.string(), "BLAKE2b-128 of `body`, hexadecimal."),
    ),
    doc="A web page as it was fetched: its newest capture.",
    row="page",
    digested=("body",),
    expects=(
        Known("body"),
        Dated("fetched_at"),
        Between("status", 100, 599, severity="warning", notes="RFC 9110, section 15."),
        Between("warc_offset", 0),
    ),
    # Captures of what is no page, second copies of one, and what is kept without a value.
    no_loss=_WARNINGS.union(
        "content_type duplicate_doc_id duplicate_url gone http_status removed revisit revisit_without_capture "
        "undecided_version unknown_kind".split()
    ),
    warnings=_WARNINGS,
)
