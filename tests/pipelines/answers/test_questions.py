"""Files of questions: three formats, read as a stream; what is no question is told by line and reason."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.pipelines.answers.questions import (
    QuestionError,
    QuestionFile,
    QuestionReject,
    check_readable,
    read_questions,
    row_count,
)
from quern.pipelines.retrieve.filters import conditions_in
from quern.schemas.answers import Question

ROWS: list[dict[str, Any]] = [
    {
        "query_id": "1",
        "question": "When is high water?",
        "type": "single",
        "answer": "at nine",
        "evidence_urls": ["u", "v"],
    },
    {"query_id": "zwei", "question": "谁修复了听澜台？", "answer": "", "evidence_doc_ids": ["a b"]},
    {"query_id": "3", "question": 'Who said "no, never"?\nAnd why?'},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        names = dict.fromkeys(n for row in rows for n in row)
        pq.write_table(pa.table({n: [row.get(n) for row in rows] for n in names}), path)
    elif path.suffix == ".csv":
        names = list(dict.fromkeys(n for row in rows for n in row))
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows({n: "|".join(v) if isinstance(v, list) else v for n, v in r.items()} for r in rows)
    else:
        path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in rows), "utf-8")
    return path


def read(path: Path) -> tuple[list[Question], list[QuestionReject]]:
    rejects: list[QuestionReject] = []
    return list(QuestionFile(path).questions(rejects.append)), rejects


@pytest.mark.parametrize("name", ["q.jsonl", "q.parquet", "q.csv", "-"])
def test_every_format_gives_the_same_questions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "-":
        text = write(tmp_path / "q.jsonl", ROWS).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    questions, rejects = read(Path("-") if name == "-" else write(tmp_path / name, ROWS))
    assert rejects == []
    expected = [Question.model_validate(row) for row in ROWS]
    if name == "q.csv":  # A cell cannot say whether there is no gold answer, or none is known.
        expected[2].answer = ""
    assert questions == expected


def test_a_line_that_is_no_question_is_a_reject_and_the_others_go_on(tmp_path: Path) -> None:
    lines = [
        b'\xef\xbb\xbf{"query_id": 7, "question": "When is high water?", "where": null}',
        b"",
        b"{oops",
        b"[]",
        b'{"query_id": "a"}',
        b'{"query_id": "b", "question": " "}',
        b'{"query_id": "c", "question": "' + b"why " * 600 + b'"}',
        b'{"query_id": "d", "question": "\xff\xfe?"}',
        b'{"query_id": "e", "question": "\\ud800 who?"}',
        b'{"query_id": "7", "question": "And low water?"}',
        b'{"query_id": "f", "question": ["who?"]}',
        b'{"query_id": " ", "question": "Who?"}',
        b'{"query_id": "g", "question": "' + b"x" * (3 << 20) + b'"}',
        b"[" * 100_000,
        b'{"query_id": "\\ud800", "question": "Who?"}',
        b'{"query_id": "i", "question": "Who?", "answer": "\\udfff"}',
        b'{"query_id": ' + b"9" * 5_000 + b', "question": "Who?"}',
        b'{"query_id": "h", "question": "Who is last?"}',
    ]
    (tmp_path / "q.jsonl").write_bytes(b"\n".join(lines))
    questions, rejects = read(tmp_path / "q.jsonl")
    assert [q.query_id for q in questions] == ["7", "h"]
    assert [(r.line, r.reason) for r in rejects] == [
        *((3, "malformed"), (4, "malformed"), (5, "missing"), (6, "empty"), (7, "too_long"), (8, "not_text")),
        *((9, "malformed"), (10, "duplicate"), (11, "malformed"), (12, "missing"), (13, "too_long"), (14, "malformed")),
        *((15, "not_text"), (16, "not_text"), (17, "malformed")),
    ]


def test_a_condition_that_cannot_be_read_is_a_reject(tmp_path: Path) -> None:
    rows = [
        {"query_id": w, "question": "Who?", "where": w}
        for w in ("site=tides.example", "site", "published_at>=2024-13-01")
    ]
    rejects: list[QuestionReject] = []
    asked = QuestionFile(write(tmp_path / "q.jsonl", rows), read_condition=conditions_in)
    assert [q.where for q in asked.questions(rejects.append)] == [["site=tides.example"]]
    assert [r.reason for r in rejects] == ["malformed", "malformed"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.csv", "Nr;Frage\n1;Wer öffnet?\n2;Who?\n".encode("cp1252")),
        ("q.tsv", "\ufeffNr\tFrage\n1\tWer öffnet?\n2\tWho?\n".encode()),
        ("q.jsonl", '{"Nr": 1, "Frage": "Wer öffnet?", "question": 7}\n{"Nr": 2, "Frage": "Who?"}'.encode()),
    ],
)
def test_a_file_may_call_its_fields_otherwise(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    asked = QuestionFile(tmp_path / name, names={"question": "Frage", "query_id": "Nr"}).questions(print)
    assert [(q.query_id, q.question) for q in asked] == [("1", "Wer öffnet?"), ("2", "Who?")]
    if name != "q.jsonl":
        told = 'its columns are "Nr", "Frage": name what holds it, like --map question='
        with pytest.raises(QuestionError, match=told):
            list(QuestionFile(tmp_path / name, names={}).questions(print))
        with pytest.raises(QuestionError, match=r"its columns are .Nr., .Frage.$"):
            read(tmp_path / name)  # As of a command without `--map`.


def test_a_question_without_an_id_gets_one_of_its_words_wherever_it_stands(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question\nWho?\nWhere?\nWho?\n")
    (tmp_path / "q.txt").write_text('What?\n\nWhere?\n{"question": "Who?"}\n')
    (ids, none), (others, _) = read(tmp_path / "q.csv"), read(tmp_path / "q.txt")
    assert none == []
    assert [q.question for q in others] == ["What?", "Where?", "Who?"]
    who, where, again = (q.query_id for q in ids)
    assert [q.query_id for q in others][1:] == [where, who]
    assert again == f"{who}-2"
    (tmp_path / "q.txt").write_text("Who is number 27207?\nWho is number 107347?\n")  # Alike in their first 32 bits.
    assert all("-" not in question.query_id for question in read(tmp_path / "q.txt")[0])


def test_a_row_of_parquet_that_is_not_utf_8_is_a_reject(tmp_path: Path) -> None:
    texts = pa.array([b"Who?", b"\xff\xfe?", b"Where?"]).view(pa.string())
    pq.write_table(pa.table({"query_id": ["a", "b", "c"], "question": texts}), tmp_path / "q.parquet")
    questions, rejects = read(tmp_path / "q.parquet")
    assert [q.query_id for q in questions] == ["a", "c"]
    assert [(r.line, r.reason) for r in rejects] == [(2, "not_text")]


def test_a_pipe_is_read_once_by_its_questions_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(writer, b'{"query_id": "a", "question": "Who?"}\n')
    check_readable(tmp_path / "pipe")
    assert row_count(tmp_path / "pipe") is None
    assert next(QuestionFile(tmp_path / "pipe").questions(print)).query_id == "a"
    os.close(writer)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.jsonl", "", "is empty"),
        ("q.jsonl", "{oops\n", "line 1: not valid JSON"),
        ("q.csv", "id,text\n1,Who?\n", 'has no column "question"'),
        ("q.parquet", "PAR1", "cannot be read"),
        ("absent.jsonl", None, "cannot be read"),
    ],
)
def test_a_file_without_a_question_is_an_error(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(QuestionError, match=message):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"query_id": "a"}\n', "q.jsonl:1: question: field required"),
        ('{"query_id": "a", "question": "who?"}\n{oops\n', "q.jsonl:2: not valid JSON"),
        ('{"query_id": "a", "question": "who?"}\n' * 2, "q.jsonl:2: query_id 'a' was used before"),
    ],
)
def test_a_wrong_line_among_gold_questions_is_an_error_that_names_it(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "q.jsonl").write_text(text)
    with pytest.raises(QuestionError) as error:
        read_questions(tmp_path / "q.jsonl")
    assert message in str(error.value)


def test_memory_is_a_digest_a_question(tmp_path: Path) -> None:
    count, note = 4_000, "x" * 2_000
    lines = (json.dumps({"query_id": str(n), "question": "Who?", "note": note}) + "\n" for n in range(count))
    (tmp_path / "q.jsonl").write_text("".join(lines))
    tracemalloc.start()
    read_count = sum(1 for _ in QuestionFile(tmp_path / "q.jsonl").questions(print))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read_count == count
    assert peak / count < 250
