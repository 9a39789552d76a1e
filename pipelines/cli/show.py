"""Showing any row, and what it came from."""

from __future__ import annotations

from typing import Annotated

import typer

from quern.pipelines.cli.common import (
    AsJson,
    Snapshot,
    Warehouse,
    new_app,
    print_json,
)

app = new_app("")


@app.command(
    epilog="Examples:  quern show document DOC_ID -w WH    quern show node QUERY_ID -w WH --json    "
    "quern show page URL -w WH --raw    quern show citation DOC_ID:START-END -w WH"
)
def show(
    kind: Annotated[
        str, typer.Argument(help="What a row is called: page, document, chunk, query, node... Or: citation.")
    ],
    key: Annotated[
        str,
        typer.Argument(metavar="ID", help="A URL for a page, DOC_ID:START-END for a citation, else an id."),
    ],
    warehouse: Warehouse,
    snapshot: Snapshot = None,
    as_json: AsJson = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Of a page: write its archived record, byte for byte, to standard output.")
    ] = False,
) -> None:
    """Show any row, what it came from and what it led to; of a citation where its page and the archive have it."""
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.inspect.show import NotInSnapshotError, original_of
    from quern.pipelines.inspect.show import show as find
    from quern.schemas.words.lines import plain

    opened = Catalog.open(warehouse).snapshot(snapshot)
    if raw:
        if kind != "page":
            raise NotInSnapshotError(f"--raw writes a page, and a {kind} is none")
        record = original_of(opened, key)
        typer.echo(record.head + record.block, nl=False)
        return
    found = find(opened, kind, key)
    if as_json:
        print_json(found)
        return
    for part in ("row", "from", "to"):
        typer.echo(f"{part}:")
        for name, value in found[part].items():
            for shown in (value or ["none"]) if isinstance(value, list) else [value]:
                typer.echo(f"  {name}: {plain(str(shown))}")
