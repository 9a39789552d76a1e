"""Building snapshots and measuring points, in a process of a sweep.

What is equal between points is shared and not part of their cost: the graph in memory and the questions' vectors.
A point's seconds are those of its recipe alone, from the questions' vectors to the ranking, at its second use.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from quern.indexes.catalog import Warehouse
from quern.indexes.graph import QueryGraph
from quern.indexes.vectors import Floats
from quern.jobs.reasoning.judging.gold import gold_task
from quern.jobs.reasoning.judging.inputs import judge_input
from quern.jobs.tasks.runner import Reasoner
from quern.jobs.vectors.embedder import Embedder
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.build.whole import build
from quern.pipelines.evaluation.alce import measure as alce
from quern.pipelines.evaluation.answers import PER_QUESTION, is_measured, judged, question_values
from quern.pipelines.evaluation.bootstrap import Numbers
from quern.pipelines.evaluation.recipes import entailment_of
from quern.pipelines.evaluation.retrieval import Gold, document_run, gold_of, run_metrics
from quern.pipelines.evaluation.sweep.plan import Build, Point
from quern.pipelines.evaluation.sweep.spec import ACCURACY, Dataset, Sweep
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import selected
from quern.pipelines.retrieve.filters import conditions_of
from quern.pipelines.retrieve.recipes import RECIPES
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question
from quern.schemas.settings import Settings

_DEPTH: Final = 100  # Documents of a ranking that the metrics see.


@dataclass(frozen=True)
class PointRecord:
    """The figures of one point."""

    query_ids: list[str]  # Those that have evidence; where answers are measured, then others that have a gold answer.
    types: list[str]  # Empty where a question has none.
    values: dict[str, list[float]]  # Metric to one value per question, NaN where it has none.
    seconds: float  # Of the recipe over all questions, their vectors given.


def make_build(wanted: Build, root: Path) -> str:
    """Build the snapshot of `wanted` in the warehouse at `root`; returns its id.

    Snapshots of a sweep are not successive nights: none is pruned, and one that shrinks is no fault.
    """
    audit = wanted.settings.audit.model_copy(update={"keep_snapshots": 100_000, "max_shrink": 1.0})
    memo = wanted.settings.memo.model_copy(update={"keep_nights": 100_000})
    settings = wanted.settings.model_copy(update={"audit": audit, "memo": memo})
    return build(wanted.source, Warehouse.create(root), settings).build_id


class _SearchedBuild:
    """One snapshot with the questions of its dataset: what its points share."""

    def __init__(self, root: Path, build_id: str, dataset: Dataset) -> None:
        self.snapshot = Warehouse.open(root).snapshot(build_id)
        self.graph = QueryGraph(self.snapshot)
        self.questions = read_questions(dataset.questions)
        self._searchers: dict[str, Searcher] = {}
        _ = (self.graph.chunks, self.graph.nodes, self.graph.edges, self.graph.documents)  # No point pays for them.

    def searcher(self, settings: Settings) -> Searcher:
        """The searcher of points with equal settings: what it makes for one recipe serves the others."""
        key = settings.model_dump_json()
        if key not in self._searchers:
            self._searchers[key] = searcher = Searcher(self.snapshot, settings)
            searcher.graph = self.graph
        return self._searchers[key]

    @cached_property
    def gold(self) -> Gold:
        """The questions that have evidence."""
        return gold_of(self.searcher(self.snapshot.manifest.known_settings()), self.questions)


_searched = lru_cache(maxsize=1)(_SearchedBuild)


@lru_cache(maxsize=16)
def _question_vectors(model: Embedder, texts: tuple[str, ...]) -> Floats:
    """Vectors of the texts, which all builds of a dataset with one model share."""
    return model.encode(texts)


def measure_point(point: Point, root: Path, build_id: str, dataset: Dataset, sweep: Sweep) -> PointRecord:
    """Rank the questions by the point's recipe and settings, and compare with the gold evidence and answers."""
    shared = _searched(root, build_id, dataset)
    searcher, recipe, questions = shared.searcher(point.settings), RECIPES[point.choice.recipe], shared.gold.questions
    texts, where = [q.question for q in questions], [conditions_of(q) for q in questions]
    vectors = _question_vectors(searcher.question_embedder, tuple(searcher.form(text) for text in texts))
    seconds = 0.0
    for _ in range(2):  # An index or vectors of its own that a recipe makes at its first use are no cost of a question.
        started, batch = time.monotonic(), Batch(searcher, texts, where).with_vectors(vectors)
        ranking = selected(batch, recipe.rank(batch))
        seconds = time.monotonic() - started
    of_retrieval = [m for m in sweep.metrics if m not in (*PER_QUESTION, ACCURACY)]
    values = run_metrics(document_run(batch, ranking, shared.gold, _DEPTH), shared.gold, of_retrieval)
    if of_answers := [m for m in sweep.metrics if m not in of_retrieval]:
        ids = {q.query_id for q in questions}
        others = [q for q in shared.questions if q.query_id not in ids and is_measured(q)]
        questions = [*questions, *others]
        values = {n: np.concatenate([v, np.full(len(others), np.nan)]) for n, v in values.items()}
        values |= _answer_values(searcher, point, questions, of_answers)
    return PointRecord(
        query_ids=[q.query_id for q in questions],
        types=[q.type or "" for q in questions],
        values={metric: values[metric].tolist() for metric in sweep.metrics},
        seconds=round(seconds, 4),
    )


def _answer_values(
    searcher: Searcher, point: Point, questions: Sequence[Question], metrics: Sequence[str]
) -> dict[str, Numbers]:
    """Values of the answers to `questions`, NaN where a question has no gold answer."""
    answers = list(answer_questions(searcher, questions, RECIPES[point.choice.recipe]))
    by_entailment = any(metric in alce.PER_QUESTION for metric in metrics)
    with entailment_of(searcher) if by_entailment else nullcontext() as entails:
        values = question_values(judged(searcher.snapshot, questions, answers, entails))
    if ACCURACY in metrics:
        with Reasoner(point.settings.generator, point.settings.engine) as reasoner:
            verdicts = reasoner.run(gold_task(), [judge_input(answer) for answer in answers])
        right = [np.nan if v.output.right is None else v.output.right for v in verdicts]
        values[ACCURACY] = np.array(right, dtype=np.float64)
    known = np.array([is_measured(q) for q in questions])
    return {name: np.where(known, value, np.nan) for name, value in values.items()}
