"""Running one step of a build alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli.choices import completing
from quern.pipelines.cli.common import (
    LOGGERS,
    AsJson,
    DayFirst,
    Engine,
    Names,
    Overrides,
    PageSource,
    SettingsFile,
    Wait,
    Warehouse,
    new_app,
    overriding,
    print_json,
    written_catalog,
)
from quern.schemas.addresses import page_source
from quern.schemas.settings import load_settings

if TYPE_CHECKING:
    from quern.pipelines.build.stage import Change

app = new_app("")


@app.command(
    epilog="Examples:  quern stage ingest --build 20261122T0600 -w WH --source pages/    "
    "quern stage clean --build 20261122T0600 -w WH    quern stage publish --build 20261122T0600 -w WH",
)
def stage(
    name: Annotated[
        str,
        typer.Argument(
            metavar="STEP",
            help="In this order: {steps}; `quern steps` says what each needs.",
            autocompletion=completing("steps"),
        ),
    ],
    warehouse: Warehouse,
    build: Annotated[str, typer.Option(metavar="ID", help="Name of the build: its start, like 20261122T0600.")],
    source: Annotated[
        PageSource | None,
        typer.Option(
            metavar="PAGES",
            help="Folder, file or s3:// address of pages, with the first step; default: the page store.",
            parser=page_source,
        ),
    ] = None,
    names: Names = None,
    day_first: DayFirst = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    engine: Engine = None,
    wait: Wait = 0.0,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say whether the step would run, and run nothing."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run one step of a build alone, for orchestrators: a failed one can be tried again, a finished one is not.

    The first step begins the build and says of what pages and with which settings; `publish` ends it. What would make
    what it made last night is finished with the first step: `--json` tells which steps are.
    """
    overrides = overriding(override, names, day_first, engine=engine)
    if dry_run:
        _tell_outlook(name, build, warehouse, source, partial(load_settings, settings, overrides), as_json=as_json)
        return
    from quern.pipelines.build.stage import finished_steps, run_stage
    from quern.pipelines.cli.chatter import chatter_to

    catalog = written_catalog(source, warehouse)
    with chatter_to(catalog.logs / "engines.log", LOGGERS):
        run_stage(name, build, catalog, source, partial(load_settings, settings, overrides), wait=wait)
    if as_json:
        finished = finished_steps(build, catalog)
        print_json({"build_id": build, "step": name, "published": catalog.current_id() == build, "finished": finished})


_OUTLOOKS = {
    "published": "the build is published: nothing would be done",
    "finished": "it is finished: nothing would be done",
    "begin": "it would begin the build, and run",
    "run": "it would run",
}


def _tell_outlook(
    name: str, build: str, warehouse: Path, source: PageSource | None, change: Change, *, as_json: bool
) -> None:
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.build.stage import outlook

    there = source is None or (warehouse / "warehouse.json").exists()
    if source is not None:
        from quern.jobs.pages.inputs import of_source

        of_source(source)
    catalog = Catalog.open(warehouse) if there else Catalog(warehouse)
    found = outlook(name, build, catalog, source, change)
    if as_json:
        print_json({"dry_run": True, "build_id": build, "step": name, "outlook": found})
        return
    typer.echo(f"{name} of build {build}: {_OUTLOOKS[found]}")
