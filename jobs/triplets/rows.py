"""What rows of tables and `Key: value` lines state: entity, column, value; or what the page is about, key, value.

Cells that a page merges come as empty ones in the text. An empty first cell continues the label above it; a cell
beside an empty one may stand for both, so that it is not known of which column it is: it states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from quern.jobs.queries.rules.words import NOT_SPEAKERS
from quern.jobs.triplets.statement import Part, Passage, Statement
from quern.schemas.words.terms import STOP_WORDS

_BAR: Final = re.compile(r"[ \t]*\|[ \t]*")
_LINE: Final = re.compile(r"[^\n]+")
_KEY: Final = re.compile(r"(?P<key>[^\W\d_][\w’' /()-]{0,38}[\w)])[ \t]?[:：][ \t]*(?P<value>\S.*?)[ \t]*")
_DIGIT: Final = re.compile(r"\d")
_NOTHING: Final = re.compile(r"(?:[\W_]*|n/?a|none|unknown|tbc|tba)", re.I)
_DATED: Final = re.compile(r"(?:time|date|updated|published|posted)$", re.I)
_LONGEST_CELL: Final = 120  # Characters; a longer cell is prose, which states more than one thing.
_LONGEST_VALUE: Final = 80
_MOST_KEY: Final = 4  # Words of a key.
_HEADING_WORDS: Final = 8


def row_statements(passage: Passage) -> Iterator[Statement]:
    """What the rows of the tables in a chunk, and its lines of key and value, state."""
    block: list[list[Part]] = []
    lines: list[Part] = []
    before = ""
    for match in _LINE.finditer(passage.text):
        line = Part(*match.span())
        if " |" in match[0] or match[0].startswith("|"):
            block.append(_cells(passage.text, line))
            continue
        yield from _table(passage, block, before)
        block = []
        if _keyed(match[0]):
            lines.append(line)
        else:
            yield from _labels(passage, lines)
            lines, before = [], match[0]
    yield from _table(passage, block, before)
    yield from _labels(passage, lines)


def _cells(text: str, line: Part) -> list[Part]:
    """The cells of a line; an empty one has no characters."""
    cells, at = [], line.start
    for bar in _BAR.finditer(text, line.start, line.end):
        cells.append(Part(at, bar.start()))
        at = bar.end()
    return [*cells, Part(at, max(at, line.end))]


def _table(passage: Passage, block: list[list[Part]], before: str) -> Iterator[Statement]:
    """What one table states, with a header over its columns or with a label and a value in each line."""
    text = passage.text
    # A line over the whole width is the caption of what follows: `Quay Green |`.
    caption = block[0][0] if len(block) > 1 and _full(block[0]) == 1 and block[0][0].of(text) else None
    rows = block[1:] if caption else block
    if len(rows) < 2:
        return
    header = rows[0]
    if len(header) > 2 and _full(header) == len(header) and _names_columns(text, rows):
        yield from _columns(text, header, rows[1:])
    elif all(len(row) == 2 and _full(row) == 2 for row in rows):
        if _header_of_two(text, rows):
            yield from _columns(text, header, rows[1:])
        elif subject := caption or passage.topic:
            yield from _pairs(text, subject, rows)


def _full(row: list[Part]) -> int:
    """How many cells of a row are not empty."""
    return sum(cell.end > cell.start for cell in row)


def _names_columns(text: str, rows: list[list[Part]]) -> bool:
    """Whether the first line has words where the lines under it have numbers, or years; and no cell twice."""
    first = [cell.of(text) for cell in rows[0]]
    numbers = sum(bool(_DIGIT.match(cell)) for cell in first[1:])
    years = all(len(cell) == 4 for cell in first[1:])
    return len(set(first)) == len(first) and (years or not numbers) and max(map(len, first)) <= _LONGEST_CELL


def _header_of_two(text: str, rows: list[list[Part]]) -> bool:
    """Whether the first of the lines of two cells heads the others: words over numbers."""
    return _DIGIT.search(rows[0][1].of(text)) is None and all(_DIGIT.match(row[1].of(text)) for row in rows[1:])


def _columns(text: str, header: list[Part], rows: list[list[Part]]) -> Iterator[Statement]:
    label: Part | None = None
    for row in rows:
        label = row[0] if row[0].end > row[0].start else label
        if len(row) != len(header) or label is None:
            continue
        for n in range(1, len(row)):
            merged = n + 1 < len(row) and row[n + 1].end <= row[n + 1].start
            if not merged and _value(row[n].of(text)) and label.of(text) != row[n].of(text):
                yield Statement(label, header[n], row[n], row[0].start, row[-1].end, "row")


def _pairs(text: str, subject: Part, rows: list[list[Part]]) -> Iterator[Statement]:
    for key, value in rows:
        if _value(value.of(text)) and len(key.of(text).split()) <= _MOST_KEY and key != subject:
            yield Statement(subject, key, value, key.start, value.end, "row")


def _value(cell: str) -> bool:
    """Whether a cell tells a value: not blank, a dash, or prose."""
    return len(cell) <= _LONGEST_CELL and _NOTHING.fullmatch(cell) is None


def _keyed(line: str) -> bool:
    found = _KEY.fullmatch(line)
    if found is None or len(found["key"].split()) > _MOST_KEY or len(found["value"]) > _LONGEST_VALUE:
        return False
    first = found["key"].split()[0].lower()
    return not (
        first in STOP_WORDS or _DATED.search(found["key"]) or found["value"].endswith((".", "!", "?", ":", ","))
    )


def _labels(passage: Passage, lines: list[Part]) -> Iterator[Statement]:
    """What lines of key and value, at least two in a row, state of what the page is about.

    One line alone is as often a remark, and lines that speak are of a conversation.
    """
    subject = passage.topic
    if len(lines) < 2 or subject is None:
        return
    for line in lines:
        found = _KEY.fullmatch(line.of(passage.text))
        if found is None or (_spoken(found["key"]) and found["key"].lower() not in NOT_SPEAKERS):
            continue
        key, value = (Part(line.start + found.start(g), line.start + found.end(g)) for g in ("key", "value"))
        if _value(value.of(passage.text)):
            yield Statement(subject, key, value, line.start, line.end, "label")


def _spoken(key: str) -> bool:
    """Whether a key is a name in two parts or in one word: `LiHua`, `Adam Smith`."""
    return re.fullmatch(r"[A-Z][a-z]+[A-Z]\w+|(?:[A-Z][a-z]+ )+[A-Z][a-z]+", key) is not None
