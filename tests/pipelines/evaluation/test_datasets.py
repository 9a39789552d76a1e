"""Files of datasets become documents and questions that a build and an evaluation take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from quern.pipelines.cli.main import app
from quern.pipelines.evaluation.datasets import DatasetError, convert
from tests.conftest import read_jsonl

Rows = list[dict[str, Any]]
_CONTEXT = [["Elm Quay", ["Elm Quay lies in Orle.", " It was built in 1911."]], ["Orle", ["Orle is a town."]]]
_HOTPOT: dict[str, Any] = {"_id": "5a7", "question": "When was the quay in Orle built?", "answer": "1911"}
_HOTPOT |= {"type": "bridge", "supporting_facts": [["Elm Quay", 0], ["Elm Quay", 1]], "context": _CONTEXT}
_HUB = _HOTPOT | {
    "id": "5a7",
    "supporting_facts": {"title": ["Elm Quay", "Elm Quay"], "sent_id": [0, 1]},
    "context": {"title": [one[0] for one in _CONTEXT], "sentences": [one[1] for one in _CONTEXT]},
}
_MUSIQUE: dict[str, Any] = {"id": "2hop__1_2", "question": "In which town is the quay?", "answer": "Orle"}
_MUSIQUE |= {
    "answer_aliases": ["Orle-on-Sea"],
    "answerable": True,
    "question_decomposition": [],
    "paragraphs": [
        {"idx": 0, "title": "Elm Quay", "paragraph_text": "Elm Quay lies in Orle.", "is_supporting": True},
        {"idx": 1, "title": "Pear Quay", "paragraph_text": "Pear Quay does not.", "is_supporting": False},
    ],
}
_NEWS = {
    "title": "The quay reopens",
    "author": "A. Reed",
    "source": "The Orle Post",
    "category": "local",
    "published_at": "2023-11-27T08:45:59+00:00",
    "url": "https://post.example/quay",
    "body": "The quay in Orle reopened on Monday.",
}
_ASKED = {
    "query": "Which paper told that the quay reopened?",
    "answer": "The Orle Post",
    "question_type": "inference_query",
    "evidence_list": [{"url": "https://post.example/quay", "fact": "The quay reopened."}] * 2,
}


def _read(folder: Path) -> tuple[Rows, Rows]:
    return read_jsonl(folder / "documents.jsonl"), read_jsonl(folder / "questions.jsonl")


def _converted(folder: Path, **files: Any) -> tuple[Rows, Rows]:
    paths = [folder / f"{name}.json" for name in files]
    for path, given in zip(paths, files.values(), strict=True):
        path.write_text(json.dumps(given), "utf-8")
    counts = convert(paths, folder / "out")
    documents, questions = _read(folder / "out")
    assert counts == {"documents": len(documents), "questions": len(questions)}
    return documents, questions


def test_hotpotqa_gives_each_paragraph_once_and_its_titles_as_evidence(tmp_path: Path) -> None:
    documents, questions = _converted(tmp_path, dev=[_HOTPOT, _HOTPOT | {"_id": "5a8"}])
    assert [one["text"] for one in documents] == ["Elm Quay lies in Orle. It was built in 1911.", "Orle is a town."]
    assert [one["query_id"] for one in questions] == ["5a7", "5a8"]
    assert questions[0]["evidence_doc_ids"] == [documents[0]["doc_id"]]
    assert (questions[0]["type"], questions[0]["answer"]) == ("bridge", "1911")
    pq.write_table(pa.Table.from_pylist([_HUB]), tmp_path / "hub.parquet")
    convert([tmp_path / "hub.parquet"], tmp_path / "hub")
    assert _read(tmp_path / "hub") == (documents, questions[:1]), "the columns of the hub give the same"


def test_musique_keeps_aliases_hops_and_what_cannot_be_answered(tmp_path: Path) -> None:
    _, (first, second) = _converted(tmp_path, m=[_MUSIQUE, _MUSIQUE | {"id": "3hop__9", "answerable": False}])
    assert (first["type"], first["answer_aliases"], len(first["evidence_doc_ids"])) == ("2hop", ["Orle-on-Sea"], 1)
    assert (second["type"], second["answer"], second["evidence_doc_ids"]) == ("null", "", [])


def test_multihop_rag_is_built_and_evaluated(tmp_path: Path) -> None:
    null = {"query": "Who owns the ferry?", "answer": "Insufficient information.", "question_type": "null_query"}
    documents, questions = _converted(tmp_path, corpus=[_NEWS], MultiHopRAG=[_ASKED, null | {"evidence_list": []}])
    assert documents[0]["site_name"] == "The Orle Post"
    assert documents[0]["metadata"] == {"category": "local"}
    assert [one["answer"] for one in questions] == ["The Orle Post", ""]
    out, warehouse = tmp_path / "out", str(tmp_path / "WH")
    build = ["build", str(out / "documents.jsonl"), "-w", warehouse]
    ask = ["evaluate", str(out / "questions.jsonl"), "-w", warehouse, "--recipes", "bm25", "--k", "1", "--json"]
    told = [CliRunner().invoke(app, command) for command in (build, ask)]
    assert [one.exit_code for one in told] == [0, 0], told[1].output
    assert json.loads(told[1].stdout)["bm25"]["recall@1"] == 1.0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"question": "Who?"}]', "an object of no known dataset"),
        ('[{"url": "https://a.example/", "body": "Text."}]', "no questions in"),
        (json.dumps([_ASKED]), "no documents in"),
        (json.dumps([_HOTPOT | {"context": [["Elm Quay"]]}]), "m.json:1: ValueError"),
        ("7", "an object of no known dataset"),
    ],
)
def test_a_file_of_no_dataset_is_told_and_leaves_nothing(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "m.json").write_text(text, "utf-8")
    with pytest.raises(DatasetError, match=r"m\.json") as error:
        convert([tmp_path / "m.json"], tmp_path / "out")
    assert told in str(error.value)
    assert not list((tmp_path / "out").iterdir())
