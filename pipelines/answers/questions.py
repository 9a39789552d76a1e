"""Files of questions: JSON lines, Parquet, CSV, TSV or a question a line, read as a stream.

A line that is no question is a reject with its number and reason, and the others go on; a file without any question,
or that cannot be read, is an error.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from quern.indexes.storage import void
from quern.jobs.reasoning.questions.preprocess import fault_of
from quern.pipelines.answers.question_rows import (
    LISTS,
    BadRow,
    Columns,
    QuestionError,
    Row,
    check_readable,
    row_count,
    rows_of,
)
from quern.schemas.answers import Question
from quern.schemas.errors import QuernError
from quern.schemas.settings import QuestionSettings

_LONGEST_ID: Final = 200  # Characters of an id that a reject tells.
_EXAMPLE: Final = '{"question": "Who ...?"}'


@dataclass(frozen=True)
class QuestionReject:
    """A line that is no question."""

    line: int  # Its number in the file, from 1; of Parquet that of the row.
    query_id: str | None  # Its id, where it has one.
    reason: str  # Code: `malformed`, `missing`, `empty`, `too_long`, `not_text`, `duplicate`.
    detail: str  # What exactly, in words.

    def json(self) -> str:
        """The reject as a line of `rejects.jsonl`."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


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
        raise NoQuestionError(*_problem(error)) from None
    except QuernError as error:
        raise NoQuestionError("malformed", f"where: {error}") from None
    if (name := _without_encoding(question)) is not None:
        raise NoQuestionError("not_text", f"{name}: it has half of a surrogate pair, which no file can hold")
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

    def check(self) -> None:
        """See to it that there is such a file, before anything costly is done.

        Raises:
            QuestionError: There is none, or it cannot be read.
        """
        check_readable(self.path)

    def questions(self, on_reject: Callable[[QuestionReject], None]) -> Iterator[Question]:
        """The questions, in the order of the file; `on_reject` is given each line that is none.

        Raises:
            QuestionError: The file cannot be read, or holds no question; then the first reject is told.
        """
        first: QuestionReject | None = None
        seen: set[bytes] = set()
        columns = Columns(needed=("question",), names=self.names or {}, mapped=self.names is not None)
        for row in rows_of(self.path, columns):
            found = self._question(row, seen)
            if isinstance(found, Question):
                yield found
                continue
            first = first or found
            self.rejected[found.reason] += 1
            on_reject(found)
        if not seen:
            what = f"line {first.line}: {first.detail}" if first else "it is empty"
            raise QuestionError(f"questions {self.path}: {what}; each line must be like {_EXAMPLE}")

    def _question(self, row: Row | BadRow, seen: set[bytes]) -> Question | QuestionReject:
        if isinstance(row, BadRow):
            return QuestionReject(row.line, None, row.reason, row.detail)
        fields = {n: [v] if n in LISTS and isinstance(v, str) else v for n, v in row.fields.items() if v is not None}
        known = str(fields["query_id"])[:_LONGEST_ID] if "query_id" in fields else None
        if known is not None and not known.strip():
            return QuestionReject(row.line, known, "missing", "query_id: it is blank")
        if known is None and isinstance(text := fields.get("question"), str):
            # The id of a question without one: of its words, so that it is the same when the file has grown by
            # others.
            # Of half as many bytes, two of 100,000 questions would have one in common.
            made = f"q{blake2b(text.strip().encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
            self._made[made] += 1
            fields["query_id"] = made if self._made[made] == 1 else f"{made}-{self._made[made]}"
        try:
            question = question_of(fields, self.most_characters, self.read_condition)
        except NoQuestionError as error:
            return QuestionReject(row.line, known, error.reason, error.detail)
        digest = blake2b(question.query_id.encode(), digest_size=16).digest()
        if digest in seen:
            return QuestionReject(
                row.line, known, "duplicate", f"query_id {question.query_id[:_LONGEST_ID]!r} was used before"
            )
        seen.add(digest)
        return question

    def size(self) -> int | None:
        """About how many questions the file has, for progress; None where it cannot be known beforehand."""
        return row_count(self.path)


def read_questions(path: Path) -> list[Question]:
    """The questions of a file, every line of which must be one: gold questions, to measure by.

    Raises:
        QuestionError: The file cannot be read, is empty, or a line is no question; the first such line is named.
    """

    def refuse(reject: QuestionReject) -> None:
        raise QuestionError(f"{path}:{reject.line}: {reject.detail}; each line must be like {_EXAMPLE}")

    return list(QuestionFile(path).questions(refuse))


def _without_encoding(question: Question) -> str | None:
    """Name of the first field whose text UTF-8 cannot hold."""
    for name, value in question:
        for text in [value] if isinstance(value, str) else value if isinstance(value, list) else ():
            try:
                text.encode()
            except UnicodeEncodeError:
                return name
    return None


def _problem(error: ValidationError) -> tuple[str, str]:
    """Reason and detail of the first thing that is wrong with a row."""
    first = error.errors()[0]
    name = ".".join(str(p) for p in first["loc"]) or "the line"
    return "missing" if first["type"] == "missing" else "malformed", f"{name}: {first['msg'].lower()}"
