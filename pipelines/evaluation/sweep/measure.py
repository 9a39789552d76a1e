"""Measuring points in a worker: a snapshot is opened once for all points that search it.

What is equal between points is shared and not part of their cost: the graph in memory and the questions' vectors.
A point's seconds are those of its recipe alone, from the questions' vectors to the ranking, at its second use.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path

import numpy as np

from quern.indexes.catalog import Snapshot, Warehouse
from quern.indexes.graph import QueryGraph
from quern.indexes.vectors import Floats
from quern.jobs.vectors.embedder import Embedder
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.build.whole import build
from quern.pipelines.evaluation.alce import measure as alce
from quern.pipelines.evaluation.answers.measure import PER_QUESTION, is_measured, judged, question_values
from quern.pipelines.evaluation.bootstrap import Numbers
from quern.pipelines.evaluation.recipes import entailment_of
from quern.pipelines.evaluation.retrieval import Gold, gold_of, question_metrics
from quern.pipelines.evaluation.sweep.plan import Build, Point, question_types
from quern.pipelines.evaluation.sweep.spec import Dataset
from quern.pipelines.evaluation.sweep.tasks import MeasurePoints
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import selected
from quern.pipelines.retrieve.filters import conditions_of
from quern.pipelines.retrieve.recipes import RECIPES
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question
from quern.schemas.settings import Settings

_RESET_PEAK = "5"  # Written to clear_refs, it sets the peak of a process to what it holds now (man 5 proc).


@dataclass(frozen=True)
class BuildRecord:
    """What a build of a sweep made and cost.

    Attributes:
        build_id: The snapshot.
        seconds: Time of the build.
        peak_bytes: Largest memory of its processes together.
        rows: Rows of each table.
        index_bytes: Bytes of vectors and edges that a search holds in memory.
        reused: Per job, the rows that the memo had.
        computed: Per job, the rows that it lacked.
        job_seconds: Per job, its time.
    """

    build_id: str
    seconds: float
    peak_bytes: int
    rows: dict[str, int]
    index_bytes: int
    reused: dict[str, int] = field(default_factory=dict)
    computed: dict[str, int] = field(default_factory=dict)
    job_seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PointRecord:
    """The figures of one point.

    Attributes:
        query_ids: Questions that have evidence; where answers are measured, then others that have a gold answer.
        types: Their types, empty where they have none.
        values: Metric to one value per question, NaN where it has none.
        seconds: Time of the recipe over all questions, their vectors given.
        first_seconds: The same at its first use, when it makes what it needs beside the graph.
        peak_bytes: Largest memory of the process meanwhile, graph and model included.
    """

    query_ids: list[str]
    types: list[str]
    values: dict[str, list[float]]
    seconds: float
    first_seconds: float
    peak_bytes: int


def make_build(wanted: Build, root: Path) -> BuildRecord:
    """Build the snapshot of `wanted` in the warehouse at `root`.

    Snapshots of a sweep are not successive nights: none is pruned, and one that shrinks is no fault.
    """
    audit = wanted.settings.audit.model_copy(update={"keep_snapshots": 100_000, "max_shrink": 1.0})
    memo = wanted.settings.memo.model_copy(update={"keep_nights": 100_000, "max_bytes": 0})
    settings = wanted.settings.model_copy(update={"audit": audit, "memo": memo})
    manifest = build(wanted.source, Warehouse.create(root), settings)
    rows = {name: table.rows for name, table in manifest.tables.items()}
    width = 4 * manifest.tables["chunks"].dimension
    built = BuildRecord(
        build_id=manifest.build_id,
        seconds=manifest.seconds,
        peak_bytes=manifest.peak_memory_bytes,
        rows=rows,
        index_bytes=width * (rows["chunks"] + rows["nodes"]) + 12 * (rows["edges"] + rows["nodes"]),
    )
    for job in manifest.jobs:
        for into, column in ((built.reused, "reused"), (built.computed, "computed"), (built.job_seconds, "seconds")):
            into[job["job"]] = into.get(job["job"], 0) + job[column]
    return built


class _PointSearcher(Searcher):
    """A searcher of one point that takes the graph from its build."""

    def __init__(self, build: SearchedBuild, settings: Settings) -> None:
        super().__init__(build.snapshot, settings)
        self.graph = build.graph


class SearchedBuild:
    """One snapshot with the questions of its dataset: what its points share."""

    def __init__(self, snapshot: Snapshot, dataset: Dataset, settings: Settings) -> None:
        self.snapshot = snapshot
        self.graph = QueryGraph(snapshot)
        self._dataset, self._settings = dataset, settings
        self._searchers: dict[str, _PointSearcher] = {}

    def searcher(self, settings: Settings) -> _PointSearcher:
        """The searcher of points with equal settings: what it makes for one recipe serves the others."""
        key = settings.model_dump_json()
        if key not in self._searchers:
            self._searchers[key] = _PointSearcher(self, settings)
        return self._searchers[key]

    @cached_property
    def questions(self) -> list[Question]:
        """All questions."""
        return read_questions(self._dataset.questions)

    @cached_property
    def gold(self) -> Gold:
        """The questions that have evidence."""
        return gold_of(Searcher(self.snapshot, self._settings), self.questions)

    @cached_property
    def vectors(self) -> Floats:
        """Their vectors, shape (questions, d)."""
        searcher = Searcher(self.snapshot, self._settings)
        model = searcher.question_embedder  # It is an error if it is not the snapshot's.
        texts = tuple(searcher.form(q.question) for q in self.gold.questions)
        return _question_vectors(model, texts)

    @cached_property
    def types(self) -> dict[str, str]:
        """Type by the id of a question."""
        return question_types(self._dataset)

    @cached_property
    def answerable(self) -> list[Question]:
        """Those whose answers can be measured, as far as they have no evidence."""
        known = {q.query_id for q in self.gold.questions}
        return [q for q in self.questions if q.query_id not in known and is_measured(q)]

    def warm(self) -> None:
        """Load all that the points share, so that none of them pays for it."""
        graph = self.graph
        _ = (self.vectors, self.types, graph.chunks, graph.nodes, graph.edges, graph.documents)

    def measure(self, point: Point, metrics: Sequence[str], depth: int) -> PointRecord:
        """Rank the questions by the point's recipe and settings, and compare with the gold evidence."""
        self.warm()
        searcher, recipe = self.searcher(point.settings), RECIPES[point.choice.recipe]
        texts, where = [q.question for q in self.gold.questions], [conditions_of(q) for q in self.gold.questions]
        reset_peak()
        started = time.monotonic()
        batch = Batch(searcher, texts, where).with_vectors(self.vectors)
        selected(batch, recipe.rank(batch))
        first = time.monotonic() - started
        # Once more: an index or vectors of its own that a recipe makes at its first use are no cost of a question.
        started, batch = time.monotonic(), Batch(searcher, texts, where).with_vectors(self.vectors)
        ranking = selected(batch, recipe.rank(batch))
        seconds, peak = time.monotonic() - started, peak_bytes()
        of_retrieval = [m for m in metrics if m not in PER_QUESTION]
        values = question_metrics(batch, ranking, self.gold, of_retrieval, depth)
        asked = self.gold.questions
        if len(of_retrieval) < len(metrics):
            by_entailment = any(m in alce.PER_QUESTION for m in metrics)
            asked = [*asked, *self.answerable]
            nothing = np.full(len(self.answerable), np.nan)
            values = {n: np.concatenate([v, nothing]) for n, v in values.items()} | self._of_answers(
                point, asked, by_entailment=by_entailment
            )
        types = [self.types.get(q.query_id, "") for q in asked]
        told = {n: values[n].tolist() for n in metrics}
        return PointRecord([q.query_id for q in asked], types, told, round(seconds, 4), round(first, 4), peak)

    def _of_answers(self, point: Point, asked: Sequence[Question], *, by_entailment: bool) -> dict[str, Numbers]:
        """Values of the answers to `asked`, NaN where a question has no gold answer."""
        searcher = self.searcher(point.settings)
        answers = list(answer_questions(searcher, asked, RECIPES[point.choice.recipe]))
        with entailment_of(searcher) if by_entailment else nullcontext() as entails:
            found = question_values(judged(self.snapshot, asked, answers, entails))
        known = np.array([is_measured(q) for q in asked])
        return {name: np.where(known, value, np.nan) for name, value in found.items()}


@lru_cache(maxsize=16)
def _question_vectors(model: Embedder, texts: tuple[str, ...]) -> Floats:
    """Vectors of the texts, which all builds of a dataset with one model share."""
    return model.encode(texts)


def measure_points(task: MeasurePoints) -> Iterator[tuple[Point, Callable[[], PointRecord]]]:
    """Each point of the task, and what measures it."""
    shared: list[SearchedBuild] = []

    def measure(point: Point) -> PointRecord:
        if not shared:
            snapshot = Warehouse.open(task.root).snapshot(task.build_id)
            shared.append(SearchedBuild(snapshot, task.dataset, point.settings))
        return shared[0].measure(point, task.metrics, task.depth)

    for point in task.points:
        yield point, partial(measure, point)


def reset_peak() -> None:
    """Begin to measure the peak anew, where the system can; else it is that of the process."""
    try:
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)
    except OSError:
        return


def peak_bytes() -> int:
    """Largest resident memory of this process since `reset_peak`."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
