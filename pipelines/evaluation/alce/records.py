"""Answers in files, read to be measured: ALCE's own, and lines of `answers.jsonl`.

ALCE's file is one JSON object whose `data` lists records: `question`, `output` (the answer, with `[n]` of `docs`),
`docs` (`title`, `text`), and what the data set has to measure by: `qa_pairs` with `short_answers` (ASQA), `answers`
(the aliases of each item of a list, QAMPARI), `claims` (ELI5). Without `output` the field `answer` is measured, which
in ALCE's data is people's answer.
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
from quern.pipelines.evaluation.alce.sentences import CitedSentence, cited_items, cited_sentences, first_line
from quern.pipelines.evaluation.retrieval import EvaluationError
from quern.schemas.answers import Answer

_FORM: Final = 'ALCE\'s {"data": [{"question", "output", "docs"}, ...]}, or a line of answers.jsonl each'
_SHOWN: Final = 60  # Characters of a question in an error.


@dataclass(frozen=True)
class AlceRecord:
    """An answer, and what it is measured by.

    Attributes:
        question: What was asked.
        output: The answer as text, with its marks or without; empty where there is none.
        sentences: The same by sentences, or by items of a list.
        documents: What it may cite; a document's number is its place, counted from 1.
        short_answers: The aliases of each short answer that it should have.
        items: The aliases of each item of the gold list.
        claims: What it should entail.
        type: Kind of question, where the file gives one.
    """

    question: str
    output: str
    sentences: Sequence[CitedSentence]
    documents: Sequence[Passage]
    short_answers: Sequence[Sequence[str]] = ()
    items: Sequence[Sequence[str]] = ()
    claims: Sequence[str] = ()
    type: str = ""


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
    records = [_record(path, number, row) for number, row in _rows(path)]
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

    @model_validator(mode="before")
    @classmethod
    def _of_people(cls, fields: Any) -> Any:
        if isinstance(fields, Mapping) and fields.get("output") is None and "answer" in fields:
            return {**fields, "output": fields["answer"]}
        return fields

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


def _rows(path: Path) -> Iterator[tuple[str, object]]:
    """The records, each with what it is called in an error."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise EvaluationError(f"answers {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise EvaluationError(f"answers {path} are no UTF-8: {error.reason} at byte {error.start}") from None
    try:
        whole = _loaded(text)
    except json.JSONDecodeError as broken:
        if path.suffix != ".jsonl" and not _is_line(text):
            raise EvaluationError(f"{path}:{broken.lineno}: {broken.msg}; it must be {_FORM}") from None
        yield from _lines(path, text)
        return
    rows = whole.get("data", [whole]) if isinstance(whole, dict) else whole
    if not isinstance(rows, list):
        raise EvaluationError(f"{path}: data: it is no list; it must be {_FORM}")
    for number, row in enumerate(rows, 1):
        yield f"record {number}", row


def _loaded(text: str) -> Any:
    """What a text is as JSON; whatever it cannot be read for is the error that says where."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError):  # Python reads no number of more than 4,300 digits.
        raise json.JSONDecodeError("it is nested too deeply, or a number has too many digits", text, 0) from None


def _is_line(text: str) -> bool:
    """Whether the first line is an object of its own."""
    try:
        return isinstance(_loaded(text.partition("\n")[0]), dict)
    except json.JSONDecodeError:
        return False


def _lines(path: Path, text: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", _loaded(line)
            except json.JSONDecodeError as error:
                raise EvaluationError(f"{path}: line {number}: {error.msg}; it must be {_FORM}") from None


def _record(path: Path, name: str, row: object) -> AlceRecord:
    asked = row.get("question") if isinstance(row, dict) else None
    called = f"{path}: {name}" + (f" ({asked[:_SHOWN]!r})" if isinstance(asked, str) and asked else "")
    try:
        json.dumps(row, ensure_ascii=False).encode()
        if isinstance(row, dict) and "sentences" in row and "citations" in row:
            answer = Answer.model_validate(row)
            _cite_what_there_is(answer)
            return record_of(answer, _gold(answer))
        return _Row.model_validate(row).record
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise EvaluationError(f"{called}: {where}: {first['msg'].lower()}") from None
    except UnicodeEncodeError:
        raise EvaluationError(f"{called}: it has half of a surrogate pair, which is no text") from None
    except ValueError as error:
        raise EvaluationError(f"{called}: {error}") from None


def _cite_what_there_is(answer: Answer) -> None:
    known = {c.number for c in answer.citations}
    if missing := [n for s in answer.sentences for n in s.citations if n not in known]:
        raise ValueError(f"sentences: there is no citation {missing[0]}")


def _gold(answer: Answer) -> list[list[str]]:
    gold = (answer.expected or "").strip()
    return [] if not gold or overlap.polarity(gold) else [[gold]]
