"""Documents from JSONL files, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.rows import FileReject, Row, page_row
from quern.jobs.text.plain_text import parse_time, printable
from quern.schemas.settings import IngestSettings

_OPTIONAL: Final = ("url", "title", "author", "published_at", "site", "language")


def json_pages(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a JSONL file, and the lines that give none."""
    number = 0
    try:
        for number, line in enumerate(_lines(stream, settings.max_page_bytes), 1):
            if line is None:
                detail = f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)"
                yield FileReject(f"{name}:{number}", "too_large", detail)
            elif line.strip():
                yield from _json_page(line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip(), name, number)
    except DamagedError as error:
        # A damaged file keeps its good lines; one that is not gzip at all has no line to name.
        key = name if error.reason == "not_gzip" else f"{name}:{number + 1}"
        yield FileReject(key, error.reason, str(error))


def _lines(stream: BinaryIO, limit: int) -> Iterator[bytes | None]:
    """Lines of at most `limit` bytes; null for a longer one, of which no more is held in memory."""
    while line := stream.readline(limit + 1):
        if len(line) <= limit or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(1 << 16)
        yield None


def _json_page(line: bytes, name: str, number: int) -> Iterator[Row | FileReject]:
    key = f"{name}:{number}"
    fault, given = _parsed(line)
    if fault:
        yield FileReject(key, *fault)
        return
    stated = given.get("published_at")
    if stated and stated.strip() and parse_time(stated) is None:
        yield FileReject(
            key, "bad_date", f"the document is kept without its published_at, {stated[:80]!r}, which is no date"
        )
    # Its id identifies a document, not its `url`: two passages of one page may share that.
    yield page_row(f"doc:{given['doc_id']}", line, name, content_type="application/json", warc_offset=number)


def _parsed(line: bytes) -> tuple[tuple[str, str] | None, dict[str, Any]]:
    """Reason and detail if `line` gives no document, and the document."""
    try:
        given = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return ("not_utf8", f"byte {error.start} of the line is not valid UTF-8"), {}
    except (ValueError, RecursionError) as error:
        return ("invalid_json", str(error)), {}
    fault = _document_fault(given)
    return (fault, {}) if fault else (None, given)


def _document_fault(given: object) -> tuple[str, str] | None:
    if not isinstance(given, dict):
        return "invalid_document", f"a document is an object, not a {type(given).__name__}"
    for field in ("doc_id", "text"):
        if field not in given:
            return "missing_field", f"a document must have {field}"
        if not isinstance(given[field], str):
            return "wrong_type", f"{field} must be a string, not a {type(given[field]).__name__}"
    if not given["doc_id"].strip():
        return "bad_doc_id", "doc_id is empty"
    if printable(given["doc_id"]) != given["doc_id"] or "\n" in given["doc_id"]:
        return "bad_doc_id", "doc_id holds a control character or half of a surrogate pair"
    for field in _OPTIONAL:
        if not isinstance(given.get(field), str | None):
            return "wrong_type", f"{field} must be a string or null, not a {type(given[field]).__name__}"
    return None
