"""Pages from files, a page each: HTML, plain text and Markdown, PDF and DOCX."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote

from quern.jobs.pages.formats.rows import FileReject, Row, modified_of, page_row
from quern.jobs.text.markdown import given_markdown, with_days_in_order
from quern.schemas.settings import IngestSettings

# Labels of letters, digits and inner hyphens; the last one begins with a letter.
_HOST: Final = re.compile(r"(?:(?!-)[A-Za-z0-9-]{1,63}(?<!-)\.)+[A-Za-z][A-Za-z0-9-]{1,62}(?<!-)")
_MAGIC: Final = {
    b"%PDF-": "a PDF file",
    b"\x89PNG": "a PNG image",
    b"GIF8": "a GIF image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PK\x03\x04": "a zip file",
    b"\x1f\x8b": "gzip data",
    b"\x7fELF": "a program",
}
# The bytes that the WHATWG MIME Sniffing standard takes as proof of a binary file.
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_SNIFFED: Final = 1445
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")


def page_url(path: Path) -> str:
    """Address of a page by its file's path: `https:` where the first folder is named like a host, as `wget -r` does.

    Of a path from the root it is that of the file.
    """
    parts = path.parts[1:] if path.is_absolute() else path.parts
    if parts[-1].lower().endswith(".gz"):
        parts = (*parts[:-1], parts[-1][: -len(".gz")])
    relative = "/".join(quote(os.fsencode(part), safe="~:@!$&'()*+,;=") for part in parts)
    host = len(parts) > 1 and not path.is_absolute() and _HOST.fullmatch(parts[0])
    return f"https://{relative}" if host else f"file:///{relative}"


def not_html(body: bytes) -> tuple[str, str] | None:
    """Reason and detail if `body` is no HTML page. Markup with stray control bytes is a page all the same."""
    head = body[:_SNIFFED].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not body.strip():
        return "empty", "the page has no content"
    if head.startswith(b"<?xml") and b"<html" not in body[:8192].lower():
        return "not_html", "the page is XML of another kind"
    if head.startswith((b"<", *_UTF16)):
        return None
    what = binary(body)
    return ("not_html", f"the content is {what}") if what else None


def binary(body: bytes) -> str:
    """What `body` is if it is no text: `a PNG image`, or just `binary`; empty for a text."""
    head = body[:_SNIFFED].removeprefix(b"\xef\xbb\xbf").lstrip()
    kind = next((what for magic, what in _MAGIC.items() if head.startswith(magic)), "")
    if kind or head.startswith(_UTF16):
        return kind
    return "binary" if _BINARY.search(head) else ""


def media_type(body: bytes) -> str:
    """Media type of an HTML page that declares none."""
    head = body[:_SNIFFED].lstrip()
    xhtml = head.startswith(b"<?xml") and b"http://www.w3.org/1999/xhtml" in head
    return "application/xhtml+xml" if xhtml else "text/html"


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
        document = given_markdown(body, None, name, mdx=mdx)
        for reason, detail in document.unread:
            yield FileReject(name, reason, detail)
        modified = modified_of(document)
        of_kind = MDX_TYPE if mdx else MARKDOWN_TYPE
        yield page_row(page_url(path), body, name, content_type=of_kind, last_modified=modified)
    else:
        yield page_row(page_url(path), body, name, content_type=TEXT_TYPE)


PDF_TYPE: Final = "application/pdf"
DOCX_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FILE_TYPES: Final = {".pdf": PDF_TYPE, ".docx": DOCX_TYPE}
PDF_BEGINS: Final = b"%PDF-"
# PDF readers look for its mark in the first 1,024 bytes (ISO 32000-1, annex H.3); a DOCX file is a zip file, or where
# it asks for a password a compound file.
_HEAD: Final = 1024
_DOCX_BEGINS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def file_page(stream: BinaryIO, path: Path, name: str, kind: str, settings: IngestSettings) -> Row | FileReject:
    """The page of an HTML, PDF or DOCX file at `path` under the input, or why it is none."""
    file_type = FILE_TYPES.get(kind)
    if file_type:
        most, setting = settings.max_file_bytes, "ingest.max_file_bytes"
    else:
        most, setting = settings.max_page_bytes, "ingest.max_page_bytes"
    body = stream.read(most + 1)
    if len(body) > most:
        return FileReject(name, "too_large", f"more than {most} bytes ({setting})")
    if fault := not_file(body, file_type) if file_type else not_html(body):
        return FileReject(name, *fault)
    return page_row(page_url(path), body, name, content_type=file_type or media_type(body))


def not_file(body: bytes, content_type: str) -> tuple[str, str] | None:
    """Reason and detail if `body` does not begin as files of that type do."""
    if not body.strip():
        return "empty", "the file has no content"
    if content_type == PDF_TYPE:
        return None if PDF_BEGINS in body[:_HEAD] else ("not_pdf", f"the content is {binary(body) or 'text'}")
    return None if body.startswith(_DOCX_BEGINS) else ("not_docx", f"the content is {binary(body) or 'text'}")
