"""Duplicates from end to end: a built index holds one copy, and an evaluation counts it for all."""

from __future__ import annotations

import json

import pytest

from indexes.catalog import Warehouse
from pipelines.build import build
from pipelines.evaluate import evaluate, with_keepers
from pipelines.recipes import Searcher, find_recipes
from schemas.answers import Question
from schemas.settings import Settings

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
    assert rejects == {"deduplicate: exact_duplicate": 1, "deduplicate: near_duplicate": 1}


def test_gold_evidence_that_is_a_duplicate_counts_as_its_keeper(searcher: Searcher) -> None:
    asked = [
        Question(query_id="q", question="When is high water at the Tollen quay?", evidence_doc_ids=["copy", "tides"]),
        Question(query_id="r", question="What did the lamp burn?", evidence_doc_ids=["lamp-2"]),
    ]
    assert [q.evidence_doc_ids for q in with_keepers(asked, searcher)] == [["tides"], ["lamp"]]
    figures = evaluate(searcher, asked, find_recipes("bm25"), [1])["bm25"]
    assert figures["recall@1"] == 1.0
