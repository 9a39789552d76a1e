"""Pages from files of plain text and Markdown, a file each, as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from quern.jobs.pages.formats.html_files import binary, page_url
from quern.jobs.pages.formats.rows import FileReject, Row, modified_of, page_row
from quern.jobs.text.markdown import given_markdown, with_days_in_order
from quern.schemas.settings import IngestSettings

TEXT_TYPE: Final = "text/plain"
MARKDOWN_TYPE: Final = "text/markdown"
"""RFC 7763."""


def text_pages(
    stream: BinaryIO, path: Path, name: str, kind: str, settings: IngestSettings
) -> Iterator[Row | FileReject]:
    """The page of a text file at `path` under the input, and what its front matter says that cannot be read.

    Or why it is none.
    """
    body = stream.read(settings.max_page_bytes + 1)
    if len(body) > settings.max_page_bytes:
        yield FileReject(name, "too_large", f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)")
    elif not body.strip():
        yield FileReject(name, "empty", "the file has no text")
    elif what := binary(body):
        yield FileReject(name, "not_text", f"the content is {what}")
    elif kind == ".md":
        if settings.day_first is not None:
            body = with_days_in_order(body, settings.day_first)
        given = given_markdown(body, None, name)
        for reason, detail in given.unread:
            yield FileReject(name, reason, detail)
        modified = modified_of(given)
        yield page_row(page_url(path), body, name, content_type=MARKDOWN_TYPE, last_modified=modified)
    else:
        yield page_row(page_url(path), body, name, content_type=TEXT_TYPE)
