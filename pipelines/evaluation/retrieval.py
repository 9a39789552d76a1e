"""Evaluation of recipes against gold evidence documents: Recall@k, all-evidence@k, MRR; of graded evidence nDCG@k.

Questions name their evidence by the id of a document or by the address of its page. A document's score is that of its
best chunk. Figures are macro averages over the questions that have evidence.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot
from quern.pipelines.evaluation.bootstrap import intervals
from quern.pipelines.evaluation.trec import write_judgements, write_run
from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.evidence import selected
from quern.pipelines.retrieve.filters import conditions_of
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question
from quern.schemas.errors import QuernError

log = logging.getLogger(__name__)

Grades = Mapping[tuple[str, str], int]
"""Grades above 0 of documents, by query and document."""


class EvaluationError(QuernError):
    """Questions that recipes cannot be evaluated on; the message says what they lack."""


@dataclass(frozen=True)
class Gold:
    """Questions that have evidence, and that evidence as `ir_measures` takes it."""

    questions: list[Question]
    judgements: list[ir_measures.Qrel]  # One per question and evidence document.
    documents: GoldDocuments  # Those that the questions name.


def evaluate(
    searcher: Searcher,
    questions: Sequence[Question],
    recipes: Sequence[Recipe],
    ks: Sequence[int],
    *,
    by_type: bool = False,
    trec: Path | None = None,
    grades: Grades | None = None,
) -> dict[str, dict[str, float]]:
    """Figures per recipe: `recall@k`, `all_evidence@k` for each k, `mrr`, and `questions`; with `grades` also `ndcg@k`.

    With `by_type` also under `RECIPE TYPE`, for each type that questions have. With `trec` also files in that folder
    from which tools of the field compute the same: see `.trec`.

    Raises:
        EvaluationError: No question has evidence, or none of it is in the snapshot.
    """
    gold = gold_of(searcher, questions, grades)
    batch = Batch(searcher, [q.question for q in gold.questions], [conditions_of(q) for q in gold.questions])
    metrics = metric_names(ks, graded=grades is not None)
    types = np.array([q.type or "" for q in gold.questions])
    groups = {"": np.arange(len(types))}
    groups |= {t: np.flatnonzero(types == t) for t in sorted(set(types.tolist()) - {""})} if by_type else {}
    figures: dict[str, dict[str, float]] = {}
    if trec:
        write_judgements(trec / "qrels.txt", gold.judgements)
    for recipe in recipes:
        run = recipe_run(batch, recipe, gold, ks)
        if trec:
            write_run(trec / f"{recipe.name}.run", recipe.name, run)
        values = run_metrics(run, gold, [*metrics.values()])
        for title, mine in groups.items():
            title = f"{recipe.name} {title}".rstrip()
            figures[title] = {name: round(float(values[metric][mine].mean()), 4) for name, metric in metrics.items()}
            figures[title]["questions"] = len(mine)
    return figures


def metric_names(ks: Sequence[int], *, graded: bool = False) -> dict[str, str]:
    """Names of figures, with what `ir_measures` calls them; nDCG only where evidence has grades."""
    names = {"recall": "R", "all_evidence": "AllEvidence"} | ({"ndcg": "nDCG"} if graded else {})
    return {f"{name}@{k}": f"{metric}@{k}" for k in ks for name, metric in names.items()} | {"mrr": "RR"}


def recipe_run(batch: Batch, recipe: Recipe, gold: Gold, ks: Sequence[int]) -> list[ir_measures.ScoredDoc]:
    """What a recipe finds for the questions of `gold`, without chunks that repeat a better one."""
    return document_run(batch, selected(batch, recipe.rank(batch)), gold, max(*ks, 100))


def gold_of(searcher: Searcher, questions: Sequence[Question], grades: Grades | None = None) -> Gold:
    """The questions that a snapshot can be measured on.

    Args:
        searcher: The snapshot.
        questions: The questions.
        grades: How relevant their evidence is; 1 where nothing says. Of duplicates the highest counts.

    Raises:
        EvaluationError: No question has evidence, or none of it is in the snapshot.
    """
    asked = [q for q in questions if q.evidence_doc_ids or q.evidence_urls]
    if not asked:
        raise EvaluationError("no question has evidence_doc_ids or evidence_urls: there is nothing to evaluate against")
    gold = gold_documents(searcher.snapshot, asked)
    documents, evidence = set(searcher.graph.documents.keys.to_pylist()), [d for ids in gold.evidence for d in ids]
    if documents.isdisjoint(evidence):
        raise EvaluationError(
            f"none of the evidence documents is in the snapshot (the first is {evidence[0]!r}); "
            "build the corpus that these questions belong to"
        )
    if unknown := sorted(set(evidence) - documents):
        log.warning("%d gold documents are not in the snapshot and count as missed, as %s", len(unknown), unknown[0])
    graded: dict[tuple[str, str], int] = {}
    for (query_id, doc_id), grade in (grades or {}).items():
        key = (query_id, gold.kept.get(doc_id, doc_id))
        graded[key] = max(grade, graded.get(key, 0))
    judgements = [
        ir_measures.Qrel(q.query_id, d, graded.get((q.query_id, d), 1))
        for q, ids in zip(asked, gold.evidence, strict=True)
        for d in ids
    ]
    return Gold(asked, judgements, gold)


def document_run(batch: Batch, ranking: Ranking, gold: Gold, depth: int) -> list[ir_measures.ScoredDoc]:
    """The `depth` best documents of each question of `gold`, as `ir_measures` takes them; each by its best chunk.

    Documents have no scores of their own that all recipes share, and equal scores would be broken by id: ranks do.
    Where gold names the page that a document is of, and not the document, the document stands for its page.
    """
    documents, hits = batch.graph.documents, ranking.chunks
    document = documents.of_chunk[hits.chunk]
    # The first of each (question, document) in order of rank is its best chunk.
    _, first = np.unique(hits.question * max(1, len(documents.keys)) + document, return_index=True)
    first.sort()
    ranked: list[list[str]] = [[] for _ in range(len(batch))]
    ids = documents.keys.take(pa.array(document[first])).to_pylist()
    for question, doc_id in zip(hits.question[first].tolist(), ids, strict=True):
        ranked[question].append(doc_id)
    pages, run = gold.documents.first_of_page, []
    for asked, ids, evidence in zip(gold.questions, ranked, gold.documents.evidence, strict=True):
        distinct = dict.fromkeys(d if d in evidence else pages.get(d, d) for d in ids[:depth])
        run += [ir_measures.ScoredDoc(asked.query_id, d, float(depth - rank)) for rank, d in enumerate(distinct)]
    return run


def run_metrics(
    run: Sequence[ir_measures.ScoredDoc], gold: Gold, metrics: Sequence[str]
) -> dict[str, npt.NDArray[np.float64]]:
    """Each metric's value for each question of a `document_run`, shape (questions,), 0 where nothing was found.

    Metrics have names that `ir_measures` parses, or `AllEvidence@k`: 1 where R@k is 1, else 0.
    """
    parsed = {name: ir_measures.parse_measure(name.replace("AllEvidence", "R")) for name in metrics}
    measures = [*dict.fromkeys(parsed.values())]
    scores = {str(measure): dict.fromkeys((q.query_id for q in gold.questions), 0.0) for measure in measures}
    for metric in ir_measures.iter_calc(measures, gold.judgements, run):
        scores[str(metric.measure)][metric.query_id] = metric.value
    values = {n: np.array(list(scores[str(measure)].values()), dtype=np.float64) for n, measure in parsed.items()}
    return {n: (v >= 1.0 - 1e-9).astype(np.float64) if n.startswith("AllEvidence") else v for n, v in values.items()}


@dataclass(frozen=True)
class ComparedRecipe:
    """A figure of a recipe, and how far it is above the baseline's."""

    recipe: str
    figure: str  # `recall@k`, `all_evidence@k` or `mrr`.
    questions: int  # That it is a mean over.
    value: float  # The mean, with its 95 % interval from `low` to `high`.
    low: float
    high: float
    difference: float  # Of the mean to that of the baseline, paired, with its 95 % interval; 0 for the baseline itself.
    difference_low: float
    difference_high: float
    better: int  # Questions that it does better on than the baseline.
    worse: int  # Questions that it does worse on.
    certain: bool  # Whether the interval of the difference leaves out 0.


def compared(
    searcher: Searcher, questions: Sequence[Question], recipes: Sequence[Recipe], ks: Sequence[int]
) -> list[ComparedRecipe]:
    """Figures of each recipe against those of the first, over the questions that have evidence.

    Intervals are percentiles of a bootstrap over questions (see `.bootstrap`); what is drawn is the same for all
    recipes, so differences are paired.

    Raises:
        EvaluationError: No question has evidence, or none of it is in the snapshot.
    """
    gold = gold_of(searcher, questions)
    batch = Batch(searcher, [q.question for q in gold.questions], [conditions_of(q) for q in gold.questions])
    metrics = metric_names(ks)
    scores = [run_metrics(recipe_run(batch, recipe, gold, ks), gold, [*metrics.values()]) for recipe in recipes]
    rows = []
    for figure, metric in metrics.items():
        values = np.column_stack([of[metric] for of in scores])  # Shape (questions, recipes).
        above = values - values[:, :1]
        interval = intervals(np.hstack([values, above]), 10_000)
        ends = np.column_stack([interval.mean, interval.low, interval.high]).reshape(2, len(recipes), 3).tolist()
        for n, (recipe, (value, low, high), (difference, least, most)) in enumerate(zip(recipes, *ends, strict=True)):
            better, worse = int((above[:, n] > 0).sum()), int((above[:, n] < 0).sum())
            certain = least > 0 or most < 0
            mean = (len(values), value, low, high)
            rows.append(ComparedRecipe(recipe.name, figure, *mean, difference, least, most, better, worse, certain))
    return rows


@dataclass(frozen=True)
class GoldDocuments:
    """The documents that questions name; one that is a duplicate is replaced by the document kept for it.

    Only the kept copy is searched; to find it is to find the evidence.
    """

    # Ids of each question's evidence; an address that no document has stands for itself, and is missed.
    evidence: list[list[str]]
    accepted: list[frozenset[str]]  # Ids that are right to cite: the evidence, and what `also_urls` names.
    # Where several documents have one address, each of them to the first: any one is the page.
    first_of_page: Mapping[str, str]
    kept: Mapping[str, str]  # Documents that are duplicates, each with the one that was kept for it.


def gold_documents(snapshot: Snapshot, questions: Sequence[Question]) -> GoldDocuments:
    """The documents that `questions` name."""
    # The documents of `ids` that are duplicates, each with the one that was kept for it.
    ids = {d for q in questions for d in q.evidence_doc_ids}
    values = pa.array(sorted(ids), pa.string())
    rows = _documents(snapshot, lambda b: pc.and_(pc.is_in(b["doc_id"], values), pc.is_valid(b["duplicate_of"])))
    keeper = {row["doc_id"]: row["duplicate_of"] for row in rows} if ids else {}
    # The documents of each address, an address that none has standing for itself.
    urls = {u for q in questions for u in (*q.evidence_urls, *q.also_urls)}
    doc_ids: dict[str, list[str]] = {url: [] for url in urls}
    values = pa.array(sorted(urls), pa.string())
    for row in _documents(snapshot, lambda b: pc.is_in(b["url"], values)) if urls else ():
        doc_ids[row["url"]].append(row["duplicate_of"] or row["doc_id"])
    if missing := [url for url, ids in doc_ids.items() if not ids]:
        same: dict[bytes, list[str]] = {_page_key(url): [] for url in missing}
        for row in _documents(snapshot, lambda b: pc.is_valid(b["url"])):
            same.get(_page_key(row["url"]), []).append(row["duplicate_of"] or row["doc_id"])
        doc_ids |= {url: same[_page_key(url)] for url in missing}
    pages = {url: list(dict.fromkeys(ids)) or [url] for url, ids in doc_ids.items()}
    evidence = [
        list(dict.fromkeys([*(keeper.get(d, d) for d in q.evidence_doc_ids), *(pages[u][0] for u in q.evidence_urls)]))
        for q in questions
    ]
    accepted = [
        frozenset([*ids, *(d for u in (*q.evidence_urls, *q.also_urls) for d in pages[u])])
        for q, ids in zip(questions, evidence, strict=True)
    ]
    return GoldDocuments(evidence, accepted, {d: ids[0] for ids in pages.values() for d in ids}, keeper)


def _documents(snapshot: Snapshot, which: Callable[[pa.RecordBatch], pa.Array]) -> Iterator[dict[str, str]]:
    for batch in snapshot.table("documents").batches(["doc_id", "url", "duplicate_of"]):
        yield from batch.filter(which(batch)).to_pylist()


def _page_key(url: str) -> bytes:
    """What all ways to write the address of one page share."""
    from quern.jobs.crawl.urls import BadAddressError, parse_address  # Scrapy takes a second to import.

    try:
        return parse_address(url).key
    except BadAddressError:
        return url.encode("utf-8", "surrogatepass")
