"""Answers in files, read to be measured: ALCE's own, and lines of `answers.jsonl`.

ALCE's file is one JSON object whose `data` lists records: `question`, `output` (the answer, with `[n]` of `docs`),
`docs` (`title`, `text`), and what the data set has to measure by: `qa_pairs` with `short_answers` (ASQA), `answers`
(the aliases of each item of a list, QAMPARI), `claims` (ELI5).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field, ValidationError, model_validator

from quern.jobs.reasoning.entailment.inputs import Passage
from quern.jobs.reasoning.judging import overlap
from quern.pipelines.answers.questions import BadRow, Columns, QuestionError, Row, rows_of
from quern.pipelines.evaluation.alce.citations import CitedSentence, cited_items, cited_sentences, first_line
from quern.pipelines.evaluation.retrieval import EvaluationError
from quern.schemas.answers import Answer

_FORM: Final = 'ALCE\'s {"data": [{"question", "output", "docs"}, ...]}, or a line of answers.jsonl each'


@dataclass(frozen=True)
class AlceRecord:
    """An answer, and what it is measured by."""

    question: str
    output: str  # The answer as text, with its marks or without; empty where there is none.
    sentences: Sequence[CitedSentence]  # The same by sentences, or by items of a list.
    documents: Sequence[Passage]  # What it may cite; a document's number is its place, counted from 1.
    short_answers: Sequence[Sequence[str]] = ()  # The aliases of each one that it should have.
    items: Sequence[Sequence[str]] = ()  # The aliases of each item of the gold list.
    claims: Sequence[str] = ()  # What it should entail.
    type: str = ""  # Kind of question, where the file gives one.


def record_of(answer: Answer, short_answers: Sequence[Sequence[str]]) -> AlceRecord:
    """One of our answers: its sentences cite quotes."""
    place = {c.number: n for n, c in enumerate(answer.citations, 1)}
    return AlceRecord(
        question=answer.question,
        output=" ".join(s.text for s in answer.sentences),
        sentences=[CitedSentence(s.text, tuple(place[n] for n in s.citations)) for s in answer.sentences],
        documents=[Passage(c.quote, c.title or "", c.published_at) for c in answer.citations],
        short_answers=short_answers,
        type=answer.type or "",
    )


def read_records(path: Path) -> list[AlceRecord]:
    """The answers of a file.

    Raises:
        EvaluationError: It cannot be read, holds no answer, or a record is none; the first such record is named.
    """
    try:
        records = [_record(path, row) for row in answer_rows(path)]
    except QuestionError as error:
        raise EvaluationError(str(error)) from None
    if not records:
        raise EvaluationError(f"{path}: it holds no answer; it must be {_FORM}")
    return records


class _Document(BaseModel):
    title: str | None = None
    text: str | None = None
    sent: str | None = None

    @model_validator(mode="after")
    def _has_text(self) -> _Document:
        if self.text is None and self.sent is None:
            raise ValueError("text: it is missing")
        return self

    @property
    def passage(self) -> Passage:
        """What ALCE reads of a document: the sentence that was taken out of it, where one was."""
        return Passage(self.text or "" if self.sent is None else self.sent, self.title or "")


class _Pair(BaseModel):
    short_answers: list[str] = Field(min_length=1)


class _Row(BaseModel):
    """A record of ALCE; what else it has is not read."""

    question: str = Field(min_length=1)
    output: str
    docs: list[_Document] | None = None
    qa_pairs: list[_Pair] | None = None
    claims: list[str] | None = None
    answers: list[list[str]] | list[str] | None = None

    @property
    def record(self) -> AlceRecord:
        """The record; `answers` is a list where each item has aliases of its own, else one short answer."""
        pairs = [pair.short_answers for pair in self.qa_pairs or ()]
        nested = [a for a in self.answers or () if isinstance(a, list) and a]
        flat = [a for a in self.answers or () if isinstance(a, str)]
        items = nested if not pairs and not self.claims else []
        return AlceRecord(
            question=self.question,
            output=first_line(self.output),
            sentences=cited_items(self.question, self.output) if items else cited_sentences(self.output),
            documents=[d.passage for d in self.docs or ()],
            short_answers=pairs or ([flat] if flat else []),
            items=items,
            claims=self.claims or (),
        )


def answer_rows(path: Path) -> Iterator[Row | BadRow]:
    """The rows of a file of answers: JSON lines, or one JSON document that is a list of them or has one as `data`.

    Raises:
        QuestionError: It cannot be read, or is a document of another form.
    """
    whole: Any = None
    if path.suffix.lower() == ".json":
        try:
            whole = json.loads(path.read_text("utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            whole = None  # Lines, perhaps; the reader of lines says what is wrong with the first.
    if whole is None or (isinstance(whole, dict) and "data" not in whole):
        yield from rows_of(path, Columns("answers"))
        return
    rows = whole["data"] if isinstance(whole, dict) else whole
    if not isinstance(rows, list):
        raise QuestionError(f"answers {path}: a JSON document must be a list of answers, or have one as `data`")
    for number, fields in enumerate(rows, 1):
        yield Row(number, fields) if isinstance(fields, dict) else BadRow(number, "malformed", "is no JSON object")


def is_text(fields: Mapping[str, Any]) -> bool:
    """Whether a file can hold all texts of a row: none has half of a surrogate pair."""
    try:
        json.dumps(fields, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def _record(path: Path, row: Row | BadRow) -> AlceRecord:
    if isinstance(row, BadRow):
        raise EvaluationError(f"{path}: record {row.line}: {row.detail}; it must be {_FORM}")
    question = row.fields.get("question")
    called = f"{path}: record {row.line}" + (f" ({question[:60]!r})" if isinstance(question, str) and question else "")
    if not is_text(row.fields):
        raise EvaluationError(f"{called}: it has half of a surrogate pair, which is no text")
    try:
        if "sentences" not in row.fields or "citations" not in row.fields:
            return _Row.model_validate(row.fields).record
        answer = Answer.model_validate(row.fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise EvaluationError(f"{called}: {where}: {first['msg'].lower()}") from None
    numbers = {c.number for c in answer.citations}
    if missing := [n for s in answer.sentences for n in s.citations if n not in numbers]:
        raise EvaluationError(f"{called}: sentences: there is no citation {missing[0]}")
    gold = (answer.expected or "").strip()
    return record_of(answer, [] if not gold or overlap.polarity(gold) else [[gold]])
