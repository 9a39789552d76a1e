"""Files of questions: JSON lines (also from standard input), Parquet, CSV, TSV or a question a line, read as a stream.

A line that is no question is a reject with its number and reason, and the others go on; a file without any question,
or that cannot be read, is an error.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, get_origin

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from quern.indexes.storage import void
from quern.jobs.reasoning.questions.preprocess import fault_of
from quern.jobs.text.charsets import Utf8Lines
from quern.jobs.text.delimited import DELIMITERS, delimited, opened
from quern.schemas.answers import Question
from quern.schemas.errors import QuernError
from quern.schemas.settings import QuestionSettings
from quern.schemas.words.fields import quoted

STDIN: Final = Path("-")
_FIELDS: Final = tuple(Question.model_fields)
_LISTS: Final = frozenset(n for n, f in Question.model_fields.items() if get_origin(f.annotation) is list)
_LONGEST_ID: Final = 200  # Characters of an id that a reject tells.
_EXAMPLE: Final = '{"question": "Who ...?"}'
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
        for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), 1):
            if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
                    continue
                yield BadRow(number, "too_long", f"the line has more than {_LONGEST_LINE:,} bytes")
            elif line.strip():
                line = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
                yield _line_row(number, line, columns, text=path.suffix.lower() == ".txt")


def _line_row(number: int, line: bytes, columns: Columns, *, text: bool) -> Row | BadRow:
    """The fields of a JSON object; in a file of `text` a line may be a question as it stands too."""
    plain = text and not line.startswith(b"{")
    try:
        fields = {"question": line.decode("utf-8")} if plain else json.loads(line.decode("utf-8"))
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
    if columns.names and not plain:
        fields = {name: value for n, value in fields.items() if (name := columns.field_of(n))}
    return Row(number, fields)


def _parquet_rows(path: Path, columns: Columns) -> Iterator[Row | BadRow]:
    with pq.ParquetFile(path) as file:
        columns.check(path, file.schema_arrow.names)
        names = [n for n in file.schema_arrow.names if columns.field_of(n)]
        number = 0
        for batch in file.iter_batches(batch_size=1024, columns=names):
            batch = batch.rename_columns([columns.field_of(n) or n for n in batch.schema.names])
            for at in range(batch.num_rows):
                number += 1
                try:
                    (fields,) = batch.slice(at, 1).to_pylist()
                except UnicodeDecodeError:
                    yield BadRow(number, "not_text", "a text is not UTF-8")
                except (ValueError, OverflowError) as error:  # A date that Python has none of.
                    yield BadRow(number, "malformed", str(error))
                else:
                    # A null says that there is nothing, as a key that a line of JSON lacks.
                    yield Row(number, {n: v for n, v in fields.items() if v is not None})


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
    if name in _LISTS and text.startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    if name in _LISTS:
        return [part.strip() for part in text.split("|") if part.strip()]
    return value if text or name in ("question", "answer") else None


_PARQUET: Final = (".parquet", ".pq")
_READERS: Final[dict[str, Callable[[Path, Columns], Iterator[Row | BadRow]]]] = {
    **dict.fromkeys(_PARQUET, _parquet_rows),
    **dict.fromkeys(DELIMITERS, _csv_rows),
}


@dataclass(frozen=True)
class QuestionReject:
    """A line that is no question."""

    line: int  # Its number in the file, from 1; of Parquet that of the row.
    query_id: str | None  # Its id, where it has one.
    reason: str  # Code: `malformed`, `missing`, `empty`, `too_long`, `not_text`, `duplicate`.
    detail: str  # What exactly, in words.


class NoQuestionError(QuestionError):
    """What is given is no question that can be answered.

    Attributes:
        reason: Code, as of a `QuestionReject`.
        detail: What exactly, in words.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"the question cannot be answered: {detail}")
        self.reason = reason
        self.detail = detail


def question_of(
    given: Question | Mapping[str, object], most_characters: int, read_condition: Callable[[str], object] = void
) -> Question:
    """The question that the fields `given` state, one that can be answered.

    Args:
        given: The fields, or the question.
        most_characters: `question.max_characters`.
        read_condition: Reads a condition of `where`.

    Raises:
        NoQuestionError: It is none: a field is missing or of the wrong type, or its text cannot be used.
    """
    text = given.question if isinstance(given, Question) else given.get("question")
    if isinstance(text, str) and (fault := fault_of(text, most_characters)):
        raise NoQuestionError(fault.reason, fault.detail)
    try:
        question = Question.model_validate(given)
        for condition in question.where:
            read_condition(condition)
    except ValidationError as error:
        code = "missing" if error.errors()[0]["type"] == "missing" else "malformed"
        raise NoQuestionError(code, problem_of(error)) from None
    except QuernError as error:
        raise NoQuestionError("malformed", f"where: {error}") from None
    for name, value in question:
        for each in [value] if isinstance(value, str) else value if isinstance(value, list) else ():
            try:
                each.encode()
            except UnicodeEncodeError:
                detail = f"{name}: it has half of a surrogate pair, which no file can hold"
                raise NoQuestionError("not_text", detail) from None
    return question


@dataclass
class QuestionFile:
    """The questions of a file, `-` being JSON lines on standard input; to be read once.

    Memory is a digest a question, by which a `query_id` that was used before is known: at most some 200 bytes.
    """

    path: Path
    most_characters: int = QuestionSettings().max_characters  # `question.max_characters`.
    # Reads a condition of a question's `where`; a QuernError of it is a reject.
    read_condition: Callable[[str], object] = void
    # What the file calls fields of questions, by the names of these; None where a command has no `--map`.
    names: Mapping[str, str] | None = None
    rejected: Counter[str] = field(default_factory=Counter)  # Rejects so far, by reason.
    _made: Counter[str] = field(default_factory=Counter)

    def questions(self, on_reject: Callable[[QuestionReject], None]) -> Iterator[Question]:
        """The questions, in the order of the file; `on_reject` is given each line that is none.

        Raises:
            QuestionError: The file cannot be read, or holds no question; then the first reject is told.
        """
        first: QuestionReject | None = None
        seen: set[bytes] = set()
        columns = Columns(needed=("question",), names=self.names or {}, mapped=self.names is not None)
        for row in rows_of(self.path, columns):
            result = self._question(row, seen)
            if isinstance(result, Question):
                yield result
                continue
            first = first or result
            self.rejected[result.reason] += 1
            on_reject(result)
        if not seen:
            what = f"line {first.line}: {first.detail}" if first else "it is empty"
            raise QuestionError(f"questions {self.path}: {what}; each line must be like {_EXAMPLE}")

    def _question(self, row: Row | BadRow, seen: set[bytes]) -> Question | QuestionReject:
        if isinstance(row, BadRow):
            return QuestionReject(row.line, None, row.reason, row.detail)
        fields = {n: [v] if n in _LISTS and isinstance(v, str) else v for n, v in row.fields.items() if v is not None}
        query_id = str(fields["query_id"])[:_LONGEST_ID] if "query_id" in fields else None
        if query_id is not None and not query_id.strip():
            return QuestionReject(row.line, query_id, "missing", "query_id: it is blank")
        if query_id is None and isinstance(text := fields.get("question"), str):
            # The id of a question without one: of its words, so that it is the same when the file has grown by
            # others. Of half as many bytes, two of 100,000 questions would have one in common.
            fallback = f"q{blake2b(text.strip().encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
            self._made[fallback] += 1
            fields["query_id"] = fallback if self._made[fallback] == 1 else f"{fallback}-{self._made[fallback]}"
        try:
            question = question_of(fields, self.most_characters, self.read_condition)
        except NoQuestionError as error:
            return QuestionReject(row.line, query_id, error.reason, error.detail)
        digest = blake2b(question.query_id.encode(), digest_size=16).digest()
        if digest in seen:
            return QuestionReject(
                row.line, query_id, "duplicate", f"query_id {question.query_id[:_LONGEST_ID]!r} was used before"
            )
        seen.add(digest)
        return question


def read_questions(path: Path) -> list[Question]:
    """The questions of a file, every line of which must be one: gold questions, to measure by.

    Raises:
        QuestionError: The file cannot be read, is empty, or a line is no question; the first such line is named.
    """

    def refuse(reject: QuestionReject) -> None:
        raise QuestionError(f"{path}:{reject.line}: {reject.detail}; each line must be like {_EXAMPLE}")

    return list(QuestionFile(path).questions(refuse))


def problem_of(error: ValidationError) -> str:
    """The first thing that is wrong with a row or a line: its field, and what."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg'].lower()}"
