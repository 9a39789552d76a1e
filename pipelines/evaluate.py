"""Evaluation of recipes against gold evidence documents: Recall@k, all-evidence@k, MRR.

A document's score is that of its best chunk. Figures are macro averages over the questions that have evidence.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import ir_measures
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from ir_measures import RR, R

from pipelines.recipes import Batch, Ranking, Recipe, Searcher
from schemas.answers import Question

log = logging.getLogger(__name__)


class EvaluationError(ValueError):
    """Questions that recipes cannot be evaluated on; the message says what they lack."""


def evaluate(
    searcher: Searcher, questions: Sequence[Question], recipes: Sequence[Recipe], ks: Sequence[int]
) -> dict[str, dict[str, float]]:
    """Figures per recipe: `recall@k`, `all_evidence@k` for each k, `mrr`, and `questions`.

    Raises:
        EvaluationError: No question has evidence, or none of it is in the snapshot.
    """
    asked = [q for q in questions if q.evidence_doc_ids]
    if not asked:
        raise EvaluationError("no question has evidence_doc_ids: there is nothing to evaluate against")
    asked = with_keepers(asked, searcher)
    known = set(searcher.graph.documents.keys.to_pylist())
    if not any(d in known for q in asked for d in q.evidence_doc_ids):
        raise EvaluationError(
            f"none of the evidence documents is in the snapshot (the first is {asked[0].evidence_doc_ids[0]!r}); "
            "build the corpus that these questions belong to"
        )
    unknown = sorted({d for q in asked for d in q.evidence_doc_ids} - known)
    if unknown:
        log.warning("%d gold documents are not in the snapshot and count as missed, as %s", len(unknown), unknown[0])
    batch = searcher.batch([q.question for q in asked])
    gold = [ir_measures.Qrel(q.query_id, d, 1) for q in asked for d in sorted(set(q.evidence_doc_ids))]
    return {recipe.name: _figures(batch, recipe.rank(batch), asked, gold, ks) for recipe in recipes}


def with_keepers(questions: Sequence[Question], searcher: Searcher) -> list[Question]:
    """The questions, where evidence that is a duplicate is replaced by the document that was kept for it.

    Only the kept copy is searched; to find it is to find the evidence.
    """
    wanted = pa.array(sorted({d for q in questions for d in q.evidence_doc_ids}), pa.string())
    keeper: dict[str, str] = {}
    for batch in searcher.snapshot.table("documents").batches(["doc_id", "duplicate_of"]):
        named = pc.and_(pc.is_in(batch.column("doc_id"), wanted), batch.column("duplicate_of").is_valid())
        found = batch.filter(named)
        keeper |= dict(zip(found.column("doc_id").to_pylist(), found.column("duplicate_of").to_pylist(), strict=True))
    return [
        q.model_copy(update={"evidence_doc_ids": list(dict.fromkeys(keeper.get(d, d) for d in q.evidence_doc_ids))})
        for q in questions
    ]


def document_ranking(batch: Batch, ranking: Ranking, depth: int) -> list[list[str]]:
    """The `depth` best documents of each question, best first; a document ranks by its best chunk."""
    documents = batch.graph.documents
    found = ranking.chunks
    document = documents.of_chunk[found.chunk]
    # The first of each (question, document) in order of rank is its best chunk.
    _, first = np.unique(found.question * max(1, len(documents.keys)) + document, return_index=True)
    first.sort()
    ids = documents.keys.take(pa.array(document[first])).to_pylist()
    rows: list[list[str]] = [[] for _ in range(len(batch))]
    for question, doc_id in zip(found.question[first].tolist(), ids, strict=True):
        if len(rows[question]) < depth:
            rows[question].append(doc_id)
    return rows


def _figures(
    batch: Batch, ranking: Ranking, asked: Sequence[Question], gold: Sequence[ir_measures.Qrel], ks: Sequence[int]
) -> dict[str, float]:
    depth = max(*ks, 100)
    rows = document_ranking(batch, ranking, depth)
    run = [
        ir_measures.ScoredDoc(q.query_id, doc_id, float(depth - rank))
        for q, ranked in zip(asked, rows, strict=True)
        for rank, doc_id in enumerate(ranked)
    ]
    measures = [R @ k for k in ks]
    values = _per_question([*measures, RR], gold, run, [q.query_id for q in asked])
    figures: dict[str, float] = {}
    for k, measure in zip(ks, measures, strict=True):
        recall = np.array(values[str(measure)])
        figures[f"recall@{k}"] = round(float(recall.mean()), 4)
        figures[f"all_evidence@{k}"] = round(float((recall >= 1.0 - 1e-9).mean()), 4)
    figures["mrr"] = round(float(np.mean(values[str(RR)])), 4)
    figures["questions"] = len(asked)
    return figures


def _per_question(
    measures: Sequence[ir_measures.Measure],
    gold: Sequence[ir_measures.Qrel],
    run: Sequence[ir_measures.ScoredDoc],
    ids: Sequence[str],
) -> Mapping[str, list[float]]:
    """Each measure's value for each question, 0 where nothing was found."""
    values = {str(m): dict.fromkeys(ids, 0.0) for m in measures}
    for metric in ir_measures.iter_calc(measures, gold, run):
        values[str(metric.measure)][metric.query_id] = metric.value
    return {name: [of[i] for i in ids] for name, of in values.items()}
