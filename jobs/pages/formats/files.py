"""Pages from PDF and DOCX files, a file each, as they are: `clean` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

from quern.jobs.pages.formats.html_files import binary, page_url
from quern.jobs.pages.formats.rows import FileReject, Row, page_row
from quern.schemas.settings import IngestSettings

PDF_TYPE: Final = "application/pdf"
DOCX_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FILE_TYPES: Final = {".pdf": PDF_TYPE, ".docx": DOCX_TYPE}
PDF_BEGINS: Final = b"%PDF-"
# PDF readers look for its mark in the first 1,024 bytes (ISO 32000-1, annex H.3); a DOCX file is a zip file, or where
# it asks for a password a compound file.
_HEAD: Final = 1024
_DOCX_BEGINS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def file_page(stream: BinaryIO, path: Path, name: str, kind: str, settings: IngestSettings) -> Row | FileReject:
    """The page of a PDF or DOCX file at `path` under the input, or why it is none."""
    body = stream.read(settings.max_file_bytes + 1)
    if len(body) > settings.max_file_bytes:
        return FileReject(name, "too_large", f"more than {settings.max_file_bytes} bytes (ingest.max_file_bytes)")
    if fault := not_file(body, FILE_TYPES[kind]):
        return FileReject(name, *fault)
    return page_row(page_url(path), body, name, content_type=FILE_TYPES[kind])


def not_file(body: bytes, content_type: str) -> tuple[str, str] | None:
    """Reason and detail if `body` does not begin as files of that type do."""
    if not body.strip():
        return "empty", "the file has no content"
    if content_type == PDF_TYPE:
        return None if PDF_BEGINS in body[:_HEAD] else ("not_pdf", f"the content is {binary(body) or 'text'}")
    return None if body.startswith(_DOCX_BEGINS) else ("not_docx", f"the content is {binary(body) or 'text'}")
