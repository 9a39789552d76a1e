"""What a build would do, before it is done."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from quern.pipelines.cli.common import (
    AsJson,
    DayFirst,
    Names,
    Overrides,
    Pages,
    PageSource,
    SettingsFile,
    Warehouse,
    new_app,
    overriding,
    print_json,
)
from quern.schemas.settings import load_settings

if TYPE_CHECKING:
    from quern.pipelines.inspect.plan import Plan, PlannedStep
    from quern.schemas.settings import Settings

app = new_app("")


@app.command(
    epilog="Examples:  quern plan pages/ -w WH    quern plan -w WH --set link.k=2    quern plan -w WH --json",
)
def plan(
    warehouse: Warehouse,
    source: Pages = None,
    names: Names = None,
    day_first: DayFirst = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Print what a build would do: per step rows to compute and to reuse, why, and seconds by the last builds' rates.

    Reads the pages and asks the memo; computes and publishes nothing. `~` marks estimates.
    """
    tell_plan(source, warehouse, load_settings(settings, overriding(override, names, day_first)), as_json=as_json)


def tell_plan(source: PageSource | None, warehouse: Path, settings: Settings, *, as_json: bool) -> None:
    """Print what a build would do."""
    from quern.pipelines.build.steps import STEPS
    from quern.pipelines.inspect.plan import plan_build

    planned = plan_build(source, warehouse, settings, STEPS)
    if as_json:
        print_json({**asdict(planned), "seconds": planned.seconds})
        return
    _print(planned)


def _print(planned: Plan) -> None:
    typer.echo(f"{'step':<15} {'to compute':>11} {'to reuse':>11} {'seconds':>9}  why")
    for step in planned.steps:
        typer.echo(f"{step.name:<15} {_rows(step, step.compute):>11} {_rows(step, step.reuse):>11} {_line_end(step)}")
    if planned.seconds is not None:
        typer.echo(f"about {planned.seconds:,.0f} s beside the start of engines, audit and publication")
    elif planned.parent is None:
        typer.echo("nothing was built in this warehouse yet: ? is known after the first build")


def _rows(step: PlannedStep, rows: int | None) -> str:
    return "?" if rows is None else f"{'' if step.exact else '~'}{rows:,}"


def _line_end(step: PlannedStep) -> str:
    seconds = "?" if step.seconds is None else f"{step.seconds:,.1f}"
    return f"{seconds:>9}  {step.why}"
