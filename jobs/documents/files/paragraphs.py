"""Paragraphs and rows from the lines of pages, words that a line's end parts made whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from quern.jobs.documents.files.layout import Block, Line, TableBlock, TextBlock
from quern.jobs.text.plain_text import one_line
from quern.jobs.text.tables import SEPARATOR
from quern.schemas.words.scripts import CJK

_SAME_SIZE: Final = 0.08
_STEP: Final = 1.25  # How much more than the usual step a paragraph's distance is.
_INDENT: Final = 0.8  # Sizes of letters.
_PARTED: Final = re.compile(r"[^\W\d_][-\u2010\xad\x02]$")
_WIDE: Final = re.compile(f"[{CJK}\u3000-\u303f\uff00-\uffef]")
_ENDED: Final = re.compile(r"[.!?:;…。！？]\W*$")


@dataclass
class _Piece:
    """A paragraph, or a row of a table."""

    text: str
    row: list[str] | None = None  # The cells of a row; None for a paragraph.


def joined_pages(pages: Sequence[Sequence[Block]]) -> tuple[str, list[int]]:
    """The text of pages, a paragraph or row a line, and the character at which each page begins.

    What goes on behind a page's end, or a column's, is one paragraph.
    """
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    last: _Piece | None = None
    table: list[str] | None = None
    for blocks in pages:
        starts.append(length)
        pieces = list(_pieces(blocks))
        for n, piece in enumerate(pieces):
            if n == 0 and piece.row and piece.row == table and last and last.row:
                continue  # The head of a table, which each page repeats.
            if last is not None:
                goes_on = not (last.row or piece.row) and piece.text[0].islower() and not _ENDED.search(last.text)
                between = " " if goes_on else "\n"
                # A word that the page's end parts is of the page before.
                if goes_on and _PARTED.search(last.text) and " " in piece.text:
                    head, _, rest = piece.text.partition(" ")
                    whole = parts[-1][:-1] + head
                    length += len(whole) - len(parts[-1])
                    parts[-1], piece.text = whole, rest
                if n == 0:
                    starts[-1] = length + len(between)
                parts.append(between)
                length += len(between)
            if piece.row and not (last and last.row):
                table = piece.row
            parts.append(piece.text)
            length += len(piece.text)
            last = piece
        if not pieces:
            starts[-1] = length
    return "".join(parts), starts


def _pieces(blocks: Sequence[Block]) -> Iterator[_Piece]:
    for block in blocks:
        if isinstance(block, TableBlock):
            for row in block.rows:
                cells = [(one_line(_joined([line.text for line in cell])) or "").replace("|", "/") for cell in row]
                if any(cells):
                    yield _Piece(SEPARATOR.join(cells).strip(), cells)
        else:
            for lines in _paragraphs(block):
                if text := one_line(_joined([line.text for line in lines])):
                    yield _Piece(text)


def _joined(lines: Sequence[str]) -> str:
    """Lines as one, without the hyphens of words that their ends part."""
    text = ""
    for line in lines:
        if text and _PARTED.search(text) and line[0].islower():
            text = text[:-1] + line
        elif text and _WIDE.match(text[-1]) and _WIDE.match(line):
            text += line
        else:
            text = f"{text} {line}" if text else line
    return text.replace("\xad", "").replace("\x02", "-")


def _paragraphs(block: TextBlock) -> Iterator[list[Line]]:
    """The lines of each paragraph of a column."""
    lines = block.lines
    steps = [b.base - a.base for a, b in pairwise(lines) if _alike(a, b)]
    usual = median(steps) if len(steps) > 2 else min(steps, default=0.0)
    for part in _parts(lines, usual):
        left, right = min(line.x0 for line in part), max(line.x1 for line in part)
        widest = max(line.x1 for line in lines)
        paragraph = [part[0]]
        for before, line in pairwise(part):
            ended = _ENDED.search(before.text) is not None
            if _begins(before, line, paragraph[0], left, widest if ended else right):
                yield paragraph
                paragraph = []
            paragraph.append(line)
        yield paragraph


def _parts(lines: Sequence[Line], usual: float) -> Iterator[list[Line]]:
    """Lines of one size with no more than the usual distance."""
    part = [lines[0]]
    for before, line in pairwise(lines):
        step = line.base - before.base
        # Most sizes of letters from line to line where there is no usual step.
        if not _alike(before, line) or step > min(_STEP * usual, 1.6 * line.size * _STEP):
            yield part
            part = []
        part.append(line)
    yield part


def _alike(a: Line, b: Line) -> bool:
    return abs(a.size - b.size) <= _SAME_SIZE * max(a.size, b.size) and a.bold == b.bold


def _begins(before: Line, line: Line, first: Line, left: float, right: float) -> bool:
    """Whether a line begins a paragraph: an item, an indented line, or one whose first word had room in the line above.

    Lines in the middle of a column have no indent.
    """
    if line.is_item:
        return True
    size = line.size
    middle = abs((before.x0 + before.x1) - (line.x0 + line.x1)) < size and line.x0 - left > size / 2
    if not middle and line.x0 - before.x0 > _INDENT * size and not first.is_item:
        return True
    word = line.words[0]
    return right - before.x1 > word.x1 - word.x0 + _INDENT * size
