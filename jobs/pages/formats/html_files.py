"""Pages from HTML files, whose addresses are made from their paths."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote

from quern.jobs.pages.formats.rows import FileReject, Row, page_row
from quern.schemas.settings import IngestSettings

_LABEL: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
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


def html_page(stream: BinaryIO, path: Path, name: str, settings: IngestSettings) -> Row | FileReject:
    """The page of an HTML file at `path` under the input, or why it is none."""
    body = stream.read(settings.max_page_bytes + 1)
    if len(body) > settings.max_page_bytes:
        return FileReject(name, "too_large", f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)")
    fault = not_html(body)
    if fault:
        return FileReject(name, *fault)
    return page_row(page_url(path), body, name, content_type=media_type(body))


def page_url(path: Path) -> str:
    """Address of a page by its file's path: `https:` where the first folder is named like a host, as `wget -r` does.

    Of a path from the root it is that of the file.
    """
    parts = path.parts[1:] if path.is_absolute() else path.parts
    if parts[-1].lower().endswith(".gz"):
        parts = (*parts[:-1], parts[-1][: -len(".gz")])
    relative = "/".join(quote(os.fsencode(part), safe="~:@!$&'()*+,;=") for part in parts)
    host = len(parts) > 1 and not path.is_absolute() and _is_host(parts[0])
    return f"https://{relative}" if host else f"file:///{relative}"


def _is_host(name: str) -> bool:
    labels = name.split(".")
    top = labels[-1]
    return (
        len(labels) > 1 and all(_LABEL.fullmatch(label) for label in labels) and len(top) > 1 and not top[0].isdigit()
    )


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
    known = next((what for magic, what in _MAGIC.items() if head.startswith(magic)), "")
    if known or head.startswith(_UTF16):
        return known
    return "binary" if _BINARY.search(head) else ""


def media_type(body: bytes) -> str:
    """Media type of an HTML page that declares none."""
    head = body[:_SNIFFED].lstrip()
    xhtml = head.startswith(b"<?xml") and b"http://www.w3.org/1999/xhtml" in head
    return "application/xhtml+xml" if xhtml else "text/html"
