"""The results of a sweep for people: a page of Markdown, and plots of grids and of recall against cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from quern.indexes.storage import write_text, write_whole
from quern.pipelines.evaluation.sweep.plan import value_of
from quern.pipelines.evaluation.sweep.run import Results
from quern.pipelines.evaluation.sweep.spec import Grid
from quern.pipelines.evaluation.sweep.tables import ALL, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that the colour-blind tell apart (Okabe and Ito 2008).
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_MARKERS = "osD^vPX*<>ph"


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
    for row in sorted(_firsts(results, figures), key=lambda r: -(r.value or 0.0)):
        wanted = [*((row.point_id, ALL, m) for m in metrics), *((row.point_id, t, metrics[0]) for t in types)]
        cells = [f"{known[key].value:.3f}" if key in known else "" for key in wanted]
        body.append([f"`{row.point}`", *cells, _signed(row), f"{_milliseconds(row):.2f}", ", ".join(row.grids)])
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


def _firsts(results: Results, figures: Sequence[Row]) -> list[Row]:
    """The first metric of each point over all questions."""
    first = results.plan.sweep.metrics[0]
    return [r for r in figures if r.type == ALL and r.metric == first and not r.comparison]


def _milliseconds(row: Row) -> float:
    return max(1e-3, 1000 * (row.seconds or 0.0) / (row.questions or 1))


def write_plots(results: Results, figures: Sequence[Row]) -> list[Path]:
    """Write plots/GRID.svg for each grid that varies a setting, and plots/cost.svg; returns their paths.

    A grid is drawn over its first setting, as figures 3, 5 and 6 of QCG-RAG are.
    """
    import matplotlib as mpl

    # Text stays text, and one result gives one file, byte for byte.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "quern", "font.size": 9})
    firsts = _firsts(results, figures)
    drawn = {
        grid.name: _grid_plot(results, grid, firsts)
        for grid in results.plan.sweep.grids
        if any(len(values) > 1 for values in grid.settings.values())
    }
    drawn["cost"] = _cost_plot(results, firsts)
    paths = []
    for name, figure in drawn.items():
        paths.append(results.out / "plots" / f"{name}.svg")
        write_whole(paths[-1], lambda path, f=figure: f.savefig(path, format="svg", metadata={"Date": None}))  # type: ignore[misc]
    return paths


def _panels(results: Results, along: str) -> tuple[Figure, list[tuple[str, Axes]]]:
    """A figure with one panel per dataset, side by side."""
    from matplotlib.figure import Figure

    sources = list(results.plan.sources)
    figure = Figure(figsize=(4.6 * len(sources), 3.4), layout="constrained")
    axes = list(zip(sources, figure.subplots(1, len(sources), squeeze=False)[0], strict=True))
    for name, axis in axes:
        axis.set(title=name, xlabel=along, ylabel=results.plan.sweep.metrics[0])
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _grid_plot(results: Results, grid: Grid, firsts: Sequence[Row]) -> Figure:
    along, *others = [n for n, values in grid.settings.items() if len(values) > 1]
    values = grid.settings[along]
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    figure, panels = _panels(results, along)
    for dataset, axis in panels:
        curves: dict[str, list[Row]] = {}
        mine = {row.point_id: row for row in firsts if row.dataset == dataset}
        for row in (mine[i] for name, i in results.plan.grids if name == grid.name and i in mine):
            settings = results.plan.points[row.point_id].settings
            line = " ".join([row.recipe, *(f"{n}={value_of(settings, n)}" for n in others)])
            curves.setdefault(line, []).append(row)
        for (name, line_rows), color, marker in zip(curves.items(), cycle(_COLORS), cycle(_MARKERS), strict=False):
            x = [value_of(results.plan.points[r.point_id].settings, along) for r in line_rows]
            x = x if numbers else [str(value) for value in x]
            axis.plot(x, [r.value or 0.0 for r in line_rows], color=color, marker=marker, label=name)
            low, high = ([getattr(r, side) for r in line_rows] for side in ("low", "high"))
            axis.fill_between(x, low, high, color=color, alpha=0.12, linewidth=0)
        if numbers:
            axis.set_xticks(sorted(set(values)))
        if curves:
            axis.legend(frameon=False)
    return figure


def _cost_plot(results: Results, firsts: Sequence[Row]) -> Figure:
    """Recall over the search's milliseconds a question, one mark per point; the line joins points none dominates."""
    figure, panels = _panels(results, "milliseconds a question")
    looks = dict(zip(dict.fromkeys(r.recipe for r in firsts), zip(cycle(_COLORS), cycle(_MARKERS)), strict=False))
    marks = {}
    for dataset, axis in panels:
        mine = [r for r in firsts if r.dataset == dataset]
        for recipe, (color, marker) in looks.items():
            if some := [(_milliseconds(r), r.value) for r in mine if r.recipe == recipe]:
                x, y = zip(*some, strict=True)
                marks[recipe] = axis.scatter(x, y, color=color, marker=marker, s=22, label=recipe, zorder=3)
        if mine:
            x, y = zip(*_undominated([(_milliseconds(r), r.value or 0.0) for r in mine]), strict=True)
            axis.plot(x, y, color="#888888", linewidth=1, zorder=2)
            axis.set_xscale("log")
    shown = [name for name in looks if name in marks]
    figure.legend([marks[n] for n in shown], shown, loc="outside right center", frameon=False, fontsize=7)
    return figure


def _undominated(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The points than which none is both cheaper and better, cheapest first."""
    best = float("-inf")
    for cost, value in sorted(points, key=lambda p: (p[0], -p[1])):
        if value > best:
            best = value
            yield cost, value
