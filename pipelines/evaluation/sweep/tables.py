"""The results of a sweep as tables: Parquet for other tools, Markdown for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.storage import write_whole
from quern.indexes.vectors import Positions
from quern.pipelines.evaluation.bootstrap import Numbers, ratio_intervals
from quern.pipelines.evaluation.sweep.plan import Plan, Point, label
from quern.pipelines.evaluation.sweep.run import Results
from quern.pipelines.evaluation.sweep.spec import Sweep

ALL = "all"  # The type that stands for all questions.

RESULTS = pa.schema(
    [
        ("dataset", pa.string()),
        ("point", pa.string()),  # recipe and settings in which it differs from the sweep's
        ("point_id", pa.string()),
        ("recipe", pa.string()),
        ("settings", pa.string()),  # those settings, as JSON
        ("grids", pa.list_(pa.string())),
        ("baseline", pa.bool_()),
        ("type", pa.string()),  # of question; `all` for all of them
        ("questions", pa.int32()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),  # bootstrap interval of the value
        ("high", pa.float64()),
        ("difference", pa.float64()),  # to the baseline on the same questions
        ("difference_low", pa.float64()),
        ("difference_high", pa.float64()),
        ("seconds", pa.float64()),  # of the recipe, all questions, their vectors given
        ("first_seconds", pa.float64()),  # the same at its first use, with what it makes then
        ("peak_bytes", pa.int64()),  # of the process meanwhile
        ("build_seconds", pa.float64()),  # of the build that the point searched, by the memo or not
        ("build_peak_bytes", pa.int64()),
        ("nodes", pa.int64()),
        ("edges", pa.int64()),
        ("index_bytes", pa.int64()),
        ("error", pa.string()),
    ]
)
QUESTIONS = pa.schema(
    [
        ("dataset", pa.string()),
        ("point_id", pa.string()),
        ("query_id", pa.string()),
        ("type", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
    ]
)
COMPARISONS = pa.schema(
    [
        ("comparison", pa.string()),
        ("dataset", pa.string()),
        ("of", pa.string()),
        ("over", pa.string()),
        ("type", pa.string()),
        ("metric", pa.string()),
        ("questions", pa.int32()),
        ("of_value", pa.float64()),
        ("over_value", pa.float64()),
        ("difference", pa.float64()),
        ("difference_low", pa.float64()),
        ("difference_high", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Figure:
    """A mean over questions with its interval."""

    value: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Of a difference: whether its interval leaves out zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Row:
    """One metric of one point over the questions of one type, `difference` to the baseline."""

    point: Point
    type: str
    questions: int
    metric: str
    figure: Figure
    difference: Figure | None


@dataclass(frozen=True)
class ComparisonRow:
    """What one point is worth over another on a dataset: the paired difference of one metric."""

    name: str
    dataset: str
    of: str
    over: str
    type: str
    metric: str
    questions: int
    values: tuple[float, float]
    difference: Figure


def rows(results: Results) -> list[Row]:
    """Every figure of the measured points, dataset by dataset."""
    return [row for dataset in results.plan.sources for row in _dataset_rows(results, dataset)]


def _measured(results: Results, dataset: str) -> list[Point]:
    return [p for p in results.plan.points.values() if p.dataset == dataset and p.id in results.measured]


def _matrix(results: Results, ids: Sequence[str], metrics: Sequence[str]) -> Numbers:
    """Values of points and metrics, shape (questions, points * metrics)."""
    return np.array([results.measured[i].values[m] for i in ids for m in metrics], dtype=np.float64).T


def _dataset_rows(results: Results, dataset: str) -> Iterator[Row]:
    points, sweep = _measured(results, dataset), results.plan.sweep
    if not points:
        return
    ids = [p.id for p in points]
    values = _matrix(results, ids, sweep.metrics)
    base = results.plan.baseline[dataset]
    against = np.tile(_matrix(results, [base], sweep.metrics), len(ids)) if base in results.measured else None
    for name, chosen in _types(results, ids[0]):
        means = _figures(values[chosen], sweep)
        apart = _figures((values - against)[chosen], sweep) if against is not None else [None] * len(means)
        counts = (~np.isnan(values[chosen])).sum(axis=0).tolist()
        at = iter(zip(counts, means, apart, strict=True))
        for point in points:
            for metric in sweep.metrics:
                count, mean, difference = next(at)
                if count:
                    yield Row(point, name, count, metric, mean, None if point.id == base else difference)


def _types(results: Results, point: str) -> list[tuple[str, Positions]]:
    """(type, positions of its questions), first of all questions."""
    types = np.array(results.measured[point].types)
    named = sorted({t for t in types.tolist() if t})
    return [(ALL, np.arange(len(types))), *((t, np.flatnonzero(types == t)) for t in named)]


def _figures(values: Numbers, sweep: Sweep) -> list[Figure]:
    measured = ~np.isnan(values)
    part, whole = np.where(measured, values, 0.0), measured.astype(np.float64)
    found = ratio_intervals(part, whole, sweep.resamples, sweep.confidence, sweep.seed)
    return [Figure(*f) for f in zip(found.mean.tolist(), found.low.tolist(), found.high.tolist(), strict=True)]


def comparisons(results: Results) -> list[ComparisonRow]:
    """The comparisons that the sweep asks for, where both points were measured."""
    sweep, found = results.plan.sweep, []
    for name, dataset, of, over in results.plan.comparisons:
        if of not in results.measured or over not in results.measured:
            continue
        one, other = _matrix(results, [of], sweep.metrics), _matrix(results, [over], sweep.metrics)
        first, second = (results.plan.points[i].label for i in (of, over))
        for type_, chosen in _types(results, of):
            apart = _figures((one - other)[chosen], sweep)
            both = ~np.isnan(one + other)[chosen]
            for n, (metric, difference) in enumerate(zip(sweep.metrics, apart, strict=True)):
                if count := int(both[:, n].sum()):
                    at = chosen[both[:, n]]
                    means = (float(one[at, n].mean()), float(other[at, n].mean()))
                    found.append(ComparisonRow(name, dataset, first, second, type_, metric, count, means, difference))
    return found


def write_tables(results: Results, figures: Sequence[Row], compared: Sequence[ComparisonRow]) -> list[Path]:
    """Write results, questions and comparisons as Parquet; returns their paths."""
    out = results.out
    table = pa.Table.from_pylist([*_records(results, figures), *_failures(results)], schema=RESULTS)
    pairs = pa.Table.from_pylist([_comparison(c) for c in compared], schema=COMPARISONS)
    paths = [out / f"{name}.parquet" for name in ("results", "questions", "comparisons")]
    write_whole(paths[0], lambda path: pq.write_table(table, path, compression="zstd"))
    write_whole(paths[1], lambda path: _write_questions(results, path))
    write_whole(paths[2], lambda path: pq.write_table(pairs, path, compression="zstd"))
    return paths


def _comparison(c: ComparisonRow) -> dict[str, object]:
    return {
        **{name: getattr(c, name) for name in ("dataset", "of", "over", "type", "metric", "questions")},
        "comparison": c.name,
        "of_value": c.values[0],
        "over_value": c.values[1],
        "difference": c.difference.value,
        "difference_low": c.difference.low,
        "difference_high": c.difference.high,
    }


def grids_of(plan: Plan) -> dict[str, list[str]]:
    """Point id to the grids that it is of."""
    found: dict[str, list[str]] = {}
    for grid, id_ in plan.grids:
        if grid not in found.setdefault(id_, []):
            found[id_].append(grid)
    return found


def _shared(results: Results, point: Point, grids: dict[str, list[str]]) -> dict[str, object]:
    return {
        "dataset": point.dataset,
        "point": label(point.choice),
        "point_id": point.id,
        "recipe": point.choice.recipe,
        "settings": json.dumps(point.choice.settings, default=str),
        "grids": grids.get(point.id, []),
        "baseline": results.plan.baseline[point.dataset] == point.id,
    }


def _records(results: Results, figures: Sequence[Row]) -> Iterator[dict[str, object]]:
    grids = grids_of(results.plan)
    built = {p.id: results.built.get(b.id) for b in results.plan.builds for p in b.points}
    for row in figures:
        measured, made = results.measured[row.point.id], built[row.point.id]
        record = _shared(results, row.point, grids)
        record |= {"type": row.type, "questions": row.questions, "metric": row.metric, **vars(row.figure)}
        record |= {
            "seconds": measured.seconds,
            "first_seconds": measured.first_seconds,
            "peak_bytes": measured.peak_bytes,
        }
        if row.difference:
            low, high = row.difference.low, row.difference.high
            record |= {"difference": row.difference.value, "difference_low": low, "difference_high": high}
        if made:
            record |= {"build_seconds": made.seconds, "build_peak_bytes": made.peak_bytes}
            record |= {"nodes": made.rows["nodes"], "edges": made.rows["edges"], "index_bytes": made.index_bytes}
        yield record


def _failures(results: Results) -> Iterator[dict[str, object]]:
    grids = grids_of(results.plan)
    for id_, error in results.failed.items():
        yield _shared(results, results.plan.points[id_], grids) | {"error": error}


def _write_questions(results: Results, path: Path) -> None:
    with pq.ParquetWriter(path, QUESTIONS, compression="zstd") as writer:
        for id_, measured in results.measured.items():
            number = len(measured.query_ids)
            for metric, values in measured.values.items():
                same = [results.plan.points[id_].dataset, id_]
                columns = [[s] * number for s in same] + [measured.query_ids, measured.types, [metric] * number, values]
                writer.write_table(pa.table(columns, schema=QUESTIONS))
