"""The results of a sweep: a table in Parquet, and a page of Markdown for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.storage import write_text, write_whole
from quern.pipelines.evaluation.bootstrap import Interval, Numbers, ratio_intervals
from quern.pipelines.evaluation.sweep.plan import Plan
from quern.pipelines.evaluation.sweep.run import Results

_RESAMPLES: Final = 10_000
ALL: Final = "all"  # The type that stands for all questions.
_TYPES: Final = {
    "str": pa.string(),
    "str | None": pa.string(),
    "list[str]": pa.list_(pa.string()),
    "int | None": pa.int64(),
    "float | None": pa.float64(),
}


@dataclass(frozen=True)
class Row:
    """A row of results: one metric of one point over the questions of one type, or why a point has none."""

    dataset: str
    point: str  # Recipe, and settings in which it differs from the sweep's.
    point_id: str
    recipe: str
    settings: str  # The same settings, as JSON.
    grids: list[str]
    comparison: str | None = None  # Name of the one that the row answers; None where it is with the baseline.
    over: str | None = None  # What it is compared with; None for the baseline itself.
    type: str | None = None  # Of the questions; `all` for all of them.
    questions: int | None = None  # That have a value.
    metric: str | None = None
    value: float | None = None  # Mean over these questions, with its interval.
    low: float | None = None
    high: float | None = None
    difference: float | None = None  # To `over` on the same questions, with its interval.
    difference_low: float | None = None
    difference_high: float | None = None
    seconds: float | None = None  # Of the recipe, all questions, their vectors given.
    error: str | None = None


RESULTS: Final = pa.schema([(f.name, _TYPES[str(f.type)]) for f in fields(Row)])


def rows(results: Results) -> list[Row]:
    """Every figure of the measured points and comparisons, dataset by dataset; then the points that failed."""
    measured = [row for dataset in results.plan.sources for row in _dataset_rows(results, dataset)]
    grids = grids_of(results.plan)
    return [*measured, *(Row(*_point_cells(results, i, grids), error=e) for i, e in results.failed.items())]


def _point_cells(results: Results, id_: str, grids: dict[str, list[str]]) -> tuple[str, str, str, str, str, list[str]]:
    point = results.plan.points[id_]
    settings = json.dumps(point.choice.settings, default=str)
    return point.dataset, point.label, id_, point.choice.recipe, settings, grids.get(id_, [])


def _dataset_rows(results: Results, dataset: str) -> Iterator[Row]:
    plan, metrics = results.plan, results.plan.sweep.metrics
    mine = [p.id for p in plan.points.values() if p.dataset == dataset and p.id in results.measured]
    pairs: list[tuple[str | None, str, str]] = [(None, id_, plan.baseline[dataset]) for id_ in mine]
    pairs += [(name, of, over) for name, _, of, over in plan.comparisons if of in mine and over in mine]
    if not pairs:
        return
    types = np.array(results.measured[mine[0]].types)
    of = _matrix(results, [id_ for _, id_, _ in pairs], len(types))
    over = _matrix(results, [id_ for _, _, id_ in pairs], len(types))
    grids = grids_of(plan)
    for type_ in (ALL, *sorted(set(types.tolist()) - {""})):
        chosen = np.flatnonzero(types == type_) if type_ != ALL else np.arange(len(types))
        value, difference = _intervals(of[chosen]), _intervals((of - over)[chosen])
        counts = (~np.isnan(of[chosen])).sum(axis=0).tolist()
        for n, ((comparison, id_, other), metric) in enumerate(product(pairs, metrics)):
            if not counts[n]:
                continue
            compared = id_ != other and other in results.measured
            yield Row(
                *_point_cells(results, id_, grids),
                comparison=comparison,
                over=plan.points[other].label if compared else None,
                type=type_,
                questions=counts[n],
                metric=metric,
                value=float(value.mean[n]),
                low=float(value.low[n]),
                high=float(value.high[n]),
                difference=float(difference.mean[n]) if compared else None,
                difference_low=float(difference.low[n]) if compared else None,
                difference_high=float(difference.high[n]) if compared else None,
                seconds=results.measured[id_].seconds,
            )


def _matrix(results: Results, ids: Sequence[str], questions: int) -> Numbers:
    """Values of points and metrics, shape (questions, points * metrics); NaN where a point was not measured."""
    missing = {metric: [np.nan] * questions for metric in results.plan.sweep.metrics}
    points = [results.measured[i].values if i in results.measured else missing for i in ids]
    return np.array([values[m] for values in points for m in results.plan.sweep.metrics], dtype=np.float64).T


def _intervals(values: Numbers) -> Interval:
    measured = ~np.isnan(values)
    return ratio_intervals(np.where(measured, values, 0.0), measured.astype(np.float64), _RESAMPLES)


def grids_of(plan: Plan) -> dict[str, list[str]]:
    """Point id to the grids that it is of."""
    grids: dict[str, list[str]] = {}
    for grid, id_ in dict.fromkeys(plan.grids):
        grids.setdefault(id_, []).append(grid)
    return grids


def write_table(results: Results, figures: Sequence[Row]) -> Path:
    """Write results.parquet; returns its path."""
    path = results.out / "results.parquet"
    table = pa.Table.from_pylist([asdict(row) for row in figures], schema=RESULTS)
    write_whole(path, lambda beside: pq.write_table(table, beside, compression="zstd"))
    return path


def write_markdown(results: Results, figures: Sequence[Row]) -> Path:
    """Write results.md: the points of each dataset, best first, comparisons, what failed; returns its path."""
    sweep, plan = results.plan.sweep, results.plan
    lines = [
        "# Sweep",
        "",
        f"{len(plan.points)} points on {', '.join(plan.sources)}. Intervals: 95 %, paired bootstrap over "
        f"questions, {_RESAMPLES:,} resamples. Δ: difference to the baseline "
        f"(`{next(plan.points[i].label for i in plan.baseline.values())}`) in {sweep.metrics[0]}; * where its interval "
        "leaves out zero. ms: of the recipe, a question, its vector given.",
        "",
    ]
    for name in plan.absent:
        lines += [f"Dataset {name} was left out: it is not there.", ""]
    for dataset in plan.sources:
        lines += [f"## {dataset}", "", *_points(results, [r for r in figures if r.dataset == dataset]), ""]
    if compared := [r for r in figures if r.comparison]:
        # The first two metrics over all questions, the first for each type; the Parquet file has all.
        first, two = sweep.metrics[0], sweep.metrics[:2]
        body = [
            [
                *(r.comparison or "", r.dataset, r.type or "", r.metric or "", f"`{r.point}`", f"`{r.over}`"),
                *(str(r.questions), f"{r.value:.3f}", _signed(r)),
            ]
            for r in compared
            if r.metric == first or (r.metric in two and r.type == ALL)
        ]
        head = ["comparison", "dataset", "type", "metric", "of", "over", "questions", "value", "difference"]
        lines += ["## Comparisons", "", *_table(head, body), ""]
    if failed := [r for r in figures if r.error]:
        lines += ["## Failed", "", *(f"- {r.dataset}, `{r.point}`: {r.error}" for r in failed), ""]
    path = results.out / "results.md"
    write_text(path, "\n".join(lines))
    return path


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; the first column is text, the others are numbers."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in body]
    rule = ["---", *(["--:"] * (len(head) - 1))]
    return [f"| {' | '.join(row)} |" for row in [list(head), rule, *cells]]


def _signed(row: Row) -> str:
    """A difference with its interval, a star where that leaves out zero."""
    if row.difference is None or row.difference_low is None or row.difference_high is None:
        return "baseline"
    star = " *" if row.difference_low > 0 or row.difference_high < 0 else ""
    return f"{row.difference:+.3f} [{row.difference_low:+.3f}, {row.difference_high:+.3f}]{star}"


def _points(results: Results, figures: Sequence[Row]) -> list[str]:
    """Every point of a dataset, best first, with the first metric of each type of question."""
    metrics = results.plan.sweep.metrics
    by_key = {(r.point_id, r.type, r.metric): r for r in figures if not r.comparison}
    types = list(dict.fromkeys(r.type for r in figures if r.type not in (ALL, None)))
    body = []
    # The first metric of each point over all questions.
    first = results.plan.sweep.metrics[0]
    firsts = [r for r in figures if r.type == ALL and r.metric == first and not r.comparison]
    for row in sorted(firsts, key=lambda r: -(r.value or 0.0)):
        keys = [*((row.point_id, ALL, m) for m in metrics), *((row.point_id, t, metrics[0]) for t in types)]
        cells = [f"{by_key[key].value:.3f}" if key in by_key else "" for key in keys]
        milliseconds = max(1e-3, 1000 * (row.seconds or 0.0) / (row.questions or 1))
        body.append([f"`{row.point}`", *cells, _signed(row), f"{milliseconds:.2f}", ", ".join(row.grids)])
    return _table(["point", *metrics, *(f"{metrics[0]} {t}" for t in types), f"Δ {metrics[0]}", "ms", "grids"], body)
