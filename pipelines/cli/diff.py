"""What differs between two snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli.choices import completing
from quern.pipelines.cli.common import AsJson, Warehouse, new_app, print_json

if TYPE_CHECKING:
    from quern.schemas.differences import RowDifference, SnapshotDifference

app = new_app("")

_MARKS = {"added": "+", "changed": "~", "removed": "-"}


@app.command(
    epilog="Examples:  quern diff -w WH    quern diff 20240630T020000000 current -w WH    "
    "quern diff -w WH --table edges --limit 0 --json",
)
def diff(
    warehouse: Warehouse,
    before: Annotated[str, typer.Argument(help="Build id, `previous` or `current`.")] = "previous",
    after: Annotated[str, typer.Argument(help="Build id, `previous` or `current`.")] = "current",
    table: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this table, whose rows are named: {tables}. Repeatable.",
            autocompletion=completing("tables"),
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Most rows of each kind that are named; 0 for all.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show which rows were added, changed and removed between two snapshots; documents by title and address.

    Tables with equal digests are not read; others are read once, in some 250 MB of memory however large they are.
    """
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.inspect.difference import difference, snapshot_named

    catalog = Catalog.open(warehouse)
    found = difference(
        snapshot_named(catalog, before), snapshot_named(catalog, after), tuple(table or ()), limit or None
    )
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    _print(found, set(table or ("documents",)))


def _print(found: SnapshotDifference, named: set[str]) -> None:
    from quern.schemas.words.lines import one_line

    typer.echo(f"{found.before} -> {found.after}")
    typer.echo(f"{'table':<12}{'before':>12}{'after':>12}{'added':>10}{'changed':>10}{'removed':>10}")
    for name, table in found.tables.items():
        counts = table.changes
        changes = [f"{n:,}" if n else "." for n in (counts.added, counts.changed, counts.removed)]
        cells = "".join(f"{text:>10}" for text in changes)
        typer.echo(f"{name:<12}{table.rows_before:>12,}{table.rows_after:>12,}{cells}")
    for name, table in found.tables.items():
        if name not in named or not table.rows:
            continue
        typer.echo(f"\n{name}")
        for row in table.rows:
            typer.echo(one_line(f"{_MARKS[row.change]} {_name(row)}"))
        counts = table.changes
        if left := counts.added + counts.changed + counts.removed - len(table.rows):
            typer.echo(f"... and {left:,} more; --limit 0 names all")


def _name(row: RowDifference) -> str:
    key = " ".join(str(part) for part in row.key.values())
    if row.title is not None or row.url is not None:
        key = f"{row.title or '(no title)'}  {row.url or key}"
    return f"{key}  ({', '.join(row.columns)})" if row.columns else key
