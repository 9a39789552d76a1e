"""What reading gives: rows of `pages`, rejects with their place, and sightings of pages that are there or gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from quern.jobs.text.given_documents import Given, UnfitDocumentError, given_document
from quern.jobs.text.plain_text import parse_time
from quern.schemas.digests import bytes_digest
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES

JSON_TYPE: Final = "application/json"
Row = dict[str, Any]


@dataclass(frozen=True)
class FileReject:
    """A page, line, record or whole file that was left out, or kept in spite of a fault."""

    key: str  # File relative to the input, with `:line` or `@offset` where the fault has a place in it.
    reason: str  # Code, such as `truncated_gzip`.
    detail: str  # What exactly was wrong, for a person.
    file: str = field(default="", compare=False)  # The file alone.


@dataclass(frozen=True)
class Sighting:
    """An archive's word that a page was there (a revisit) or gone (status 404 or 410) at a time."""

    url: str
    fetched_at: datetime
    gone: bool
    file: str


Found = Row | FileReject | Sighting


def modified_of(given: Given) -> str | None:
    """What a document states as `modified_at`, as `pages.last_modified` has it."""
    time = parse_time(given.fields.get("modified_at"))
    return time.isoformat() if time else None


def page_row(url: str, body: bytes, source_file: str, **others: object) -> Row:
    """A row of `pages`; columns that are not given are null."""
    empty = dict.fromkeys(PAGES.schema.names)
    return empty | {"url": url, "body": body, "source_file": source_file, "digest": bytes_digest(body)} | others


def document_pages(
    said: object, line: bytes | None, name: str, number: int | None, settings: IngestSettings
) -> Iterator[Row | FileReject]:
    """The page of a document, and what was not read of it; or why it is none.

    Its id identifies a document, not its `url`: two passages of one page may share that.

    Args:
        said: Its fields.
        line: The bytes that give it; what fields are called otherwise there, or what the settings tell how to read, or
            what no JSON is, is written anew.
        name: Of the file.
        number: Of the row in the file, from 1; None where the file is the document.
        settings: What the file calls fields, how its days are read, and bytes of a page.
    """
    key = name if number is None else f"{name}:{number}"
    try:
        document = given_document(said, settings.names, settings.day_first)
    except UnfitDocumentError as error:
        yield FileReject(key, error.reason, str(error))
        return
    if line is not None and not settings.map and settings.day_first is None:
        body = line
    else:  # Halves of surrogate pairs, which `clean` leaves out, have no bytes.
        body = json.dumps(document.fields, ensure_ascii=False).encode("utf-8", "ignore")
    if len(body) > settings.max_page_bytes:
        yield FileReject(key, "too_large", f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)")
        return
    for reason, detail in document.unread:
        yield FileReject(key, reason, detail)
    yield page_row(
        f"doc:{document.fields['doc_id']}",
        body,
        name,
        content_type=JSON_TYPE,
        warc_offset=number,
        last_modified=modified_of(document),
    )
