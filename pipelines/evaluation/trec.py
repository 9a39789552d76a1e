"""Judgements and topics of TREC and BEIR, and runs for other tools of the field.

qrels     query_id 0 doc_id grade; of BEIR a header, then query_id, doc_id and grade, set apart by tabs
topics    query_id, tab, text; or BEIR's JSON lines with `_id` and `text`
run       query_id Q0 doc_id rank score name
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import quote

import ir_measures

from quern.schemas.answers import Question
from quern.schemas.errors import QuernError

_LONGEST_LINE: Final = 1 << 20


class TrecError(QuernError):
    """Files that cannot be read or written; the message names file and line, and says why."""


def read_judged(topics: Path, qrels: Path) -> tuple[list[Question], dict[tuple[str, str], int]]:
    """The topics of a file that have relevant documents, with these as their evidence; grades above 0.

    Raises:
        TrecError: A file cannot be read, or has a line that is none of its kind; or no topic is judged.
    """
    grades = read_qrels(qrels)
    relevant: dict[str, list[str]] = {}
    for query_id, doc_id in grades:
        relevant.setdefault(query_id, []).append(doc_id)
    texts = read_topics(topics)
    questions = [
        Question(query_id=key, question=text, evidence_doc_ids=relevant[key])
        for key, text in texts.items()
        if key in relevant
    ]
    if not questions:
        first = f"{next(iter(texts))!r} and {next(iter(relevant))!r}" if texts and relevant else "one of them is empty"
        raise TrecError(f"no topic of {topics} has a relevant document in {qrels}: their first ids are {first}")
    return questions, grades


def read_qrels(path: Path) -> dict[tuple[str, str], int]:
    """Grades above 0 by query and document; a document without a grade is not relevant, as one of grade 0.

    Raises:
        TrecError: The file cannot be read, or a line is no judgement.
    """
    grades: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        fields = line.split("\t") if line.count("\t") == 2 else line.split()
        query_id, *_, doc_id, grade = (field.strip() for field in fields) if len(fields) in (3, 4) else ("", "", "")
        if number == 1 and grade == "score":  # The header of BEIR.
            continue
        if not re.fullmatch(r"[+-]?\d{1,6}", grade):
            _refuse(path, number, line, "a judgement is `query_id 0 doc_id grade`, or of BEIR `query_id doc_id grade`")
        if int(grade) > 0:
            grades[query_id, doc_id] = max(int(grade), grades.get((query_id, doc_id), 0))
    if not grades:
        raise TrecError(f"{path} judges no document relevant")
    return grades


def read_topics(path: Path) -> dict[str, str]:
    """The texts of topics by their ids, in the order of the file.

    Raises:
        TrecError: The file cannot be read, a line is no topic, or two have one id.
    """
    topics: dict[str, str] = {}
    for number, line in _lines(path):
        if line.lstrip().startswith("{"):
            query_id, text = _json_topic(path, number, line)
        else:
            query_id, tab, text = line.partition("\t")
            if not tab:
                _refuse(path, number, line, "a topic is an id, a tab and a text")
        query_id, text = query_id.strip(), " ".join(text.split())
        if not query_id or not text:
            _refuse(path, number, f"{query_id} {text}".strip(), "a topic needs an id and a text")
        if query_id in topics:
            _refuse(path, number, query_id, "this id stands above already")
        topics[query_id] = text
    return topics


def _json_topic(path: Path, number: int, line: str) -> tuple[str, str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        _refuse(path, number, line, "the topic is no object of JSON")
    query_id, text = (row.get(name) for name in ("_id", "text"))
    return str(query_id if isinstance(query_id, str | int) else ""), text if isinstance(text, str) else ""


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers."""
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
                if len(raw) == _LONGEST_LINE:
                    _refuse(path, number, "", f"the line has {_LONGEST_LINE:,} bytes or more")
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    _refuse(path, number, "", f"the line is not UTF-8 at byte {error.start}")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise TrecError(f"{path} cannot be read: {error.strerror}") from None


def _refuse(path: Path, number: int, line: str, why: str) -> NoReturn:
    raise TrecError(f"{path}:{number}: {why}" + (f", not {line.strip()[:80]!r}" if line.strip() else ""))


def write_judgements(path: Path, judgements: Iterable[ir_measures.Qrel]) -> None:
    """Write judgements.

    Raises:
        TrecError: The file cannot be written.
    """
    _write(path, (f"{_id(j.query_id)} 0 {_id(j.doc_id)} {j.relevance}" for j in judgements))


def write_run(path: Path, recipe: str, run: Sequence[ir_measures.ScoredDoc]) -> None:
    """Write what a recipe found; ranks count from 1 within each question.

    Raises:
        TrecError: The file cannot be written.
    """
    ranks: Counter[str] = Counter()
    lines = []
    for hit in run:
        ranks[hit.query_id] += 1
        lines.append(f"{_id(hit.query_id)} Q0 {_id(hit.doc_id)} {ranks[hit.query_id]} {hit.score:g} {recipe}")
    _write(path, lines)


def _id(key: str) -> str:
    # Fields are separated by white space; an id that has some has percent escapes in its place.
    return re.sub(r"\s+", lambda m: quote(m[0], safe=""), key)


def _write(path: Path, lines: Iterable[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    except OSError as error:
        raise TrecError(f"{path} cannot be written: {error.strerror}") from None
