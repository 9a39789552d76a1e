"""Showing any row, and what it came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from quern.pipelines.cli.choices import completing
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
    "quern show page URL -w WH --raw    quern show citation DOC_ID:START-END -w WH    "
    'quern show entity "Lady Orrin" -w WH'
)
def show(
    kind: Annotated[
        str,
        typer.Argument(help="What a row is called: {rows}.", autocompletion=completing("rows")),
    ],
    key: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A URL for a page, DOC_ID:START-END for a citation, a name for an entity, else an id."
        ),
    ],
    warehouse: Warehouse,
    snapshot: Snapshot = None,
    as_json: AsJson = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Of a page: write its archived record, byte for byte, to standard output.")
    ] = False,
) -> None:
    """Show any row, what it came from and what it led to; of a citation where its page and the archive have it.

    Of an entity, all that is stated of it, with sources and dates; those that share a name are listed apart.
    """
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.inspect.entities import entities_named
    from quern.pipelines.inspect.show import ENTITY, NotInSnapshotError, original_of
    from quern.pipelines.inspect.show import show as find

    opened = Catalog.open(warehouse).snapshot(snapshot)
    if raw:
        if kind != "page":
            raise NotInSnapshotError(f"--raw writes a page, and a {kind} is none")
        record = original_of(opened, key)
        typer.echo(record.head + record.block, nl=False)
        return
    found = entities_named(opened, key) if kind == ENTITY else [find(opened, kind, key)]
    if as_json:
        print_json({"entities": found} if kind == ENTITY else found[0])
        return
    for one in found:
        _print(one)


def _print(found: Mapping[str, Mapping[str, Any]]) -> None:
    """A row as a person reads it: its columns, what it came from, what it led to."""
    from quern.schemas.words.lines import plain

    for part in ("row", "from", "to"):
        typer.echo(f"{part}:")
        for name, value in found[part].items():
            for shown in (value or ["none"]) if isinstance(value, list) else [value]:
                typer.echo(f"  {name}: {plain(_line(shown) if name == 'facts' else str(shown))}")


def _line(fact: Any) -> str:
    """A fact in a line: `Tollen Bridge | Crosses | River Sarn (3 March 2024, https://...)`."""
    if not isinstance(fact, Mapping):
        return str(fact)
    said = " | ".join(fact[name] for name in ("subject", "relation", "object"))
    return f"{said}  ({fact['date'] or 'no date'}, {fact['source']})"
