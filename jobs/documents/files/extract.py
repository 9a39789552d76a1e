"""Text and metadata of one PDF or DOCX file; run as a child process by `jobs.documents.clean`."""

from __future__ import annotations

import logging

from quern.jobs.documents.files.docx import read_docx
from quern.jobs.documents.files.pdf import read_pdf
from quern.jobs.documents.html.child import serve
from quern.jobs.pages.formats.files import PDF_TYPE

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    serve(
        lambda header, body: (
            read_pdf(body, header["max_pages"], header["max_characters"])
            if header["content_type"] == PDF_TYPE
            else read_docx(body)
        )
    )
