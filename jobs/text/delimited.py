"""Tables as text, a row a line: CSV and its like, with a header."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TextIO

from quern.jobs.text.charsets import errors_of, mixed_errors, page_encoding

# A first line by which spreadsheets tell each other what sets cells apart; it is no part of the table.
_SEPARATOR: Final = re.compile(r'"?sep=([^"\r\n])"?', re.IGNORECASE)

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_OTHERS: Final = (";", "\t", ",", "|")
"""What else sets cells apart: where a comma is in numbers, spreadsheets write `;`."""
_PREAMBLE: Final = 20  # Lines among which the header is looked for.


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


class _Lines:
    """The lines of a file; of one row no more than `longest` characters are held in memory.

    Attributes:
        number: Lines read.
    """

    def __init__(self, file: TextIO, longest: int) -> None:
        self._file, self._longest = file, longest
        self.number = 0
        self.begin_row()

    def begin_row(self) -> None:
        """What is read from here on is another row."""
        self._room = self._longest

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(self._room + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._room -= len(line)
        if self._room >= 0:
            return line
        while line and not line.endswith(("\n", "\r")):
            line = self._file.readline(1 << 16)
        raise csv.Error(f"a row of more than {self._longest:,} characters")


@contextmanager
def _long_cells(longest: int | None) -> Iterator[None]:
    """Within, cells may be so long: `csv` has one limit for all that a process reads."""
    before = csv.field_size_limit() if longest is None else csv.field_size_limit(longest)
    try:
        yield
    finally:
        csv.field_size_limit(before)


@dataclass(frozen=True)
class Dialect:
    """How a table is written.

    Attributes:
        delimiter: What sets cells apart, where no line before the header says so (`sep=;`).
        escape: What stands before a quote within a cell, where it is not doubled; empty for nothing.
        skipped: Lines before the header that are no part of the table.
    """

    delimiter: str = ","
    escape: str = ""
    skipped: int = 0


def delimited(file: TextIO, dialect: Dialect = Dialect(), longest: int | None = None) -> Delimited:
    """The table of `file`, opened with `newline=""`; a row that cannot be read is told, and the next one read.

    Args:
        file: The text.
        dialect: How it is written.
        longest: Characters of a row; a quote that is not closed takes all that follows into its cell, up to them.

    Raises:
        csv.Error: The header cannot be read.
    """
    lines, delimiter = _Lines(file, longest or sys.maxsize - 1), dialect.delimiter
    for _ in range(dialect.skipped):
        next(lines, "")
        lines.begin_row()
    first = next(lines, "")
    if told := _SEPARATOR.fullmatch(first.rstrip("\r\n")):
        first, delimiter = "", told[1]
    # Strict: else a quote that is not closed says nothing.
    written: dict[str, Any] = {"delimiter": delimiter, "escapechar": dialect.escape or None}
    reader = csv.reader(chain([first] if first else [], lines), strict=True, **written)
    with _long_cells(longest):
        names = next((cells for cells in reader if cells), [])

    def rows() -> Iterator[DelimitedRow]:
        while True:
            first = lines.number + 1
            lines.begin_row()
            try:
                with _long_cells(longest):
                    cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield DelimitedRow(first, (), _fault(error, first, lines.number))
                continue
            if any(cell.strip() for cell in cells[len(names) :]):
                yield DelimitedRow(first, (), "has more cells than the header")
            elif cells:
                yield DelimitedRow(first, cells[: len(names)])

    return Delimited(names, rows())


def opened(
    stream: io.BufferedReader, usual: str, fits: Callable[[Sequence[str]], bool], escape: str = ""
) -> tuple[TextIO, Dialect]:
    """A file as text, for `delimited`, and how its table is written; no byte of it fails.

    Its encoding is told from its first bytes, as that of a page is; the rest from its first lines.

    Args:
        stream: The file, of which nothing was read yet.
        usual: What its ending promises.
        fits: Whether a table can have these columns.
        escape: What stands before a quote within a cell; empty to tell that from the first lines.
    """
    head = stream.peek()  # At least a buffer full.
    codec = page_encoding(head[: head.rfind(b"\n") + 1] or head, None)
    start = head.decode(codec, "replace")
    mixed = mixed_errors(codec)
    encoding, errors = ("utf-8", mixed) if mixed else (codec, errors_of(codec))
    text = io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline="")
    if start.startswith("\ufeff"):
        text.read(1)
    lines = start.removeprefix("\ufeff").splitlines(keepends=True)
    rows = [line.strip("\r\n") for line in lines[:_PREAMBLE]]
    delimiters = [_delimiter_of(row, usual, fits) for row in rows]
    # Some exports tell of themselves before the header: it is the first line whose columns fit.
    at = next((n for n, pair in enumerate(zip(rows, delimiters, strict=True)) if fits(_cells(*pair))), 0)
    delimiter = delimiters[at] if delimiters else usual
    return text, Dialect(delimiter, escape or _escape_of(lines[at:], delimiter), at)


def _cells(row: str, delimiter: str) -> list[str]:
    return [cell.strip() for cells in csv.reader([row], delimiter=delimiter) for cell in cells]


def _escape_of(lines: Sequence[str], delimiter: str) -> str:
    """A backslash, where these first lines can be read with it before quotes, and not without; else nothing."""

    def reads(escape: str | None) -> bool:
        try:
            cells = [c for r in csv.reader(lines, strict=True, delimiter=delimiter, escapechar=escape) for c in r]
        except csv.Error as error:
            return "end of data" in str(error)  # The last of them may be cut.
        return bool(cells)

    return "\\" if any('\\"' in line for line in lines) and not reads(None) and reads("\\") else ""


def _delimiter_of(header: str, usual: str, fits: Callable[[Sequence[str]], bool]) -> str:
    """What sets cells apart: the usual, or what makes columns that fit, or else the most.

    Args:
        header: The first line.
        usual: What the ending of the file promises.
        fits: Whether a table can have these columns.
    """

    def worth(delimiter: str) -> tuple[bool, int]:
        names = _cells(header, delimiter)
        return fits(names), len(names)

    return usual if worth(usual)[0] else max((usual, *_OTHERS), key=worth)


def _fault(error: csv.Error, first: int, last: int) -> str:
    """What is wrong with the row that was read from line `first` to `last`."""
    cause = f"not valid CSV ({error})"
    if last <= first:
        return cause
    return f"{cause}: a quote that opens in the row of line {first} is not closed there; lost up to line {last}"
