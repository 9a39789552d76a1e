from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, run_whole
from quern.jobs.graph.filter import Filter
from quern.jobs.vectors.embed import embedded_chunks, embedded_pairs
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings, FilterSettings, NormaliseSettings
from quern.schemas.tables import CHUNKS, QUERIES
from tests.conftest import Staged

TEXTS = {
    "a-0": "The harbour bridge opened in 1932 after eight years of work.",
    "b-0": "Bees store honey in wax combs.",
    "c-0": "Nothing was asked about this.",
}
QUESTIONS = {
    "a-0": [
        ("When did the harbour bridge open?", "in 1932"),
        ("What do bees eat?", "pollen"),
        ("Bridge?", "yes"),
        ("Cost?", "much"),
        ("How long did work take?", "eight years"),
    ],
    "b-0": [("What do bees store?", "honey"), ("Who won?", "nobody")],
    "c-0": [],
}


@pytest.fixture(params=[50_000, 1, 3])
def run(run: Run, request: pytest.FixtureRequest) -> Run:
    """In this process, and by workers in files of about so many pairs."""
    return replace(run, file_rows=request.param)


def filtered(chunks: Stage, pairs: Stage, settings: FilterSettings, run: Run) -> tuple[Stage, Stage]:
    (embedded,) = run_whole(embedded_pairs(EmbedSettings(), NormaliseSettings()), {"pairs": pairs}, run).stages
    queries, nodes = run_whole(Filter(settings), {"embedded_pairs": embedded, "chunks": chunks}, run).stages
    return queries, nodes


Asked = dict[str, list[tuple[str, str]]]
"""Questions and answers of each chunk."""


def tables(run: Run, staged: Staged, texts: dict[str, str], asked: Asked) -> tuple[Stage, Stage]:
    common = {"start": 0, "terms": "", "title": None, "published_at": None, "utc_offset": None, "token_count": 1}
    rows = [{"chunk_id": c, "doc_id": c[:-2], "text": t, "end": len(t), **common} for c, t in texts.items()]
    pairs = [
        {"query_id": f"{c}-{m}", "chunk_id": c, "question": q, "answer": a}
        for c, of_chunk in asked.items()
        for m, (q, a) in enumerate(of_chunk)
    ]
    bare = staged(CHUNKS.without("vector"), rows)
    (chunks,) = run_whole(embedded_chunks(EmbedSettings(), NormaliseSettings()), {"bare_chunks": bare}, run).stages
    return chunks, staged(QUERIES.without("similarity", "kept"), pairs)


def build(run: Run, staged: Staged, settings: FilterSettings) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    queries, nodes = filtered(*tables(run, staged, TEXTS, QUESTIONS), settings, run)
    return ([r for b in s.batches() for r in b.to_pylist()] for s in (queries, nodes))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("alpha", "kept"), [(0.8, {"a-0": 4, "b-0": 2}), (0.4, {"a-0": 2, "b-0": 1}), (0.01, {"a-0": 1, "b-0": 1})]
)
def test_the_best_share_of_each_chunk_is_kept(run: Run, staged: Staged, alpha: float, kept: dict[str, int]) -> None:
    queries, nodes = build(run, staged, FilterSettings(alpha=alpha))
    for chunk, count in kept.items():
        mine = [q for q in queries if q["chunk_id"] == chunk]
        best = sorted(mine, key=lambda q: -q["similarity"])[:count]
        assert {q["query_id"] for q in mine if q["kept"]} == {q["query_id"] for q in best}
    assert [n["query_id"] for n in nodes] == [q["query_id"] for q in queries if q["kept"]]


def test_a_pair_is_scored_by_the_cosine_of_question_and_answer_with_its_chunk(run: Run, staged: Staged) -> None:
    queries, nodes = build(run, staged, FilterSettings(alpha=1.0))
    embedder = Embedder.load(EmbedSettings())
    for query, node in zip(queries, nodes, strict=True):
        text = f"{query['question']} {query['answer']}"
        assert node["text"] == text
        vector, chunk = embedder.encode([text, TEXTS[query["chunk_id"]]])
        assert np.array_equal(np.array(node["vector"], np.float32), vector)
        assert query["similarity"] == pytest.approx(float(vector @ chunk), abs=1e-6)


def test_queries_of_a_chunk_without_a_vector_are_rejected_and_no_others(run: Run, staged: Staged) -> None:
    asked = {f"{c}-0": [(f"{c}?", m) for m in "01"] for c in "abcd"}
    chunks, pairs = tables(run, staged, {f"{c}-0": c for c in "bd"}, asked)
    queries, nodes = filtered(chunks, pairs, FilterSettings(alpha=1.0), run)
    assert [q for b in queries.batches(["chunk_id"]) for q in b.column(0).to_pylist()] == ["b-0"] * 2 + ["d-0"] * 2
    assert nodes.rows == 4
    assert run.reports[-1].rejected == 4
    run.rejects.close()
    rejects = [r for b in run.rejects.stage().batches() for r in b.to_pylist()]
    assert {(r["key"], r["reason"]) for r in rejects} == {(f"{c}-0-{m}", "chunk_missing") for c in "ac" for m in "01"}


def test_a_long_document_has_no_more_nodes_than_it_may_and_each_of_its_chunks_as_many(run: Run, staged: Staged) -> None:
    keys = [f"long-{n}" for n in range(3)] + ["short-0"]
    asked = {c: [(f"{c}?", f"{m}") for m in range(4)] for c in keys}
    settings = FilterSettings(alpha=1.0, most_of_document=7)
    _, nodes = filtered(*tables(run, staged, {c: c for c in keys}, asked), settings, run)
    kept = [c for b in nodes.batches(["chunk_id"]) for c in b.column(0).to_pylist()]
    assert {c: kept.count(c) for c in keys} == {"long-0": 2, "long-1": 2, "long-2": 2, "short-0": 4}


def test_over_the_corpus_one_threshold_holds_for_all_chunks(run: Run, staged: Staged) -> None:
    queries, _ = build(run, staged, FilterSettings(alpha=0.5, scope="corpus"))
    best = sorted((q["similarity"] for q in queries), reverse=True)[:4]
    assert {q["similarity"] for q in queries if q["kept"]} == set(best)
