"""Answers as files: a row of Parquet, a line of JSON, a row of CSV and a section of the report each, as they come.

The CSV is one that Excel, LibreOffice and pandas open, and of which no cell is a formula.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.storage import abandon
from quern.pipelines.answers.questions import QuestionReject
from quern.pipelines.answers.views.passages import Pictures
from quern.pipelines.answers.views.report import write_report
from quern.pipelines.answers.views.words import reason_of
from quern.schemas.answers import ANSWERS, Answer, cited
from quern.schemas.words.lines import one_line

_KINDS = ("jsonl", "csv", "parquet")
# UTF-8 with a byte-order mark, without which Excel reads the code page of the machine.
_ENCODING = "utf-8-sig"
# What a spreadsheet takes for the start of a formula (OWASP, "CSV Injection"), in full width too.
_FORMULA = tuple("=+-@\t\r＝＋－＠")

COLUMNS = (
    "query_id", "question", "found", "answer", "text", "probability", "reason", "type", "expected", "kind", "asked",
    "notes", "as_of", "sub_questions", "sources", "quotes", "recipe", "by",
)  # fmt: skip
"""`answer` is the short answer, `text` the whole one; what is several in one cell is on a line each."""


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(filter(None, map(one_line, texts)))


def row(answer: Answer) -> list[str]:
    """The cells of an answer, in the order of `COLUMNS`."""
    sources = {c.doc_id: c.url or c.title or c.doc_id for c in answer.citations}
    cells = [
        one_line(answer.query_id),
        one_line(answer.question),
        "yes" if answer.found else "no",
        one_line(answer.short or ""),
        one_line(answer.answer),
        f"{answer.probability:.3f}",
        reason_of(answer) or "",
        one_line(answer.type or ""),
        one_line(answer.expected or ""),
        one_line(answer.kind),
        one_line(answer.asked or ""),
        _lines(answer.notes),
        answer.as_of.isoformat() if answer.as_of else "",
        _lines(f"{s.number}. {s.question} {s.answer or '-'} {cited(s.citations)}" for s in answer.sub_questions),
        _lines(sources.values()),
        _lines(f"[{c.number}] {c.quote}" + (f" (page {c.page})" if c.page else "") for c in answer.citations),
        one_line(answer.recipe),
        one_line(answer.by),
    ]
    # An apostrophe stands before what would start a formula.
    return [f"'{text}" if text.startswith(_FORMULA) else text for text in cells]


class _AnswerFiles:
    """Writes `answers.jsonl`, `answers.csv` and `answers.parquet` beside each other, whole or not at all."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._pending: list[Answer] = []
        self._lines: TextIO = self._temporary("jsonl").open("w", encoding="utf-8")
        self._table: TextIO = self._temporary("csv").open("w", encoding=_ENCODING, newline="")
        self._sheet = csv.writer(self._table)
        self._sheet.writerow(COLUMNS)
        self._writer = pq.ParquetWriter(self._temporary("parquet"), ANSWERS, compression="zstd")

    def _temporary(self, kind: str) -> Path:
        return self._directory / f".tmp-answers.{kind}"

    def write(self, answer: Answer) -> None:
        self._lines.write(answer.model_dump_json() + "\n")
        self._sheet.writerow(row(answer))
        self._pending.append(answer)
        if len(self._pending) == 256:
            self._flush()

    def _flush(self) -> None:
        rows = [a.model_dump() for a in self._pending]
        self._writer.write_table(pa.Table.from_pylist(rows, schema=ANSWERS))
        self._pending = []

    def __enter__(self) -> _AnswerFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        files, temporary = (self._lines, self._table, self._writer), [self._temporary(name) for name in _KINDS]
        try:
            if kind is None:
                self._flush()
                for file in files:
                    file.close()
                for path in temporary:
                    path.replace(self._directory / path.name.removeprefix(".tmp-"))
        finally:
            abandon(files, temporary)


@dataclass
class Written:
    """What was written."""

    questions: int = 0  # Answers, also those that say that there is none.
    found: int = 0  # Answers that the corpus has.
    by: Counter[str] = field(default_factory=Counter)  # How many answers each kind of generator chose the sentences of.


class RejectFile:
    """`rejects.jsonl`: the lines of the questions' file that are none. It is there where there are any."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "rejects.jsonl"
        self._temporary = directory / ".tmp-rejects.jsonl"
        self._lines: TextIO | None = None

    def write(self, reject: QuestionReject) -> None:
        """Add a reject."""
        # What is no text is told by its escapes.
        self._lines = self._lines or self._temporary.open("w", encoding="utf-8", errors="backslashreplace")
        self._lines.write(json.dumps(vars(reject), ensure_ascii=False) + "\n")

    def __enter__(self) -> RejectFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is not None:
            abandon([self._lines] if self._lines else [], [self._temporary])
        elif self._lines:
            self._lines.close()
            self._temporary.replace(self._path)
        else:
            self._path.unlink(missing_ok=True)


def write_answers(
    answers: Iterable[Answer],
    directory: Path,
    title: str,
    snapshot: Mapping[str, object],
    pictures: Pictures | None = None,
) -> Written:
    """Write `answers.parquet`, `answers.jsonl`, `answers.csv` and `index.html` to `directory`.

    Answers are taken one by one: memory does not grow with their number.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written = Written()

    def through(files: _AnswerFiles) -> Iterator[Answer]:
        for answer in answers:
            files.write(answer)
            written.questions += 1
            written.found += answer.found
            written.by[answer.by] += 1
            yield answer

    with _AnswerFiles(directory) as files:
        beside = [f"answers.{kind}" for kind in ("csv", "parquet", "jsonl")]
        path = directory / "index.html"
        write_report(through(files), path, title=title, snapshot=snapshot, files=beside, pictures=pictures)
    return written
