"""The results of a sweep as Markdown: the best points, every grid, comparisons, what builds cost, what failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from quern.indexes.storage import write_text
from quern.pipelines.build.steps import STEPS
from quern.pipelines.evaluation.sweep.measure import BuildRecord
from quern.pipelines.evaluation.sweep.run import Results
from quern.pipelines.evaluation.sweep.tables import ALL, ComparisonRow, Figure, Row, grids_of


def write_markdown(results: Results, figures: Sequence[Row], compared: Sequence[ComparisonRow]) -> Path:
    """Write results.md; returns its path."""
    path = results.out / "results.md"
    write_text(path, markdown(results, figures, compared))
    return path


def markdown(results: Results, figures: Sequence[Row], compared: Sequence[ComparisonRow]) -> str:
    """The whole page."""
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
        lines += [f"## {dataset}", "", *_points(results, dataset, figures), ""]
    if compared:
        lines += ["## Comparisons", "", *_comparisons(results, compared), ""]
    lines += ["## Builds", "", *_builds(results), ""]
    if results.failed:
        lines += ["## Failed", "", *_failed(results), ""]
    return "\n".join(lines)


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; the first column is text, the others are numbers."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in body]
    rule = ["---", *(["--:"] * (len(head) - 1))]
    return [f"| {' | '.join(row)} |" for row in [list(head), rule, *cells]]


def signed(figure: Figure) -> str:
    """A difference with its interval, a star where that leaves out zero."""
    return f"{figure.value:+.3f} [{figure.low:+.3f}, {figure.high:+.3f}]{' *' if figure.certain else ''}"


def _points(results: Results, dataset: str, figures: Sequence[Row]) -> list[str]:
    """Every point of a dataset, best first, with the first metric of each type of question."""
    sweep = results.plan.sweep
    first = sweep.metrics[0]
    mine = [r for r in figures if r.point.dataset == dataset]
    types = list(dict.fromkeys(r.type for r in mine if r.type != ALL))
    found = {(r.point.id, r.type, r.metric): r for r in mine}
    best = sorted((r for r in mine if r.type == ALL and r.metric == first), key=lambda r: -r.figure.value)
    head = ["point", *sweep.metrics, *(f"{first} {t}" for t in types), f"Δ {first}", "ms", "MiB", "grids"]
    grids, body = grids_of(results.plan), []
    for row in best:
        id_, measured = row.point.id, results.measured[row.point.id]
        wanted = [*((id_, ALL, m) for m in sweep.metrics), *((id_, t, first) for t in types)]
        cells = [f"{found[key].figure.value:.3f}" if key in found else "" for key in wanted]
        cells.append(signed(row.difference) if row.difference else "baseline")
        cells += [f"{1000 * measured.seconds / max(1, row.questions):.2f}", f"{measured.peak_bytes >> 20:,}"]
        body.append([f"`{row.point.label}`", *cells, ", ".join(grids.get(id_, []))])
    return table(head, body)


def _comparisons(results: Results, compared: Sequence[ComparisonRow]) -> list[str]:
    """The first two metrics over all questions, the first for each type; the Parquet file of questions has all."""
    first, *others = results.plan.sweep.metrics[:2]
    body = []
    for c in compared:
        if c.metric == first or (c.metric in others and c.type == ALL):
            named = [c.name, c.dataset, c.type, c.metric, f"`{c.of}`", f"`{c.over}`", str(c.questions)]
            body.append([*named, *(f"{value:.3f}" for value in c.values), signed(c.difference)])
    head = ["comparison", "dataset", "type", "metric", "of", "over", "questions", "first", "second", "difference"]
    return table(head, body)


def _builds(results: Results) -> list[str]:
    """Per dataset what the first build cost and what the memo spared the others."""
    chosen = (step.job(results.plan.builds[0].settings) for step in STEPS)
    jobs = list(dict.fromkeys(job.name for job in chosen if job.reuses))
    head = ["dataset", "builds", "first, s", "others, median s", *(f"{job}, rows" for job in jobs), "peak MiB"]
    body = []
    for dataset in results.plan.sources:
        ids = [b.id for b in results.plan.builds if b.dataset == dataset and b.id in results.built]
        made = sorted((results.built[i] for i in ids), key=lambda b: b.build_id)
        if made:
            others = f"{median(b.seconds for b in made[1:]):.1f}" if made[1:] else "none"
            computed = [_computed(made, job) for job in jobs]
            peak = max(b.peak_bytes for b in made) >> 20
            body.append([dataset, str(len(made)), f"{made[0].seconds:.1f}", others, *computed, f"{peak:,}"])
    note = "Rows that the first build computed → all the others together: what the memo had was not computed again."
    return [*table(head, body), "", note]


def _computed(made: Sequence[BuildRecord], job: str) -> str:
    return f"{made[0].computed.get(job, 0):,} → {sum(b.computed.get(job, 0) for b in made[1:]):,}"


def _failed(results: Results) -> Iterator[str]:
    for id_, error in results.failed.items():
        point = results.plan.points[id_]
        yield f"- {point.dataset}, `{point.label}`: {error}"
