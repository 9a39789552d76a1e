"""Tables in plain text: lines whose cells are separated by ` | `, the header first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Final

SEPARATOR: Final = " | "
_DIGIT: Final = re.compile(r"\d")
_COLUMNS: Final = 3  # Narrower tables hold labels and values: their first row is seldom a header.


@dataclass(frozen=True)
class Row:
    """A row of a table below its header.

    Attributes:
        line: Number of its line in the text, from 0.
        cells: The texts of its cells; the first is its label.
        header: The texts of the cells of the header; empty where the table has none.
        header_line: Number of the header's line; None where the table has none.
    """

    line: int
    cells: tuple[str, ...]
    header: tuple[str, ...]
    header_line: int | None

    @property
    def labelled(self) -> str:
        """The row with the header of each cell before it: `Stop: Quay; First bus: 06:10`."""
        if not self.header:
            return SEPARATOR.join(self.cells)
        pairs = zip(self.header, self.cells, strict=True)
        return "; ".join(f"{name}: {cell}" if name and cell else cell or name for name, cell in pairs)


def rows(lines: Sequence[str]) -> dict[int, Row]:
    """The rows of all tables among `lines`, by the number of their line; headers are left out."""
    return dict(_rows(tuple(lines)))


@lru_cache(maxsize=4096)
def _rows(lines: tuple[str, ...]) -> dict[int, Row]:
    found: dict[int, Row] = {}
    for in_table, numbers in groupby(range(len(lines)), lambda n: SEPARATOR in lines[n]):
        if in_table:
            found |= {row.line: row for row in _table(lines, [*numbers])}
    return found


def _table(lines: Sequence[str], numbers: Sequence[int]) -> list[Row]:
    cells = [tuple(cell.strip() for cell in lines[n].strip().strip("|").split("|")) for n in numbers]
    head = cells[0] if len(cells) > 1 and len(cells[0]) >= _COLUMNS and _is_header(cells) else ()
    start = 1 if head else 0
    return [
        Row(n, own, head if len(own) == len(head) else (), numbers[0] if head else None)
        for n, own in zip(numbers[start:], cells[start:], strict=True)
    ]


def _is_header(cells: Sequence[tuple[str, ...]]) -> bool:
    """Whether the first row names columns: it begins fewer cells with a digit than the others, or all with years."""
    first = cells[0][1:]
    digits = sum(bool(_DIGIT.match(cell)) for cell in first)
    return digits < len(first) or all(len(cell) == len("2024") for cell in first)
