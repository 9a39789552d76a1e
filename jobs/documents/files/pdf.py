"""Text and metadata of a PDF file, in reading order, with the place where each page begins.

PDFium gives the characters of a page with their places, and its lines; words, columns, tables and paragraphs are found
from these (`layout`, `grids`).
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from statistics import median
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

from quern.jobs.documents.files.grids import Rule
from quern.jobs.documents.files.layout import Block, Page, TextBlock, Word, lines_of, page_blocks
from quern.jobs.documents.files.paragraphs import joined_pages
from quern.jobs.documents.html.child import UnfitError

Header = dict[str, Any]

# A page with more objects or rules than this is a drawing: its rules are not taken for those of tables.
_MOST_OBJECTS: Final = 20_000
_MOST_RULES: Final = 5_000
_DEEPEST_FORM: Final = 3
_THIN: Final = 3.0  # Points: a rectangle that is no wider is a line.
_STRAIGHT: Final = 1.0  # Points that an upright or level line may lean.
# Shares of the size of letters: a wider gap sets words apart; so does a step up or down.
_WORD_GAP: Final = 0.3
_STEP: Final = 0.8
# How many lines at each edge of a page may run along the pages, and the share of its height that they are in.
_MOST_LINES: Final = 3
_MARGIN: Final = 0.15
# Least share of the pages that have the line, as it may be on every other page, and least pages.
_SHARE: Final = 0.4
_FEWEST: Final = 2
# Least distance of such lines from the text, in sizes of their letters; and points that their heights differ by.
_APART: Final = 0.7
_LEVEL: Final = 4
# How much larger than most letters those of a title are, and the most characters of one.
_LARGER: Final = 1.15
_LONGEST_TITLE: Final = 300
_DIGITS: Final = re.compile(r"\d+")
_DATE: Final = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?'?)?")
_FILE_NAME: Final = re.compile(r"\S+\.\w{2,5}$|^Microsoft \w+ - ")
# What reportlab writes where an author says nothing.
_UNSTATED: Final = frozenset({"untitled", "anonymous", "unspecified"})
_BOLD: Final = re.compile("bold|black|heavy|semibold", re.I)


def read_pdf(
    body: bytes, most_pages: int, most_characters: int, recognise: Callable[[Any], Page] | None = None
) -> Header:
    """Text (empty without a text layer), title, author, times and page starts of a PDF file.

    `recognise` reads a page of images without text (OCR).

    Raises:
        UnfitError: It is encrypted, damaged or too long.
    """
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            raise UnfitError("encrypted", "the PDF file asks for a password") from None
        raise UnfitError("parse_error", f"no PDF file that can be read: {error}") from None
    if len(document) > most_pages:
        raise UnfitError("too_long", f"the PDF file has {len(document)} pages, more than clean.max_pages")
    pages: list[Page] = []
    characters = 0
    unread = 0
    for number in range(len(document)):
        page = _page(document, number, recognise)
        unread += page is None
        pages.append(page or Page([], [], [], 0, 0))
        characters += sum(len(word.text) for word in pages[-1].words)
        if characters > most_characters:
            raise UnfitError("too_long", f"the first {number + 1} pages have more than clean.max_characters")
    if unread == len(pages):
        raise UnfitError("parse_error", "no page can be read")
    blocks = [page_blocks(page) for page in without_running_lines(pages)]
    text, starts = joined_pages(blocks)
    metadata = {name: document.get_metadata_value(name) for name in ("Title", "Author", "CreationDate", "ModDate")}
    return {
        "text": text,
        "page_starts": starts,
        "title": _stated(metadata["Title"]) or _largest(blocks),
        "author": _stated(metadata["Author"]),
        "published_at": _time(metadata["CreationDate"]),
        "modified_at": _time(metadata["ModDate"]),
        "without_text": [n for n, page in enumerate(pages, 1) if not page.words and page.has_images],
    }


def _page(document: pypdfium2.PdfDocument, number: int, recognise: Callable[[Any], Page] | None) -> Page | None:
    """What stands on a page; None where it cannot be read."""
    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return None
    try:
        box, text = page.get_bbox(), page.get_textpage()
        try:
            words = list(_words(text.raw, box))
        finally:
            text.close()
        directions = Counter(direction for direction, word in words for _ in word.text)
        main = directions.most_common(1)[0][0] if directions else 0
        rules, images = _drawn(page, main)
        if images and not words and recognise is not None:
            return recognise(page)
        left, bottom, right, top = box
        corners = [_turned(x, y, main)[1] for x in (left, right) for y in (bottom, top)]
        return Page(
            [word for direction, word in words if direction == main],
            _lines_beside([(direction, word) for direction, word in words if direction != main]),
            rules,
            min(corners),
            max(corners),
            images,
        )
    except pypdfium2.PdfiumError:
        return None
    finally:
        page.close()


def _turned(x: float, y: float, direction: int) -> tuple[float, float]:
    """A point of a page, whose y goes up, with x in the direction of reading and y down from line to line."""
    return ((x, -y), (y, x), (-x, y), (-y, -x))[direction]


def _words(text: Any, box: tuple[float, float, float, float]) -> Iterator[tuple[int, Word]]:
    """The words inside of the page, each with the quarter turns of its direction."""
    rect, matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
    x, y = ctypes.c_double(), ctypes.c_double()
    letters: list[str] = []
    x0 = x1 = base = size = 0.0
    direction, bold = 0, False
    left, bottom, right, top = box

    def word() -> Iterator[tuple[int, Word]]:
        if letters:
            yield direction, Word("".join(letters), x0, x1, base, size, bold)
            letters.clear()

    for n in range(pdfium.FPDFText_CountChars(text)):
        code = pdfium.FPDFText_GetUnicode(text, n)
        letter = "-" if code == 0x02 else chr(code) if code < 0x110000 else ""
        if not letter.strip() or unicodedata.category(letter) in ("Cc", "Cs", "Cn"):
            yield from word()
            continue
        pdfium.FPDFText_GetLooseCharBox(text, n, rect)
        if not (left <= (rect.left + rect.right) / 2 <= right and bottom <= (rect.bottom + rect.top) / 2 <= top):
            continue
        pdfium.FPDFText_GetCharOrigin(text, n, x, y)
        if letters:
            start, end = _span(rect, direction)
            step = abs(_turned(x.value, y.value, direction)[1] - base)
            if max(start - x1, x0 - end) > _WORD_GAP * size or step > _STEP * size:
                yield from word()
            else:
                x0, x1 = min(x0, start), max(x1, end)
        if not letters:
            pdfium.FPDFText_GetMatrix(text, n, matrix)
            direction = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
            size = max(1.0, pdfium.FPDFText_GetFontSize(text, n) * math.hypot(matrix.c, matrix.d))
            name = ctypes.create_string_buffer(128)
            pdfium.FPDFText_GetFontInfo(text, n, name, len(name), None)
            bold = _BOLD.search(name.value.decode("utf-8", "replace")) is not None
            x0, x1 = _span(rect, direction)
            base = _turned(x.value, y.value, direction)[1]
        letters.append(unicodedata.normalize("NFKC", letter) if "\ufb00" <= letter <= "\ufb06" else letter)
    yield from word()


def _span(box: Any, direction: int) -> tuple[float, float]:
    """Where a box begins and ends in the direction of reading."""
    ends = (box.left, box.right), (box.bottom, box.top), (-box.right, -box.left), (-box.top, -box.bottom)
    return ends[direction]


def _lines_beside(words: list[tuple[int, Word]]) -> list[str]:
    """Words of other directions as lines, in the order of the file."""
    lines: list[str] = []
    last: tuple[int, float] | None = None
    for direction, word in words:
        if last is not None and last[0] == direction and abs(last[1] - word.base) < word.size / 2:
            lines[-1] += f" {word.text}"
        else:
            lines.append(word.text)
        last = direction, word.base
    return lines


def _drawn(page: pypdfium2.PdfPage, direction: int) -> tuple[list[Rule], bool]:
    """The level and upright lines of a page, and whether it has images."""
    rules: list[Rule] = []
    images = False
    try:
        for nth, one in enumerate(page.get_objects(max_depth=1 + _DEEPEST_FORM)):
            images = images or one.type == pdfium.FPDF_PAGEOBJ_IMAGE
            if nth >= _MOST_OBJECTS or len(rules) > _MOST_RULES:
                return [], images
            if one.type == pdfium.FPDF_PAGEOBJ_PATH:
                rules += _rules(one, direction)
    except pypdfium2.PdfiumError:  # An object is damaged; the text is not.
        return [], images
    return rules, images


def _rules(path: pypdfium2.PdfObject, direction: int) -> Iterator[Rule]:
    """The level and upright lines of a path that is painted."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if not fill.value and not stroke.value:
        return
    matrix, form = path.get_matrix(), path.container
    while form is not None:
        matrix, form = matrix.multiply(form.get_matrix()), form.container
    last: tuple[float, float] | None = None
    origin: tuple[float, float] | None = None
    edges: list[tuple[tuple[float, float], tuple[float, float]]] = []
    x, y = ctypes.c_float(), ctypes.c_float()
    for n in range(min(pdfium.FPDFPath_CountSegments(path), _MOST_RULES)):
        segment = pdfium.FPDFPath_GetPathSegment(path, n)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        across, up = matrix.on_point(x.value, y.value)
        at = _turned(across, up, direction)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            origin = at
        elif kind == pdfium.FPDF_SEGMENT_LINETO and last is not None:
            edges.append((last, at))
        last = at
        if pdfium.FPDFPathSegment_GetClose(segment) and origin is not None:
            edges.append((at, origin))
            last = origin
    for (x0, y0), (x1, y1) in edges:
        if abs(y0 - y1) <= _STRAIGHT and abs(x0 - x1) > _THIN:
            yield Rule(True, (y0 + y1) / 2, min(x0, x1), max(x0, x1))
        elif abs(x0 - x1) <= _STRAIGHT and abs(y0 - y1) > _THIN:
            yield Rule(False, (x0 + x1) / 2, min(y0, y1), max(y0, y1))


# ---- lines that run along the pages, at their head and foot: titles, marks of copies, page numbers ----------


def without_running_lines(pages: Sequence[Page]) -> list[Page]:
    """Pages without the lines that are repeated, but for numbers, at the same height, and without page numbers."""
    edges = [[list(_at_edge(page, side)) for side in (1, -1)] for page in pages]
    counts = Counter(mark for page in edges for mark in {_mark(line) for side in page for line in side})
    marks = Counter(text for page in pages for text in set(page.beside))
    least = max(_FEWEST, _SHARE * len(pages))
    bodies: list[Page] = []
    for number, (page, sides) in enumerate(zip(pages, edges, strict=True), 1):
        # Nothing but the number of the page: `7`, `- 7 -`, `Page 7 of 12`, `7 / 12`.
        page_number = re.compile(rf"\W*(?:[^\W\d]+\W+)?{number}(?:\W+(?:[^\W\d]+\W+)?\d+)?\W*")
        running: set[int] = set()
        for lines in sides:
            for n, line in enumerate(lines, 1):
                if counts[_mark(line)] >= least or page_number.fullmatch(_text(line)):
                    running |= {id(word) for upto in lines[:n] for word in upto}
        beside = [text for text in page.beside if marks[text] < least]
        bodies.append(replace(page, words=[word for word in page.words if id(word) not in running], beside=beside))
    return bodies


def _at_edge(page: Page, side: int) -> Iterator[list[Word]]:
    """The lines from an edge of the page inwards (`side` 1: the upper), as long as white space is before the next."""
    lines = lines_of(page.words)[::side]
    height = page.bottom - page.top
    block: list[list[Word]] = []
    pairs = pairwise(lines) if side > 0 else ((upper, lower) for lower, upper in pairwise(lines))
    gaps = [min(word.top for word in lower) - max(word.bottom for word in upper) for upper, lower in pairs]
    # How much larger than the usual distance within the text it is.
    least = 1.2 * median(gaps[1:-1] or [0.0])
    for n, line in enumerate(lines[:_MOST_LINES]):
        depth = (line[0].base - page.top) if side > 0 else (page.bottom - line[0].base)
        if depth > _MARGIN * height:
            return
        block.append(line)
        # Rows of a table are set apart, but each as much as the next.
        if n < len(gaps) and gaps[n] > max(_APART * line[0].size, least):
            yield from block
            block = []


def _text(line: Sequence[Word]) -> str:
    return " ".join(word.text for word in line)


def _mark(line: Sequence[Word]) -> tuple[str, int]:
    return _DIGITS.sub("#", _text(line)), round(line[0].base / _LEVEL)


# ---- what the file states --------------------------------------------------------------------------------


def _stated(value: str) -> str | None:
    """A title or author that somebody gave: no name of a file, and not what a program writes for none."""
    value = " ".join(value.split())
    return None if _FILE_NAME.search(value) or value.strip("()").lower() in _UNSTATED else value or None


def _largest(pages: Sequence[Sequence[Block]]) -> str | None:
    """The first lines of the largest letters on the first page with text, where they are larger than most."""
    for page in pages:
        lines = [line for block in page if isinstance(block, TextBlock) for line in block.lines]
        if not lines:
            continue
        largest = max(line.size for line in lines)
        if largest <= _LARGER * median(line.size for line in lines for _ in line.text):
            return None
        at = next(n for n, line in enumerate(lines) if line.size == largest)
        end = next((n for n in range(at, len(lines)) if lines[n].size < largest - _STRAIGHT), len(lines))
        return " ".join(line.text for line in lines[at:end])[:_LONGEST_TITLE]
    return None


def _time(text: str) -> str | None:
    """A date of PDF (ISO 32000-1, section 7.9.4) as ISO 8601; without a zone it is UTC."""
    match = _DATE.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, sign, hours, minutes = match.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    try:
        day_and_time = int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0)
        return datetime(*day_and_time, tzinfo=timezone(offset)).isoformat()
    except ValueError:
        return None
