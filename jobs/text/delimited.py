"""Tables as text, a row a line: CSV and its like, with a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True)
class DelimitedRow:
    """A row.

    Attributes:
        line: Number of its first line, counted from 1.
        cells: As many as the header has, or fewer.
        fault: What is wrong with it; empty where nothing is.
    """

    line: int
    cells: Sequence[str]
    fault: str = ""


@dataclass(frozen=True)
class Delimited:
    """A table: the names of its columns, and its rows, to be read once."""

    names: Sequence[str]
    rows: Iterator[DelimitedRow]


def delimited(file: TextIO, delimiter: str = ",", longest: int | None = None) -> Delimited:
    """The table of `file`, opened with `newline=""`; a row that cannot be read is told, and the next one read.

    Args:
        file: The text.
        delimiter: What sets cells apart.
        longest: Characters of a cell; a quote that is not closed takes all that follows into its cell, up to them.

    Raises:
        csv.Error: The header cannot be read.
    """
    if longest is not None:
        csv.field_size_limit(longest)
    # Strict: else a quote that is not closed says nothing.
    reader = csv.reader(file, strict=True, delimiter=delimiter)
    names = next(reader, [])

    def rows() -> Iterator[DelimitedRow]:
        while True:
            first = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield DelimitedRow(first, (), _fault(error, first, reader.line_num))
                continue
            if len(cells) > len(names):
                yield DelimitedRow(first, (), "has more cells than the header")
            elif cells:
                yield DelimitedRow(first, cells)

    return Delimited(names, rows())


def _fault(error: csv.Error, first: int, last: int) -> str:
    """What is wrong with the row that was read from line `first` to `last`."""
    cause = f"not valid CSV ({error})"
    if last <= first:
        return cause
    return f"{cause}: a quote that opens in the row of line {first} is not closed there; lost up to line {last}"
