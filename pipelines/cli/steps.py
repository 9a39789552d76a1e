"""The steps of a build, for orchestrators."""

from __future__ import annotations

import typer

from quern.pipelines.cli.common import AsJson, new_app, print_json

app = new_app("")


@app.command(epilog="Examples:  quern steps    quern steps --json")
def steps(as_json: AsJson = False) -> None:
    """Print the steps of a build as `quern stage` takes them, in order, and what must be finished before each.

    Needs no warehouse: an orchestrator makes its tasks of this list.
    """
    from quern.pipelines.build import steps as declared
    from quern.pipelines.build.stage import stages

    listed = stages()
    if as_json:
        told = [{"name": stage.name, "upstream": stage.upstream} for stage in listed]
        print_json({"steps": told, "declared_in": declared.__file__})
        return
    for stage in listed:
        typer.echo(f"{stage.name:<15} {' '.join(stage.upstream)}".rstrip())
