"""Small archives and folders for tests of reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quern.jobs.pages.ingest import FileReject, read_pages
from quern.schemas.contract.validate import validate
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES

HTML = b"<html><body><p>Herring is served at nine.</p></body></html>"
SAMPLES = Path(__file__).parents[4] / "shared" / "datasets" / "warc_samples"


def read(root: Path, **settings: Any) -> tuple[list[dict], list[FileReject]]:
    rows, rejects = [], []
    for found in read_pages(root, IngestSettings(**settings)):
        if isinstance(found, FileReject):
            rejects.append(found)
        else:
            rows += validate(found, PAGES).to_pylist()
    return rows, rejects


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
