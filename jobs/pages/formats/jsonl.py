"""Documents from JSONL files, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from quern.jobs.pages.formats.documents import document_pages
from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.rows import FileReject, Row
from quern.schemas.settings import IngestSettings


def json_pages(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a JSONL file, and the lines that give none."""
    number = 0
    try:
        for number, line in enumerate(_lines(stream, settings.max_page_bytes), 1):
            if line is None:
                detail = f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)"
                yield FileReject(f"{name}:{number}", "too_large", detail)
            elif line.strip():
                line = line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip()
                yield from _json_page(line, name, number, settings)
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


def _json_page(line: bytes, name: str, number: int, settings: IngestSettings) -> Iterator[Row | FileReject]:
    try:
        said = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        yield FileReject(f"{name}:{number}", "not_utf8", f"byte {error.start} of the line is not valid UTF-8")
    except (ValueError, RecursionError) as error:
        yield FileReject(f"{name}:{number}", "invalid_json", str(error))
    else:
        yield from document_pages(said, line, name, number, settings)
