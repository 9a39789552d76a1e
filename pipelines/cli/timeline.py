"""Timelines of topics and entities."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from quern.pipelines.cli.common import (
    AsJson,
    AsOf,
    Overrides,
    SettingsFile,
    Snapshot,
    Warehouse,
    new_app,
    open_searcher,
    print_json,
)

app = new_app("")


@app.command(
    epilog='Examples:  quern timeline -w WH "the ferry collision and its inquiry"    '
    'quern timeline -w WH --entity "Tollen Bridge" --from 2024 --to 2024-11    '
    "quern timeline -w WH --entity Airbus --most 20 --json    "
    'quern timeline -w WH "the ferry collision" --html ferry.html --svg ferry.svg'
)
def timeline(
    warehouse: Warehouse,
    topic: Annotated[
        str | None,
        typer.Argument(
            help="What it is about; the name of an entity gives that one's. Without it, all of --from and --to.",
            show_default=False,
        ),
    ] = None,
    entity: Annotated[
        str | None, typer.Option(help="Name of a person, place, organisation or thing.", show_default=False)
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="First day: 2024, 2024-03 or 2024-03-02.", show_default=False),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="DATE", help="Last day, in the same forms.", show_default=False)
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="Events: so many that fit best, in order of time.", show_default=False),
    ] = None,
    as_of: AsOf = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it as a page to read in a browser.", show_default=False),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it as a picture for a document.", show_default=False),
    ] = None,
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened, in order of time: each event with its date, the sentence that tells it, and its sources."""
    from quern.pipelines.timelines.query import asked_timeline, wanted_of
    from quern.pipelines.timelines.view import render_timeline

    wanted = wanted_of(start, end, most)
    searcher = open_searcher(warehouse, snapshot, settings, override, as_of=as_of)
    found = asked_timeline(searcher, topic, entity, wanted)
    if html:
        from quern.pipelines.timelines.page import timeline_page, write_timeline

        write_timeline(timeline_page(found, searcher.snapshot), html, "html")
    if svg:
        from quern.pipelines.timelines.page import write_timeline
        from quern.pipelines.timelines.picture import timeline_picture

        write_timeline(timeline_picture(found, searcher.snapshot), svg, "svg")
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    width = min(100, os.get_terminal_size().columns or 100) if sys.stdout.isatty() else 100
    typer.echo(render_timeline(found, width))
