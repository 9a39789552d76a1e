"""Rows of `pages` for documents that files give as fields: JSONL, tables, texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from quern.jobs.pages.formats.rows import FileReject, Row, modified_of, page_row
from quern.jobs.text.given_documents import UnfitDocumentError, given_document
from quern.schemas.settings import IngestSettings

JSON_TYPE: Final = "application/json"


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
        given = given_document(said, settings.names, settings.day_first)
    except UnfitDocumentError as error:
        yield FileReject(key, error.reason, str(error))
        return
    if line is not None and not settings.map and settings.day_first is None:
        body = line
    else:  # Halves of surrogate pairs, which `clean` leaves out, have no bytes.
        body = json.dumps(given.fields, ensure_ascii=False).encode("utf-8", "ignore")
    if len(body) > settings.max_page_bytes:
        yield FileReject(key, "too_large", f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)")
        return
    for reason, detail in given.unread:
        yield FileReject(key, reason, detail)
    yield page_row(
        f"doc:{given.fields['doc_id']}",
        body,
        name,
        content_type=JSON_TYPE,
        warc_offset=number,
        last_modified=modified_of(given),
    )
