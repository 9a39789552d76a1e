"""Small archives and folders for tests of reading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from quern.jobs.documents.clean import Clean
from quern.jobs.pages.formats.rows import FileReject, Sighting
from quern.jobs.pages.ingest import Reading, Span, batched
from quern.jobs.pages.inputs import of_path
from quern.schemas.contract.validate import validate
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES

HTML = b"<html><body><p>Herring is served at nine.</p></body></html>"
SAMPLES = Path(__file__).parents[4] / "shared" / "datasets" / "warc_samples"


def read_pages(root: Path, settings: IngestSettings) -> Iterator[pa.RecordBatch | FileReject]:
    """Pages under `root` as batches of `PAGES`, and what was left out."""
    found = (one for file in of_path(root) for one in Reading(Span(file, 0, max(file.size, 1)), settings))
    return (one for one in batched(found) if not isinstance(one, Sighting))


def read(root: Path, **settings: Any) -> tuple[list[dict], list[FileReject]]:
    rows, rejects = [], []
    for found in read_pages(root, IngestSettings(**settings)):
        if isinstance(found, FileReject):
            rejects.append(found)
        else:
            rows += validate(found, PAGES).to_pylist()
    return rows, rejects


def documents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents that `clean` makes of pages."""
    batch = pa.RecordBatch.from_pylist(rows, schema=PAGES.schema).select(list(Clean.reads))
    return [{**row, "metadata": dict(row["metadata"])} for row in Clean().apply(batch).rows.to_pylist()]


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def reasons(rejects: list[FileReject]) -> dict[str, str]:
    return {r.key: r.reason for r in rejects}


def warc(
    *records: tuple[str, bytes, str], kind: str = "response", content_type: str = "application/http"
) -> list[bytes]:
    return [
        (
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{i}>\r\nWARC-Target-URI: {url}\r\n"
            f"WARC-Date: {date}\r\nContent-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
        ).encode()
        + block
        + b"\r\n\r\n"
        for i, (url, block, date) in enumerate(records)
    ]


def http(body: bytes, *headers: str, status: int = 200, content_type: str = "text/html; charset=utf-8") -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {content_type}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
