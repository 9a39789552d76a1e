"""Tables as text, a row a line: CSV and its like, with a header."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final, TextIO

from quern.jobs.text.charsets import Utf8Lines

# A first line by which spreadsheets tell each other what sets cells apart; it is no part of the table.
_SEPARATOR: Final = re.compile(r'"?sep=([^"\r\n])"?', re.IGNORECASE)

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_OTHERS: Final = (";", "\t", ",", "|")
"""What else sets cells apart: where a comma is in numbers, spreadsheets write `;`."""
_QUOTE: Final = '"'
_BACKSLASH: Final = "\\"
_SAMPLE: Final = 1 << 16


@dataclass(frozen=True)
class Dialect:
    """How the cells of a table are written."""

    delimiter: str = ","  # What sets cells apart, where no line before the header says so (`sep=;`).
    escape: str | None = None  # What stands before a quote within a quoted cell that is not doubled, or before itself.
    skip: int = 0  # Lines before the header.


@dataclass(frozen=True)
class DelimitedRow:
    """A row."""

    line: int  # Number of its first line, counted from 1.
    cells: Sequence[str]  # As many as the header has, or fewer.
    fault: str = ""  # What is wrong with it; empty where nothing is.


@dataclass(frozen=True)
class Delimited:
    """A table: the names of its columns, and its rows, to be read once."""

    names: Sequence[str]
    rows: Iterator[DelimitedRow]


class _Lines:
    """The lines of a file, of which `number` were read; of one row at most `longest` characters are held in memory."""

    def __init__(self, file: TextIO, longest: int, escape: str | None) -> None:
        self._file, self._longest = file, longest
        self._escape = re.compile(f"{re.escape(escape)}(.?)", re.DOTALL) if escape else None
        self.number = 0
        self.begin_row()

    def begin_row(self) -> None:
        """What is read from here on is another row."""
        self._room = self._longest
        self.escaped = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(self._room + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._room -= len(line)
        if self._room >= 0:
            self.escaped |= _BACKSLASH + _QUOTE in line
            return self._escape.sub(_literal, line) if self._escape else line
        while line and not line.endswith(("\n", "\r")):
            line = self._file.readline(1 << 16)
        raise csv.Error(f"a row of more than {self._longest:,} characters")


def _literal(escape: re.Match[str]) -> str:
    """An escape as `csv` reads it; before what is neither a quote nor an escape, `C:\\data`, it is one of the text."""
    mark = escape[0][0]
    return escape[0] if escape[1] in (_QUOTE, mark) else mark + escape[0]


@contextmanager
def _long_cells(longest: int | None) -> Iterator[None]:
    """Within, cells may be so long: `csv` has one limit for all that a process reads."""
    before = csv.field_size_limit() if longest is None else csv.field_size_limit(longest)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def delimited(file: TextIO, dialect: Dialect = Dialect(), longest: int | None = None) -> Delimited:
    """The table of `file`, opened with `newline=""`; a row that cannot be read has a fault, and the next one is read.

    A row has at most `longest` characters: a quote that is not closed takes all that follows into its cell.

    Raises:
        csv.Error: The header cannot be read.
    """
    lines, delimiter = _Lines(file, longest or sys.maxsize - 1, dialect.escape), dialect.delimiter
    for _ in range(dialect.skip):
        next(lines, "")
        lines.begin_row()
    first = next(lines, "")
    if match := _SEPARATOR.fullmatch(first.rstrip("\r\n")):
        first, delimiter = "", match[1]
    # Strict: else a quote that is not closed says nothing.
    every = chain([first] if first else [], lines)
    reader = csv.reader(every, strict=True, delimiter=delimiter, escapechar=dialect.escape)
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
                hint = "; where a backslash escapes quotes, say --set 'ingest.csv_escape=\\'" if lines.escaped else ""
                cause = f"not valid CSV ({error})"
                if lines.number > first:
                    cause += f": a quote that opens in the row of line {first} is not closed there; lost up to line "
                    cause += str(lines.number)
                yield DelimitedRow(first, (), cause + hint * (dialect.escape is None))
                continue
            if any(cell.strip() for cell in cells[len(names) :]):
                yield DelimitedRow(first, (), "has more cells than the header")
            elif cells:
                yield DelimitedRow(first, cells[: len(names)])

    return Delimited(names, rows())


def opened(
    lines: Utf8Lines,
    usual: str,
    fits: Callable[[Sequence[str]], bool],
    escape: str | None = None,
    skip: int | None = None,
) -> tuple[TextIO, Dialect]:
    """A file as text, for `delimited`, and how its cells are written, by its first lines; no byte of it fails.

    The header is the first line with columns that fit, or else the first one; of what may set cells apart it is the
    usual, or what makes columns that fit, or else the most. `escape` (of quotes) and `skip` (lines before the header)
    are given where they are known.
    """
    reader = io.BufferedReader(lines, _SAMPLE)
    head = reader.peek()
    sample = (head[: head.rfind(b"\n") + 1] or head).decode("utf-8-sig", "ignore")
    text = io.TextIOWrapper(reader, encoding="utf-8-sig", errors="replace", newline="")

    def worth(line: str, delimiter: str) -> tuple[bool, int]:
        names = [cell.strip() for row in csv.reader([line], delimiter=delimiter) for cell in row]
        return fits(names), len(names)

    first = skip or 0
    # Fifty lines are looked through for a header.
    top = list(islice(io.StringIO(sample, newline=None), first, first + 50)) or [""]
    if skip is not None or _SEPARATOR.fullmatch(top[0].rstrip()):
        top = top[:1]
    fitting = ((n, d) for n, line in enumerate(top) for d in (usual, *_OTHERS) if worth(line, d)[0])
    most = max((usual, *_OTHERS), key=lambda delimiter: worth(top[0], delimiter))
    at, delimiter = next(fitting, (0, most))
    dialect = Dialect(delimiter, escape, first + at if any(map(str.strip, top[:at])) else first)
    if escape is None and _BACKSLASH + _QUOTE in sample:
        escaped = replace(dialect, escape=_BACKSLASH)
        dialect = escaped if _faults(sample, escaped) < _faults(sample, dialect) else dialect
    return text, dialect


def _faults(sample: str, dialect: Dialect) -> int:
    """How many rows of the first lines of a table cannot be read."""
    try:
        return sum(bool(row.fault) for row in delimited(io.StringIO(sample, newline=""), dialect).rows)
    except csv.Error:
        return len(sample)
