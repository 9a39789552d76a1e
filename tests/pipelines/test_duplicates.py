"""Duplicates from end to end: a built index holds one copy, and an evaluation counts it for all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from quern.pipelines.evaluation.retrieval import evaluate, gold_documents
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question
from quern.schemas.settings import Settings

TIDES = (
    "High water at the Tollen quay is at nine in the morning on the first day of the spring tide. The ferry master "
    "rings a bell when the water reaches the third step, and the children run down to see the eels come over the sill. "
    "At low water the mud smells of salt and iron, and nobody crosses without boards."
)
LAMP = (
    "The lamp on the market hall was lit for the first time in the winter of the long frost. It burned herring oil, "
    "and the lamplighter was paid in fish until the council bought a gas pipe from the town across the bay."
)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("duplicates")
    rows = [
        {"doc_id": "copy", "title": "Tides again", "text": TIDES.replace("boards", "planks")},
        {"doc_id": "tides", "title": "Tides", "text": TIDES, "published_at": "2024-03-01"},
        {"doc_id": "lamp", "title": "The lamp", "text": LAMP},
        {"doc_id": "lamp-2", "title": "The lamp, reprinted", "text": LAMP},
    ]
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    settings = Settings.model_validate({"engine": {"engine": "local"}})
    build(folder / "documents.jsonl", Warehouse.create(folder / "wh"), settings)
    return Searcher(Warehouse.open(folder / "wh").snapshot(), settings)


def test_duplicates_stay_documents_but_are_not_searched(searcher: Searcher) -> None:
    rows = [r for b in searcher.snapshot.table("documents").batches(["doc_id", "duplicate_of"]) for r in b.to_pylist()]
    assert {r["doc_id"]: r["duplicate_of"] for r in rows} == {
        "copy": "tides",
        "tides": None,
        "lamp": None,
        "lamp-2": "lamp",
    }
    assert sorted(searcher.graph.documents.keys.to_pylist()) == ["lamp", "tides"]
    rejects = searcher.snapshot.manifest.rejects
    duplicates = {"deduplicate: exact_duplicate": 1, "deduplicate: near_duplicate": 1}
    assert rejects == duplicates | {"find_events: no_date": 1}, "of a duplicate nothing more is rejected"


def test_gold_evidence_that_is_a_duplicate_counts_as_its_keeper(searcher: Searcher) -> None:
    asked = [
        Question(query_id="q", question="When is high water at the Tollen quay?", evidence_doc_ids=["copy", "tides"]),
        Question(query_id="r", question="What did the lamp burn?", evidence_doc_ids=["lamp-2"]),
    ]
    assert gold_documents(searcher.snapshot, asked).evidence == [["tides"], ["lamp"]]
    figures = evaluate(searcher, asked, find_recipes("bm25"), [1])["bm25"]
    assert figures["recall@1"] == 1.0


def test_a_batch_of_nothing_but_duplicates_is_built_like_any_other(tmp_path: Path) -> None:
    rows = [{"doc_id": f"copy-{n:02}", "text": LAMP} for n in range(20)]
    (tmp_path / "copies.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    settings = Settings.model_validate({"engine": {"engine": "local", "batch_rows": 4}})
    manifest = build(tmp_path / "copies.jsonl", Warehouse.create(tmp_path / "wh"), settings)
    assert (manifest.tables["documents"].rows, manifest.tables["chunks"].rows) == (20, 1)
    assert manifest.rejects == {"deduplicate: exact_duplicate": 19, "find_events: no_date": 1}
