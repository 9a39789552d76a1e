"""Text and metadata of one PDF or DOCX file; run as a child process by `jobs.documents.clean`."""

from __future__ import annotations

import logging
from typing import Any

from quern.jobs.documents.files.docx import read_docx
from quern.jobs.documents.files.pdf import read_pdf
from quern.jobs.documents.html.child import serve
from quern.jobs.pages.formats.files import PDF_TYPE

Header = dict[str, Any]


def _answer(header: Header, body: bytes) -> Header:
    """Raises `FileFault` for a file that makes no document."""
    if header["content_type"] == PDF_TYPE:
        return read_pdf(body, header["max_pages"], header["max_characters"])
    return read_docx(body)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    serve(_answer)
