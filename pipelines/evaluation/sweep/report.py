"""The results of a sweep for people: a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from quern.indexes.storage import write_text
from quern.pipelines.evaluation.sweep.run import Results
from quern.pipelines.evaluation.sweep.tables import ALL, Row


def write_markdown(results: Results, figures: Sequence[Row]) -> Path:
    """Write results.md: the points of each dataset, best first, comparisons, builds, what failed; returns its path."""
    sweep, plan = results.plan.sweep, results.plan
    lines = [
        "# Sweep",
        "",
        f"{len(plan.points)} points on {', '.join(plan.sources)}. Intervals: {sweep.confidence:.0%}, paired bootstrap "
        f"over questions, {sweep.resamples:,} resamples. Δ: difference to the baseline "
        f"(`{next(plan.points[i].label for i in plan.baseline.values())}`) in {sweep.metrics[0]}; * where its interval "
        "leaves out zero. ms: of the recipe, a question, its vector given.",
        "",
    ]
    for name in plan.absent:
        lines += [f"Dataset {name} was left out: it is not there.", ""]
    for dataset in plan.sources:
        lines += [f"## {dataset}", "", *_points(results, [r for r in figures if r.dataset == dataset]), ""]
    if compared := [r for r in figures if r.comparison]:
        lines += ["## Comparisons", "", *_comparisons(compared, sweep.metrics), ""]
    lines += ["## Builds", "", *_builds(results), ""]
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
    known = {(r.point_id, r.type, r.metric): r for r in figures if not r.comparison}
    types = list(dict.fromkeys(r.type for r in figures if r.type not in (ALL, None)))
    body = []
    # The first metric of each point over all questions.
    first = results.plan.sweep.metrics[0]
    firsts = [r for r in figures if r.type == ALL and r.metric == first and not r.comparison]
    for row in sorted(firsts, key=lambda r: -(r.value or 0.0)):
        wanted = [*((row.point_id, ALL, m) for m in metrics), *((row.point_id, t, metrics[0]) for t in types)]
        cells = [f"{known[key].value:.3f}" if key in known else "" for key in wanted]
        milliseconds = max(1e-3, 1000 * (row.seconds or 0.0) / (row.questions or 1))
        body.append([f"`{row.point}`", *cells, _signed(row), f"{milliseconds:.2f}", ", ".join(row.grids)])
    return _table(["point", *metrics, *(f"{metrics[0]} {t}" for t in types), f"Δ {metrics[0]}", "ms", "grids"], body)


def _comparisons(compared: Sequence[Row], metrics: Sequence[str]) -> list[str]:
    """The first two metrics over all questions, the first for each type; the Parquet file has all."""
    shown = [r for r in compared if r.metric == metrics[0] or (r.metric in metrics[:2] and r.type == ALL)]
    body = [
        [
            *(r.comparison or "", r.dataset, r.type or "", r.metric or "", f"`{r.point}`", f"`{r.over}`"),
            *(str(r.questions), f"{r.value:.3f}", _signed(r)),
        ]
        for r in shown
    ]
    return _table(["comparison", "dataset", "type", "metric", "of", "over", "questions", "value", "difference"], body)


def _builds(results: Results) -> list[str]:
    """Per dataset what the first build cost and what the memo spared the others."""
    body = []
    for dataset in results.plan.sources:
        ids = [b.id for b in results.plan.builds if b.dataset == dataset and b.id in results.built]
        if made := sorted((results.built[i] for i in ids), key=lambda b: b.build_id):
            others = f"{median(b.seconds for b in made[1:]):.1f}" if made[1:] else "none"
            computed = [sum(b.computed.values()) for b in made]
            spared = [f"{computed[0]:,}", f"{sum(computed[1:]):,}", f"{max(b.peak_bytes for b in made) >> 20:,}"]
            body.append([dataset, str(len(made)), f"{made[0].seconds:.1f}", others, *spared])
    head = ["dataset", "builds", "first, s", "others, median s", "first, rows", "others, rows together", "peak MiB"]
    return [*_table(head, body), "", "Rows are those computed: what the memo had was not computed again."]
