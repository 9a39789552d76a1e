"""Generated PDF and DOCX files, whose words in order and cells of tables are known."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from docx import Document
from rapidfuzz.distance import LCSseq
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)

from quern.jobs.documents.files.docx import read_docx
from quern.jobs.documents.files.pdf import read_pdf
from tests.benchmarks.articles import synthetic_articles

Rows = list[list[str]]
_BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10.5, leading=13, spaceAfter=6)
_JUSTIFIED = ParagraphStyle("justified", _BODY, alignment=4)
_HEADING = ParagraphStyle("heading", fontName="Helvetica-Bold", fontSize=14, leading=17, spaceBefore=10, spaceAfter=5)
_CELL = ParagraphStyle("cell", fontName="Helvetica", fontSize=9, leading=11)
_LIST = ParagraphStyle("list", _BODY, leftIndent=18, bulletIndent=4)
_GRID = (("GRID", (0, 0), (-1, -1), 0.5, colors.black),)
_BOOK = (
    ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
    ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
    ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
)
_LEVEL = (("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.grey),)


@dataclass
class Sample:
    """A file, and what it says."""

    name: str
    title: str
    body: bytes = b""
    words: list[str] = field(default_factory=list)  # In the order of reading; without what runs along its pages.
    tables: list[Rows] = field(default_factory=list)  # The cells of its tables.

    def says(self, text: str) -> str:
        """Adds `text` to the words, and gives it back."""
        self.words += text.split()
        return text

    def shows(self, rows: Rows, *, spans: int = 1) -> Rows:
        """Adds a table, and gives it back; its first column goes over `spans` rows each."""
        full = [[*rows[n if n == 0 else 1 + (n - 1) // spans * spans][:1], *row[1:]] for n, row in enumerate(rows)]
        self.tables.append(full)
        self.words += [word for row in full for cell in row for word in cell.split()]
        return rows


class _Writer:
    """Draws texts from the synthetic articles."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.paragraphs = [
            p for a in synthetic_articles(60, seed) for p in a.split("\n\n") if 30 < len(p.split()) < 150
        ]

    def paragraph(self) -> str:
        return self.rng.choice(self.paragraphs)

    def phrase(self, least: int, most: int) -> str:
        words = self.paragraph().replace(".", "").replace(",", "").split()
        return " ".join(words[: self.rng.randint(least, most)])

    def table(self, rows: int, columns: int, longest: int = 2) -> Rows:
        short = [word for text in self.paragraphs for word in text.split() if word.isalpha() and len(word) < 9]
        head = [self.rng.choice(short).title() for _ in range(columns)]
        cells = [
            [f"{self.rng.choice(short)} {n}", *(f"{self.rng.randint(10, 9999) / 10:.1f}" for _ in range(columns - 2))]
            for n in range(rows)
        ]
        return [head, *([*row, self.phrase(1, longest)] for row in cells)]


def _pdf(sample: Sample, story: Sequence[Flowable], columns: int = 1) -> None:
    """Writes a PDF with a running title and page numbers; a first page of several columns begins with a wide frame."""
    out, (width, height) = io.BytesIO(), A4

    def along(canvas: Canvas, document: Any) -> None:
        canvas.setFont("Helvetica-Oblique", 8)
        canvas.drawString(60, height - 36, f"{sample.name} of the harbour board")
        canvas.drawRightString(width - 60, height - 36, "Second edition")
        canvas.drawCentredString(width / 2, 30, f"Page {document.page}")

    gutter = 16
    wide = (width - 120 - gutter * (columns - 1)) / columns
    places = [60 + n * (wide + gutter) for n in range(columns)]

    def frames(top: float) -> list[Frame]:
        return [Frame(x, 56, wide, height - 56 - top, 0, 0, 0, 0) for x in places]

    head = [Frame(60, height - 130, width - 120, 70, 0, 0, 0, 0)] if columns > 1 else []
    templates = [
        PageTemplate("first", [*head, *frames(140 if head else 60)], onPage=along),
        PageTemplate("later", frames(60), onPage=along),
    ]
    BaseDocTemplate(out, pagesize=A4, pageTemplates=templates, title=sample.title, author="Ute Sand").build(
        [NextPageTemplate("later"), *story]
    )
    sample.body = out.getvalue()


@dataclass(frozen=True)
class _Tables:
    """The size of the tables of a file, and how they are drawn."""

    rows: int = 8
    columns: tuple[int, ...] = (4,)  # Of each table in turn.
    longest: int = 2  # Words of a last cell.
    style: Sequence[Any] = _GRID
    wrapped: bool = False  # Whether the last column's cells are paragraphs.
    spans: int = 1  # Rows that a first cell goes over.

    def flowable(self, sample: Sample, writer: _Writer, number: int) -> Table:
        rows = writer.table(self.rows, self.columns[number % len(self.columns)], self.longest)
        sample.shows(rows, spans=self.spans)
        starts = range(1, len(rows) - self.spans + 1, self.spans) if self.spans > 1 else ()
        merged = [("SPAN", (0, at), (0, at + self.spans - 1)) for at in starts]
        shown = [[*row[:-1], Paragraph(row[-1], _CELL)] for row in rows] if self.wrapped else rows
        widths = [70.0] * (len(rows[0]) - 1) + [130.0] if self.wrapped else None
        table = Table(shown, widths, repeatRows=1, spaceBefore=8, spaceAfter=10)
        looks = [("FONTSIZE", (0, 0), (-1, -1), 9), ("VALIGN", (0, 0), (-1, -1), "TOP"), *self.style, *merged]
        table.setStyle(looks)
        return table


def _laid_out(
    pattern: str, columns: int = 1, style: ParagraphStyle = _BODY, tables: _Tables | None = None
) -> Callable[[Sample, _Writer], None]:
    """A PDF of headings (`h`), paragraphs (`p`), tables (`t`) and numbered lists (`l`), in the order of `pattern`."""

    def write(sample: Sample, writer: _Writer) -> None:
        story: list[Flowable] = []
        if columns > 1:
            story += [Paragraph(sample.says(sample.title), _HEADING), FrameBreak()]
        for at, kind in enumerate(pattern):
            if kind == "h":
                story.append(Paragraph(sample.says(writer.phrase(2, 5).title()), _HEADING))
            elif kind == "p":
                story.append(Paragraph(sample.says(writer.paragraph()), style))
            elif kind == "t" and tables is not None:
                story.append(tables.flowable(sample, writer, pattern[:at].count("t")))
            else:
                for n in range(1, 6):
                    mark = sample.says(f"{n}.")
                    story.append(Paragraph(sample.says(writer.phrase(5, 25)), _LIST, bulletText=mark))
                story.append(Spacer(1, 6))
        _pdf(sample, story, columns)

    return write


def _parted(sample: Sample, writer: _Writer) -> None:
    """Lines set one by one, whose last words are parted where they do not fit."""
    out = io.BytesIO()
    canvas = Canvas(out, A4)
    canvas.setTitle(sample.title)
    y = 780.0
    for _ in range(14):
        line, lines = "", []
        for word in sample.says(writer.paragraph()).split():
            longer = f"{line} {word}".strip()
            if stringWidth(longer, "Times-Roman", 11) <= 300:
                line = longer
                continue
            half = len(word) // 2
            begun = f"{line} {word[:half]}-"
            fits = word.isalpha() and word.islower() and len(word) > 7
            fits = fits and stringWidth(begun, "Times-Roman", 11) <= 300
            lines.append(begun if fits else line)
            line = word[half:] if fits else word
        for text in [*lines, line]:
            if y < 60:
                canvas.showPage()
                y = 780.0
            canvas.setFont("Times-Roman", 11)
            canvas.drawString(70, y, text)
            y -= 14
        y -= 8
    canvas.save()
    sample.body = out.getvalue()


def _docx(tables: int, columns: int, *, merged: bool = False, lists: bool = False) -> Callable[[Sample, _Writer], None]:
    def write(sample: Sample, writer: _Writer) -> None:
        document = Document()
        document.core_properties.title, document.core_properties.author = sample.title, "Ute Sand"
        document.sections[0].header.paragraphs[0].text = "Harbour board"
        document.add_heading(sample.says(sample.title), 0)
        for n in range(4):
            document.add_heading(sample.says(writer.phrase(2, 5).title()), 1 + n % 2)
            for _ in range(2):
                document.add_paragraph(sample.says(writer.paragraph()))
            for _ in range(4 if lists else 0):
                document.add_paragraph(sample.says(writer.phrase(3, 12)), style="List Bullet")
            if n < tables:
                rows = sample.shows(writer.table(6, columns), spans=2 if merged else 1)
                table = document.add_table(len(rows), columns)
                for shown, row in zip(table.rows, rows, strict=True):
                    for cell, text in zip(shown.cells, row, strict=True):
                        cell.text = text
                for at in range(1, len(rows) - 1, 2) if merged else ():
                    table.cell(at + 1, 0).text = ""
                    table.cell(at, 0).merge(table.cell(at + 1, 0)).text = rows[at][0]
        out = io.BytesIO()
        document.save(out)
        sample.body = out.getvalue()

    return write


_BETWEEN_TEXT = "hppt" * 3 + "pp"
_WRAPPED = _Tables(columns=(4, 5), longest=9, wrapped=True)
# By name what is added to the seed, and the writer.
_WRITERS: dict[str, tuple[int, Callable[[Sample, _Writer], None]]] = {
    "single.pdf": (0, _laid_out("hpppp" * 5)),
    "columns.pdf": (1, _laid_out("hppppp" * 4, 2, _JUSTIFIED)),
    "three.pdf": (3, _laid_out("hppppp" * 4, 3)),
    "parted.pdf": (4, _parted),
    "wrapped.pdf": (6, _laid_out(_BETWEEN_TEXT, tables=_WRAPPED)),
    "spans.pdf": (7, _laid_out(_BETWEEN_TEXT, tables=_Tables(columns=(4, 5), spans=2))),
    "book.pdf": (8, _laid_out(_BETWEEN_TEXT, tables=_Tables(columns=(4, 5), style=_BOOK))),
    "level.pdf": (9, _laid_out(_BETWEEN_TEXT, tables=replace(_WRAPPED, style=_LEVEL))),
    "long.pdf": (12, _laid_out("hptp", tables=_Tables(110, (5,)))),
    "table_in_column.pdf": (13, _laid_out("pppt" * 3 + "ppp", 2, _JUSTIFIED, _Tables(5, (3,), 1))),
    "lists.pdf": (14, _laid_out("hpl" * 3)),
    "merged.docx": (18, _docx(3, 3, merged=True)),
    "mixed.docx": (19, _docx(2, 6, lists=True)),
}


def generated_file(name: str, seed: int) -> Sample:
    """A file; the same seed gives the same words."""
    number, write = _WRITERS[name]
    writer = _Writer(seed + number)
    sample = Sample(name, writer.phrase(3, 5).title())
    write(sample, writer)
    return sample


def words_in_order(sample: Sample, text: str) -> float:
    """Share of words that a longest common subsequence with those that the file says has, of the longer of both."""
    return float(LCSseq.normalized_similarity(sample.words, text.replace(" | ", " ").split()))


def cells_right(sample: Sample, text: str) -> float:
    """Share of the cells that stand in a row of their table at their place; 1 for a file without tables."""
    lines = [[cell.strip() for cell in line.split("|")] for line in text.split("\n")]
    rows = [row for table in sample.tables for row in table]
    right = [max(sum(a == b for a, b in zip(row, line, strict=False)) for line in lines) / len(row) for row in rows]
    return fmean(right) if right else 1.0


def read_file(sample: Sample) -> dict[str, Any]:
    """What the reader makes of a file."""
    return read_pdf(sample.body, 100, 10_000_000) if sample.name.endswith(".pdf") else read_docx(sample.body)
