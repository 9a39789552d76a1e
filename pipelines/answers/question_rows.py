"""The rows of a file of questions: JSON lines (also from standard input), Parquet, CSV and TSV, a question a line."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, get_origin

import pyarrow as pa
import pyarrow.parquet as pq

from quern.jobs.text.charsets import Utf8Lines
from quern.jobs.text.delimited import DELIMITERS, delimited, opened
from quern.schemas.answers import Question
from quern.schemas.errors import QuernError
from quern.schemas.words.fields import quoted

STDIN: Final = Path("-")
_FIELDS: Final = tuple(Question.model_fields)
LISTS: Final = frozenset(n for n, f in Question.model_fields.items() if get_origin(f.annotation) is list)
# A question with its gold answer and evidence has some hundred; what is longer is no line of questions.
_LONGEST_LINE: Final = 1 << 20


class QuestionError(QuernError):
    """A file of questions that cannot be used; the message names file and line."""


@dataclass(frozen=True)
class Row:
    """A row: its number, counted from 1, and its fields."""

    line: int
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class BadRow:
    """A row that has no fields to speak of."""

    line: int
    reason: str  # `malformed`, `too_long` or `not_text`.
    detail: str


def check_readable(path: Path, what: str = "questions") -> None:
    """See to it that there is such a file, before anything costly is done; `what` it holds, for the message.

    Raises:
        QuestionError: There is none, or it cannot be read.
    """
    if path == STDIN or path.is_fifo():  # To open a pipe and close it would stop its writer.
        return
    try:
        path.open("rb").close()
    except OSError as error:
        raise QuestionError(f"{what} {path} cannot be read: {error.strerror}") from None


@dataclass(frozen=True)
class Columns:
    """What a file must have and calls otherwise."""

    what: str = "questions"  # What it holds, for messages.
    needed: Sequence[str] = ("query_id", "question")  # Fields that a table must have columns for.
    names: Mapping[str, str] = field(default_factory=dict)  # What the file calls fields, by their names here.
    mapped: bool = False  # Whether the command has `--map`, which gives `names`.

    def field_of(self, column: str) -> str | None:
        """The field that a column holds, None for none."""
        mapped = next((name for name, called in self.names.items() if called == column), None)
        return mapped or (column if column in _FIELDS and column not in self.names else None)

    def check(self, path: Path, columns: Sequence[str]) -> None:
        """See to it that a table has the columns.

        Raises:
            QuestionError: It lacks one; the message names what there is.
        """
        held = {self.field_of(column) for column in columns}
        if missing := [name for name in (*self.needed, *self.names) if name not in held]:
            called = dict.fromkeys(self.names.get(name, name) for name in missing)
            there = ", ".join(map(quoted, columns[:20]))
            how = ",".join(f"{name}=NAME" for name in dict.fromkeys(missing))
            lacks = f"{self.what} {path} has no column {' and no '.join(map(quoted, called))}; its columns are {there}"
            raise QuestionError(lacks + (f": name what holds it, like --map {how}" if self.mapped else ""))


def rows_of(path: Path, columns: Columns = Columns()) -> Iterator[Row | BadRow]:
    """The rows of a file, one by one; blank lines are passed over.

    Raises:
        QuestionError: It cannot be read, or lacks a column.
    """
    read = _READERS.get(path.suffix.lower(), _line_rows)
    try:
        yield from read(path, columns)
    except (OSError, pa.ArrowException, csv.Error) as error:
        cause = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
        raise QuestionError(f"{columns.what} {path} cannot be read: {cause}") from None


def row_count(path: Path) -> int | None:
    """About how many rows a file has; None for standard input and a pipe, which can be read only once."""
    if path == STDIN or not path.is_file():
        return None
    try:
        if path.suffix.lower() in _PARQUET:
            return int(pq.ParquetFile(path).metadata.num_rows)
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except (OSError, pa.ArrowException):
        return None


def _line_rows(path: Path, columns: Columns) -> Iterator[Row | BadRow]:
    """Rows of lines: of JSON, and in a `.txt` of questions as they stand too."""
    opened: Any = nullcontext(sys.stdin.buffer) if path == STDIN else path.open("rb")
    with opened as file:
        for number, line in enumerate(_lines(file), 1):
            if line is None:
                yield BadRow(number, "too_long", f"the line has more than {_LONGEST_LINE:,} bytes")
            elif line.strip():
                line = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
                plain = path.suffix.lower() == ".txt" and not line.startswith(b"{")
                yield _text_row(number, line) if plain else _renamed(_json_row(number, line), columns)


def _text_row(number: int, line: bytes) -> Row | BadRow:
    """A question that is a line."""
    try:
        return Row(number, {"question": line.decode("utf-8")})
    except UnicodeDecodeError as error:
        return BadRow(number, "not_text", f"not UTF-8 at byte {error.start} of the line")


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a file, None for one that is too long to be held."""
    while line := file.readline(_LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < _LONGEST_LINE:
            yield line
            continue
        while (rest := file.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
            continue
        yield None


def _json_row(number: int, line: bytes) -> Row | BadRow:
    try:
        fields = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return BadRow(number, "not_text", f"not UTF-8 at byte {error.start} of the line")
    except json.JSONDecodeError as error:
        return BadRow(number, "malformed", f"not valid JSON ({error.msg})")
    except RecursionError:
        return BadRow(number, "malformed", "not valid JSON (nested too deeply)")
    except ValueError:  # Python reads no number of more than 4,300 digits.
        return BadRow(number, "malformed", "not valid JSON (a number has too many digits)")
    if not isinstance(fields, dict):
        return BadRow(number, "malformed", "is no JSON object")
    return Row(number, fields)


def _renamed(row: Row | BadRow, columns: Columns) -> Row | BadRow:
    """A row of JSON by the names of its fields; what is no field is told of by who reads it."""
    if isinstance(row, BadRow) or not columns.names:
        return row
    return Row(row.line, {name: value for n, value in row.fields.items() if (name := columns.field_of(n))})


def _parquet_rows(path: Path, columns: Columns) -> Iterator[Row | BadRow]:
    with pq.ParquetFile(path) as file:
        columns.check(path, file.schema_arrow.names)
        wanted = [n for n in file.schema_arrow.names if columns.field_of(n)]
        number = 0
        for batch in file.iter_batches(batch_size=1024, columns=wanted):
            batch = batch.rename_columns([columns.field_of(n) or n for n in batch.schema.names])
            for at in range(batch.num_rows):
                number += 1
                yield _parquet_row(number, batch.slice(at, 1))


def _parquet_row(number: int, row: pa.RecordBatch) -> Row | BadRow:
    try:
        (fields,) = row.to_pylist()
    except UnicodeDecodeError:
        return BadRow(number, "not_text", "a text is not UTF-8")
    except (ValueError, OverflowError) as error:  # A date that Python has none of.
        return BadRow(number, "malformed", str(error))
    # A null says that there is nothing, as a key that a line of JSON lacks.
    return Row(number, {n: v for n, v in fields.items() if v is not None})


def _csv_rows(path: Path, columns: Columns) -> Iterator[Row | BadRow]:
    """Rows of CSV with a header, each by its first line; a list is written as JSON, or its members set apart by `|`."""
    with path.open("rb") as binary:
        needed = set(columns.needed)
        usual = DELIMITERS.get(path.suffix.lower(), ",")
        table = delimited(*opened(Utf8Lines(binary), usual, lambda names: needed <= set(map(columns.field_of, names))))
        columns.check(path, table.names)
        fields = [columns.field_of(name) for name in table.names]
        for row in table.rows:
            if row.fault:
                yield BadRow(row.line, "malformed", row.fault)
            else:
                yield Row(row.line, {n: _cell(n, v) for n, v in zip(fields, row.cells, strict=False) if n})


def _cell(name: str, value: str) -> object:
    text = value.strip()
    if name in LISTS and text.startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    if name in LISTS:
        return [part.strip() for part in text.split("|") if part.strip()]
    return value if text or name in ("question", "answer") else None


_PARQUET: Final = (".parquet", ".pq")
_READERS: Final[dict[str, Callable[[Path, Columns], Iterator[Row | BadRow]]]] = {
    **dict.fromkeys(_PARQUET, _parquet_rows),
    **dict.fromkeys(DELIMITERS, _csv_rows),
}
