"""Answers as rows of a spreadsheet: CSV that Excel, LibreOffice and pandas open, and of which no cell is a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TextIO

from quern.pipelines.answers.views.words import reason_of
from quern.schemas.answers import Answer, cited
from quern.schemas.words.lines import one_line

# UTF-8 with a byte-order mark, without which Excel reads the code page of the machine.
ENCODING = "utf-8-sig"
# What a spreadsheet takes for the start of a formula (OWASP, "CSV Injection"), in full width too.
_FORMULA = tuple("=+-@\t\r＝＋－＠")

COLUMNS = (
    "query_id", "question", "found", "answer", "text", "probability", "reason", "type", "expected", "kind", "asked",
    "notes", "as_of", "sub_questions", "sources", "quotes", "recipe", "by",
)  # fmt: skip
"""`answer` is the short answer, `text` the whole one; what is several in one cell is on a line each."""


def cell(text: str) -> str:
    """`text` as a cell: an apostrophe stands before what would start a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(filter(None, map(one_line, texts)))


def row(answer: Answer) -> list[str]:
    """The cells of an answer, in the order of `COLUMNS`."""
    sources = {c.doc_id: c.url or c.title or c.doc_id for c in answer.citations}
    cells = [
        one_line(answer.query_id),
        one_line(answer.question),
        "yes" if answer.found else "no",
        one_line(answer.short or ""),
        one_line(answer.answer),
        f"{answer.probability:.3f}",
        reason_of(answer) or "",
        one_line(answer.type or ""),
        one_line(answer.expected or ""),
        one_line(answer.kind),
        one_line(answer.asked or ""),
        _lines(answer.notes),
        answer.as_of.isoformat() if answer.as_of else "",
        _lines(f"{s.number}. {s.question} {s.answer or '-'} {cited(s.citations)}" for s in answer.sub_questions),
        _lines(sources.values()),
        _lines(f"[{c.number}] {c.quote}" + (f" (page {c.page})" if c.page else "") for c in answer.citations),
        one_line(answer.recipe),
        one_line(answer.by),
    ]
    return [cell(text) for text in cells]


class Sheet:
    """Writes the rows of answers to a file that was opened with `ENCODING` and `newline=""`."""

    def __init__(self, file: TextIO) -> None:
        self._rows = csv.writer(file)
        self._rows.writerow(COLUMNS)

    def write(self, answer: Answer) -> None:
        """Write the row of an answer."""
        self._rows.writerow(row(answer))
