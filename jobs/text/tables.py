"""Tables in plain text and Markdown: lines whose cells are separated by ` | `, the header first."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Final

SEPARATOR: Final = " | "
# The line below a header in Markdown (GitHub Flavored Markdown, section 4.10), and a bar that is no part of a cell.
_RULE: Final = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*")
_BAR: Final = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Row:
    """A row of a table below its header."""

    line: int  # Number of its line in the text, from 0.
    cells: tuple[str, ...]  # The texts of its cells; the first is its label.
    header: tuple[str, ...]  # The texts of the cells of the header; empty where the table has none.
    header_line: int | None  # Number of the header's line; None where the table has none.

    @property
    def labelled(self) -> str:
        """The row with the header of each cell before it: `Stop: Quay; First bus: 06:10`."""
        if not self.header:
            return SEPARATOR.join(self.cells)
        pairs = zip(self.header, self.cells, strict=True)
        return "; ".join(f"{name}: {cell}" if name and cell else cell or name for name, cell in pairs)


def is_row(line: str) -> bool:
    """Whether a line is one of a table: cells apart by ` | `, or between bars as Markdown writes them."""
    return SEPARATOR in line or (len(line) > 1 and line.startswith("|") and line.endswith("|"))


def rows(lines: Sequence[str]) -> dict[int, Row]:
    """The rows of all tables among `lines`, by the number of their line; headers are left out."""
    return dict(_rows(tuple(lines)))


def header_lines(text: str, starts: Sequence[int]) -> list[str | None]:
    """For each of the places `starts`, ascending, the header of the table that goes on there; None where none does.

    A header is its line, and in Markdown the rule below it, as they stand; one that begins at the place is not above.
    """
    headers: list[str | None] = [None] * len(starts)
    if "|" not in text:
        return headers
    lines = text.split("\n")
    begins = [0, *accumulate(len(line) + 1 for line in lines)]
    for numbers in _tables(lines):
        table = [lines[n] for n in numbers]
        if size := _header_size([_cells(line) for line in table], table):
            header = "\n".join(table[:size])
            within = range(bisect_right(starts, begins[numbers[0]]), bisect_left(starts, begins[numbers[-1] + 1]))
            headers[within.start : within.stop] = [header] * len(within)
    return headers


@lru_cache(maxsize=4096)
def _rows(lines: tuple[str, ...]) -> dict[int, Row]:
    by_line: dict[int, Row] = {}
    for numbers in _tables(lines):
        cells = [_cells(lines[n]) for n in numbers]
        start = _header_size(cells, [lines[n] for n in numbers])
        head = cells[0] if start else ()
        for n, own in zip(numbers[start:], cells[start:], strict=True):
            if not _RULE.fullmatch(lines[n]):
                by_line[n] = Row(n, own, head if len(own) == len(head) else (), numbers[0] if head else None)
    return by_line


def _tables(lines: Sequence[str]) -> Iterator[list[int]]:
    """The numbers of the lines of each table."""
    for in_table, numbers in groupby(range(len(lines)), lambda n: is_row(lines[n].strip())):
        if in_table:
            yield [*numbers]


def _header_size(cells: Sequence[tuple[str, ...]], lines: Sequence[str]) -> int:
    """How many lines of a table are its header: 2 where Markdown's rule follows it, 0 where it has none."""
    if len(cells) > 2 and _RULE.fullmatch(lines[1]):
        return 2
    # Narrower tables hold labels and values: their first row is seldom a header.
    if len(cells) < 2 or len(cells[0]) < 3:
        return 0
    # A header names columns: it begins fewer cells with a digit than the others, or all with years.
    first = cells[0][1:]
    digits = sum(cell[:1].isdecimal() for cell in first)
    return int(digits < len(first) or all(len(cell) == len("2024") for cell in first))


def _cells(line: str) -> tuple[str, ...]:
    line = line.strip()
    bars = len(line) > 1 and line.startswith("|") and line.endswith("|")
    return tuple(cell.strip() for cell in _BAR.split(line[1:-1] if bars else line.strip("|")))
