"""Plots of a sweep: each grid over its first setting (as figures 3, 5 and 6 of QCG-RAG), and recall against cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quern.indexes.storage import write_whole
from quern.pipelines.evaluation.sweep.plan import Plan, value_of
from quern.pipelines.evaluation.sweep.run import Results
from quern.pipelines.evaluation.sweep.spec import Grid
from quern.pipelines.evaluation.sweep.tables import ALL, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that the colour-blind tell apart (Okabe and Ito 2008).
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_MARKERS = "osD^vPX*<>ph"
_PANEL = (4.6, 3.4)  # inches


def write_plots(results: Results, figures: Sequence[Row]) -> list[Path]:
    """Write plots/GRID.svg for each grid that varies a setting, and plots/cost.svg; returns their paths."""
    import matplotlib as mpl

    # Text stays text, and one result gives one file, byte for byte.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "quern", "font.size": 9})
    folder = results.out / "plots"
    varied = [g for g in results.plan.sweep.grids if any(len(values) > 1 for values in g.settings.values())]
    paths = [_save(_grid_plot(results, grid, figures), folder / f"{grid.name}.svg") for grid in varied]
    return [*paths, _save(_cost_plot(results, figures), folder / "cost.svg")]


def _save(figure: Figure, path: Path) -> Path:
    write_whole(path, lambda temporary: figure.savefig(temporary, format="svg", metadata={"Date": None}))
    return path


def _panels(plan: Plan) -> tuple[Figure, list[tuple[str, Axes]]]:
    """A figure with one panel per dataset, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_PANEL[0] * len(plan.sources), _PANEL[1]), layout="constrained")
    axes = figure.subplots(1, len(plan.sources), squeeze=False)[0]
    for name, axis in zip(plan.sources, axes, strict=True):
        axis.set_title(name)
        axis.grid(alpha=0.3)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return figure, list(zip(plan.sources, axes, strict=True))


def _firsts(results: Results, figures: Sequence[Row]) -> dict[str, Row]:
    """Point id to its first metric over all questions."""
    first = results.plan.sweep.metrics[0]
    return {r.point.id: r for r in figures if r.type == ALL and r.metric == first}


def _curves(results: Results, grid: Grid, dataset: str, found: dict[str, Row]) -> dict[str, list[tuple[Any, Row]]]:
    """Name of each line of a panel to its (value, figure) in the order of the grid."""
    along, *others = [n for n, values in grid.settings.items() if len(values) > 1]
    curves: dict[str, list[tuple[Any, Row]]] = {}
    for name, id_ in results.plan.grids:
        if name == grid.name and id_ in found and found[id_].point.dataset == dataset:
            point = found[id_].point
            fixed = [f"{n}={value_of(point.settings, n)}" for n in others]
            line = " ".join([point.choice.recipe, *fixed])
            curves.setdefault(line, []).append((value_of(point.settings, along), found[id_]))
    return curves


def _grid_plot(results: Results, grid: Grid, figures: Sequence[Row]) -> Figure:
    figure, panels = _panels(results.plan)
    found = _firsts(results, figures)
    along = next(n for n, values in grid.settings.items() if len(values) > 1)
    values = grid.settings[along]
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    for dataset, axis in panels:
        curves = _curves(results, grid, dataset, found)
        for (name, points), color, marker in zip(curves.items(), cycle(_COLORS), cycle(_MARKERS), strict=False):
            x = [value if numbers else str(value) for value, _ in points]
            axis.plot(x, [r.figure.value for _, r in points], color=color, marker=marker, label=name)
            low, high = ([getattr(r.figure, side) for _, r in points] for side in ("low", "high"))
            axis.fill_between(x, low, high, color=color, alpha=0.12, linewidth=0)
        if numbers:
            axis.set_xticks(sorted(set(values)))
        axis.set_xlabel(along)
        axis.set_ylabel(results.plan.sweep.metrics[0])
        if curves:
            axis.legend(frameon=False)
    return figure


def _cost_plot(results: Results, figures: Sequence[Row]) -> Figure:
    """Recall over the search's milliseconds a question, one mark per point; the line joins points none dominates."""
    figure, panels = _panels(results.plan)
    found = _firsts(results, figures)
    recipes = list(dict.fromkeys(p.choice.recipe for p in results.plan.points.values()))
    looks = dict(zip(recipes, zip(cycle(_COLORS), cycle(_MARKERS), strict=False), strict=False))
    for dataset, axis in panels:
        mine = [(_milliseconds(results, r), r) for r in found.values() if r.point.dataset == dataset]
        for recipe in recipes:
            some = [(x, r.figure.value) for x, r in mine if r.point.choice.recipe == recipe]
            if some:
                color, marker = looks[recipe]
                x, y = zip(*some, strict=True)
                axis.scatter(x, y, color=color, marker=marker, s=22, label=recipe, zorder=3)
        best = list(_undominated([(x, r.figure.value) for x, r in mine]))
        if best:
            x, y = zip(*best, strict=True)
            axis.plot(x, y, color="#888888", linewidth=1, zorder=2)
            axis.set_xscale("log")
        axis.set_xlabel("milliseconds a question")
        axis.set_ylabel(results.plan.sweep.metrics[0])
    marks = {name: mark for _, axis in panels for mark, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    shown = [name for name in recipes if name in marks]
    figure.legend([marks[n] for n in shown], shown, loc="outside right center", frameon=False, fontsize=7)
    return figure


def _milliseconds(results: Results, row: Row) -> float:
    return max(1e-3, 1000 * results.measured[row.point.id].seconds / max(1, row.questions))


def _undominated(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The points than which none is both cheaper and better, cheapest first."""
    best = float("-inf")
    for cost, value in sorted(points, key=lambda p: (p[0], -p[1])):
        if value > best:
            best = value
            yield cost, value
