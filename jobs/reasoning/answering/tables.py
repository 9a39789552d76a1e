"""Tables in the text of a chunk: lines whose cells are parted by ` | `."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quern.jobs.reasoning.answering.kinds.units import UNITS
from quern.jobs.text.quantities import singular

SEPARATOR: Final = " | "
_DASH: Final = "- "
_MOST_LABEL: Final = 4  # Words of a label: `Tuesday to Thursday`.
# `All amounts are in millions of crowns`, `Figures in thousands of euros`.
_UNITS: Final = re.compile(
    r"\b(?:amounts?|figures|sums?|prices?|costs?|values?|totals?|numbers|all)\b[^.;\n|]{0,30}?\bin\s+"
    r"(?:(?P<scale>thousand|million|billion)s?\s+(?:of\s+)?)?(?P<unit>(?:square\s+)?[a-z]+s|yuan|yen)\b(?=[.,;:)\n]|\s*$)",
    re.IGNORECASE,
)
_CORNER: Final = re.compile(
    r"(?:[\w ]{0,40}\bin )?(?:(?P<scale>thousand|million|billion)s? (?:of )?)?(?P<unit>(?:square )?[a-z]+s|yuan|yen)",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        cells: The texts of its cells; the first is its label.
        header: The texts of the cells of the header; empty where the table has none, as one of labels and values.
        starts: First character of each cell in the line.
        unit: What its bare numbers count, where a sentence before the table says so: `million crowns`; else empty.
    """

    cells: tuple[str, ...]
    header: tuple[str, ...]
    starts: tuple[int, ...]
    unit: str = ""


@lru_cache(maxsize=20_000)
def rows(text: str) -> dict[int, Row]:
    """The rows of the tables of a chunk by the first character of their line, headers left out."""
    found: dict[int, Row] = _paired(text)
    block: list[tuple[int, str]] = []
    at = 0
    for line in (*text.split("\n"), ""):
        if SEPARATOR in line:
            block.append((at, line))
        elif block:
            found |= _block(block, _unit_told(text, block[0][0]))
            block = []
        at += len(line) + 1
    return found


def _paired(text: str) -> dict[int, Row]:
    """The values of a list of labels and values in turn, as pages write hours: `- Friday`, `- 9.30 to 17.00`."""
    found: dict[int, Row] = {}
    run: list[tuple[int, str]] = []
    at = 0
    for line in (*text.split("\n"), ""):
        if line.startswith(_DASH):
            run.append((at, line.removeprefix(_DASH).strip()))
        else:
            found |= _pairs(run)
            run = []
        at += len(line) + 1
    return found


def _pairs(run: list[tuple[int, str]]) -> dict[int, Row]:
    labels, values = [cell for _, cell in run[::2]], run[1::2]
    short = all(len(label.split()) <= _MOST_LABEL and not _DIGIT.search(label) for label in labels)
    if len(labels) != len(values) or len(values) < 2 or not short:
        return {}
    if 2 * sum(bool(_DIGIT.search(value)) for _, value in values) < len(values):
        return {}
    pairs = zip(labels, values, strict=True)
    return {at: Row((label, value), (), (0, len(_DASH))) for label, (at, value) in pairs if label and value}


def _unit_told(text: str, start: int) -> str:
    """The unit that the text before a table says its amounts are in; empty where it says none."""
    told = [f"{m['scale'] or ''} {m['unit']}".strip().lower() for m in _UNITS.finditer(text, 0, start)]
    return told[-1] if told else ""


def _block(lines: list[tuple[int, str]], unit: str) -> dict[int, Row]:
    """The rows of one table: its first line is the header if it is wider than label and value and has no numbers.

    A chunk may begin in the midst of a table; then the header is not known.
    """
    cells = [tuple(c.strip() for c in line.split(SEPARATOR)) for _, line in lines]
    head = cells[0] if len(lines) > 1 and len(cells[0]) > 1 and _heads(cells) else ()
    body = list(zip(lines, cells, strict=True))[1 if head else 0 :]
    unit = unit or (_of_corner(head[0]) if head else "")
    return {at: Row(own, head if len(own) == len(head) else (), _starts(line, own), unit) for (at, line), own in body}


def _of_corner(cell: str) -> str:
    """The unit that the corner of a table says its amounts are in: `Million crowns`, `Prices in crowns`."""
    m = _CORNER.fullmatch(cell)
    return f"{m['scale'] or ''} {m['unit']}".strip().lower() if m and singular(m["unit"].lower()) in UNITS else ""


def _heads(cells: list[tuple[str, ...]]) -> bool:
    """Whether the first line names columns: words over numbers, or more words than a label and a value."""
    first, rest = cells[0], cells[1:]
    if len(first) > 2:
        numbers = sum(bool(_DIGIT.match(c)) for c in first[1:])
        return numbers < len(first) - 1 or all(len(c) == 4 for c in first[1:])
    return not _DIGIT.search(first[1]) and all(_DIGIT.match(row[-1]) for row in rest)


def _starts(line: str, cells: tuple[str, ...]) -> tuple[int, ...]:
    found, at = [], 0
    for cell in cells:
        at = line.index(cell, at)
        found.append(at)
        at += len(cell)
    return tuple(found)
