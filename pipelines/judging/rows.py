"""Files of answers to be judged: those of `quern answer`, and JSON lines of other systems by their usual names.

Read as a stream; a line that is no answer is a reject with its number and reason, and the others go on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from quern.jobs.reasoning.entailment.inputs import Passage
from quern.jobs.reasoning.judging.inputs import JudgeInput, Statement, golds, judge_input
from quern.pipelines.answers.questions import (
    BadRow,
    QuestionError,
    QuestionFile,
    QuestionReject,
    Row,
    check_readable,
    problem_of,
    row_count,
)
from quern.pipelines.evaluation.alce.citations import marked_sentences
from quern.pipelines.evaluation.alce.records import answer_rows, is_text
from quern.schemas.answers import NOT_ANSWERED, NOT_FOUND, Answer, Question
from quern.schemas.errors import QuernError

# What others call the fields; the first that a line has is taken.
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "query_id": ("query_id", "id", "qid", "question_id", "instance_id", "sample_id"),
    "question": ("question", "query", "prompt", "input"),
    # Where there is one of the first, `answer` is the gold answer, as in the files of ALCE.
    "answer": ("response", "output", "prediction", "generated_answer", "generation", "answer"),
    "expected": (
        *("expected", "gold", "gold_answer", "gt_answer", "ground_truth", "reference", "reference_answer", "target"),
        "answer",
    ),
    "evidence": ("evidence", "contexts", "context", "retrieved_contexts", "passages", "docs", "documents", "hits"),
}
_EXAMPLE: Final = '{"query_id": "q1", "question": "Who ...?", "answer": "...", "expected": "..."}'
_DAY: Final = TypeAdapter(datetime)


class JudgeError(QuernError):
    """Something that cannot be judged; the message says what to do."""


@dataclass(frozen=True)
class AnswerRow:
    """An answer of a file."""

    query_id: str
    given: JudgeInput


class Gold:
    """The gold answers of a file of questions, by `query_id`, else by question."""

    def __init__(self, questions: Sequence[Question] = ()) -> None:
        self._by_id = {q.query_id: q for q in questions}
        self._by_text = {_line(q.question): q for q in questions}

    @classmethod
    def read(cls, path: Path | None) -> Gold:
        """Those of a file; none without one.

        Raises:
            QuestionError: It cannot be read.
        """
        return cls() if path is None else cls(list(QuestionFile(path).questions(lambda _: None)))

    def of(self, query_id: str, question: str) -> tuple[str, ...] | None:
        """Gold answer and aliases; empty where the question has no answer, None where nothing is known."""
        record = self._by_id.get(query_id) or self._by_text.get(_line(question))
        if record is None or (record.answer is None and (record.type or "").lower() != "null"):
            return None
        return () if (record.type or "").lower() == "null" else golds([record.answer or "", *record.answer_aliases])


@dataclass
class AnswerFile:
    """The answers of a file, `-` being JSON lines on standard input; to be read once."""

    path: Path
    gold: Gold = field(default_factory=Gold)  # They go before those of the file.
    rejected: Counter[str] = field(default_factory=Counter)  # By reason, so far.

    def check(self) -> None:
        """See to it that there is such a file, before anything costly is done.

        Raises:
            JudgeError: There is none, or it cannot be read.
        """
        try:
            check_readable(self.path, "answers")
        except QuestionError as error:
            raise JudgeError(str(error)) from None

    def size(self) -> int | None:
        """About how many answers the file has, for progress; None where it cannot be known beforehand."""
        return None if self.path.suffix.lower() == ".json" else row_count(self.path)

    def answers(self, on_reject: Callable[[QuestionReject], None]) -> Iterator[AnswerRow]:
        """The answers, in the order of the file; `on_reject` is given each line that is none.

        Raises:
            JudgeError: The file cannot be read, or holds no answer; the message has the first reject.
        """
        first: QuestionReject | None = None
        seen: set[str] = set()
        try:
            for row in answer_rows(self.path):
                result = self._answer(row, seen)
                if isinstance(result, AnswerRow):
                    yield result
                    continue
                first = first or result
                self.rejected[result.reason] += 1
                on_reject(result)
        except QuestionError as error:
            raise JudgeError(str(error)) from None
        if not seen:
            what = f"line {first.line}: {first.detail}" if first else "it is empty"
            raise JudgeError(f"answers {self.path}: {what}; each line must be like {_EXAMPLE}")

    def _answer(self, row: Row | BadRow, seen: set[str]) -> AnswerRow | QuestionReject:
        if isinstance(row, BadRow):
            return QuestionReject(row.line, None, row.reason, row.detail)
        query_id = str(value if (value := _named(row.fields, "query_id")) is not None else row.line)
        if not is_text(row.fields):
            return QuestionReject(row.line, None, "not_text", "it has half of a surrogate pair, which no file can hold")
        try:
            # A line of `answers.jsonl` as `quern answer` writes it, or one of another system.
            ours = row.fields.keys() >= {"sentences", "citations", "hits"}
            read = judge_input(Answer.model_validate(row.fields)) if ours else _others(row.fields)
        except ValidationError as error:
            return QuestionReject(row.line, query_id, "malformed", problem_of(error))
        except KeyError as missing:
            return QuestionReject(row.line, query_id, "missing", f"it has no {missing.args[0]}")
        if query_id in seen:
            return QuestionReject(row.line, query_id, "duplicate", f"query_id {query_id!r} was used before")
        seen.add(query_id)
        gold = self.gold.of(query_id, read.question)
        return AnswerRow(query_id, read if gold is None else replace(read, gold=gold))


def read_others(path: Path) -> dict[str, JudgeInput]:
    """The answers of another file by `query_id`, without their evidence, which no comparison needs.

    Raises:
        JudgeError: It cannot be read, or holds no answer.
    """
    file = AnswerFile(path)
    file.check()
    rows = file.answers(lambda _: None)
    return {
        row.query_id: replace(row.given, evidence=(), statements=[Statement(s.text) for s in row.given.statements])
        for row in rows
    }


def _others(fields: Mapping[str, Any]) -> JudgeInput:
    """A line of another system; KeyError where it has no question or no answer."""
    question = _named(fields, "question")
    if not isinstance(question, str) or not question.strip():
        raise KeyError("question")
    name = next((n for n in NAMES["answer"] if n in fields), None)
    if name is None or isinstance(fields[name], dict):
        raise KeyError("answer that is a text")
    expected = next((fields[n] for n in NAMES["expected"] if n != name and fields.get(n) is not None), None)
    texts = _texts(expected)
    gold = golds([*texts, *_texts(fields.get("answer_aliases"))]) if texts else None
    return JudgeInput(question, statements_of(" ".join(_texts(fields[name]))), gold, passages_of(fields))


def passages_of(fields: Mapping[str, Any]) -> list[Passage]:
    """The evidence of a line: texts, or objects with `text` and perhaps `title` and `published_at`."""
    value = _named(fields, "evidence")
    passages = []
    for row in value if isinstance(value, list) else [value]:
        if isinstance(row, str):
            passages.append(Passage.read(row))
        elif isinstance(row, dict):
            names = ("text", "content", "quote", "passage", "page_content")
            text = next((row[n] for n in names if isinstance(row.get(n), str)), "")
            title, published = row.get("title"), row.get("published_at") or row.get("date")
            passages.append(Passage(text, title if isinstance(title, str) else "", _time(published)))
    return passages


def _time(value: object) -> datetime | None:
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    try:
        return _DAY.validate_python(value) if isinstance(value, str) else None
    except ValidationError:
        return None


def statements_of(text: str) -> list[Statement]:
    """The sentences of an answer written as a text, with the places of the passages that their `[n]` name."""
    if text.strip() in ("", NOT_FOUND, NOT_ANSWERED):
        return []
    sentences = (s for s in marked_sentences(text) if re.search(r"\w", s.text))
    return [Statement(s.text, list(dict.fromkeys(n - 1 for n in s.citations if n > 0))) for s in sentences]


def _named(fields: Mapping[str, Any], name: str) -> Any:
    return next((fields[n] for n in NAMES[name] if fields.get(n) is not None), None)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _texts(one)]
    return [] if value is None or isinstance(value, dict) else [str(value)]


def _line(text: str) -> str:
    return " ".join(text.split()).casefold()
