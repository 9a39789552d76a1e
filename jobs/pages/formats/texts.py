"""Pages from files of plain text and Markdown, a file each, as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

from quern.jobs.pages.formats.html_files import binary, page_url
from quern.jobs.pages.formats.rows import FileReject, Row, page_row
from quern.schemas.settings import IngestSettings

TEXT_TYPE: Final = "text/plain"
MARKDOWN_TYPE: Final = "text/markdown"
"""RFC 7763."""


def text_page(stream: BinaryIO, path: Path, name: str, kind: str, settings: IngestSettings) -> Row | FileReject:
    """The page of a text file at `path` under the input, or why it is none."""
    body = stream.read(settings.max_page_bytes + 1)
    if len(body) > settings.max_page_bytes:
        return FileReject(name, "too_large", f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)")
    if not body.strip():
        return FileReject(name, "empty", "the file has no text")
    if what := binary(body):
        return FileReject(name, "not_text", f"the content is {what}")
    return page_row(page_url(path), body, name, content_type=MARKDOWN_TYPE if kind == ".md" else TEXT_TYPE)
