"""Running one step of a build alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from quern.pipelines.cli.common import (
    LOGGERS,
    AsJson,
    Names,
    Overrides,
    SettingsFile,
    Wait,
    Warehouse,
    new_app,
    overriding,
    print_json,
)
from quern.schemas.settings import load_settings

app = new_app("")


@app.command(
    epilog="Examples:  quern stage ingest --build 20261122T0600 -w WH --source pages/    "
    "quern stage clean --build 20261122T0600 -w WH    quern stage publish --build 20261122T0600 -w WH",
)
def stage(
    name: Annotated[str, typer.Argument(metavar="STEP", help="A step of `quern steps`, then `audit`, then `publish`.")],
    warehouse: Warehouse,
    build: Annotated[str, typer.Option(metavar="ID", help="Name of the build: its start, like 20261122T0600.")],
    source: Annotated[
        Path | None,
        typer.Option(metavar="PAGES", help="Folder or file of pages, with the first step; default: the page store."),
    ] = None,
    names: Names = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    engine: Annotated[str | None, typer.Option(help="auto, local, spark or ray.")] = None,
    wait: Wait = 0.0,
    as_json: AsJson = False,
) -> None:
    """Run one step of a build alone, for orchestrators: a failed one can be tried again, a finished one is not.

    The first step begins the build and says of what pages and with which settings; `publish` ends it. What would make
    what it made last night is finished with the first step: `--json` tells which steps are.
    """
    overrides = overriding(override, names, engine=engine)
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.cli.chatter import chatter_to
    from quern.pipelines.stage import finished_steps, run_stage

    if source is None:
        catalog = Catalog.open(warehouse)
    else:
        from quern.jobs.pages.inputs import of_path  # The first step alone reads files.

        of_path(source)  # A mistyped path must not leave an empty warehouse behind.
        catalog = Catalog.create(warehouse)
    with chatter_to(catalog.logs / "engines.log", LOGGERS):
        run_stage(name, build, catalog, source, partial(load_settings, settings, overrides), wait=wait)
    if as_json:
        finished = finished_steps(build, catalog)
        print_json({"build_id": build, "step": name, "published": catalog.current_id() == build, "finished": finished})
