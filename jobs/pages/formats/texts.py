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
MDX_TYPE: Final = "text/mdx"
MARKDOWN: Final = (".md", ".markdown", ".mdx")
TEXTS: Final = (".txt", *MARKDOWN)
"""Endings of the names of such files."""


def is_text_file(url: str) -> bool:
    """Whether a page is a file of plain text or Markdown that somebody gives, not one that was fetched from a site."""
    return url.startswith("file:") and url.lower().endswith(TEXTS)


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
    elif kind in MARKDOWN:
        if settings.day_first is not None:
            body = with_days_in_order(body, settings.day_first)
        mdx = kind == ".mdx"
        given = given_markdown(body, None, name, mdx=mdx)
        for reason, detail in given.unread:
            yield FileReject(name, reason, detail)
        modified = modified_of(given)
        of_kind = MDX_TYPE if mdx else MARKDOWN_TYPE
        yield page_row(page_url(path), body, name, content_type=of_kind, last_modified=modified)
    else:
        yield page_row(page_url(path), body, name, content_type=TEXT_TYPE)
