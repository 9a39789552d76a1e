"""Sweeps over datasets, settings and recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quern.pipelines.cli.common import AsJson, new_app, print_json
from quern.schemas.extras import installed, missing

app = new_app("")


@app.command(
    epilog="Examples:  quern sweep pipelines/evaluation/sweep/paper.yaml --datasets FOLDER --out sweep/    "
    "quern sweep sweep.yaml --out sweep/ --only lihua_world --dry-run"
)
def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.yaml", help="As pipelines/evaluation/sweep/paper.yaml.")],
    out: Annotated[Path, typer.Option(help="Folder for warehouses, points, tables and plots; kept between runs.")],
    datasets: Annotated[Path | None, typer.Option(help="Folder of their paths; default that of the file.")] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="A dataset to take; repeatable.")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core. 1 for undisturbed seconds.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be computed, and stop.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure recipes and settings on datasets with gold evidence, against a baseline.

    Points that differ in search settings alone share a build, builds of a dataset share their memo. A sweep that was
    stopped goes on: run the same command. Writes results, questions and comparisons as Parquet, results.md and plots/
    to OUT; exit code 1 if a point failed.
    """
    from quern.pipelines.evaluation.sweep.plan import plan_sweep
    from quern.pipelines.evaluation.sweep.run import Results, run_sweep
    from quern.pipelines.evaluation.sweep.spec import read_sweep

    plan = plan_sweep(read_sweep(file), (datasets or file.parent).absolute(), str(file), frozenset(only or []))
    for name in plan.absent:
        typer.echo(f"dataset {name} is not there and is left out: {plan.sweep.datasets[name].documents}", err=True)
    if dry_run:
        _tell_plan(Results(out, plan), as_json)
        return
    results = run_sweep(plan, out, jobs)
    _report(results, as_json)
    if results.failed:
        raise typer.Exit(1)


def _tell_plan(results: Any, as_json: bool) -> None:
    plan = results.plan
    figures = {
        "datasets": list(plan.sources),
        "points": len(plan.points),
        "finished": len(results.measured),
        "builds": len(plan.builds),
        "built": len(results.built),
    }
    if as_json:
        open_ = [{"dataset": p.dataset, "point": p.label} for p in plan.points.values() if p.id not in results.measured]
        print_json({**figures, "open": open_})
        return
    typer.echo(" ".join(f"{name}={','.join(v) if isinstance(v, list) else v}" for name, v in figures.items()))
    for build in plan.builds:
        names = [p.label + (" (finished)" if p.id in results.measured else "") for p in build.points]
        typer.echo(f"build {build.id[:8]} of {build.dataset}: {', '.join(names)}")


def _report(results: Any, as_json: bool) -> None:
    from quern.pipelines.evaluation.sweep.markdown import write_markdown
    from quern.pipelines.evaluation.sweep.plots import write_plots
    from quern.pipelines.evaluation.sweep.tables import comparisons, rows, write_tables

    figures, compared = rows(results), comparisons(results)
    page = write_markdown(results, figures, compared)
    paths = [*write_tables(results, figures, compared), page]
    if figures and installed("matplotlib"):
        paths += write_plots(results, figures)
    elif figures:
        typer.echo(f"no plots were drawn: they need {missing('matplotlib')}", err=True)
    if as_json:
        print_json(
            {
                "points": len(results.plan.points),
                "computed": len(results.measured) - results.reused,
                "finished_before": results.reused,
                "failed": {results.plan.points[i].label: error for i, error in results.failed.items()},
                "files": [str(p) for p in paths],
            }
        )
        return
    typer.echo(page.read_text("utf-8"))
    for path in paths:
        typer.echo(str(path), err=True)
