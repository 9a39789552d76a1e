"""What was left out, and why."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quern.pipelines.cli.common import AsJson, Snapshot, Warehouse, new_app

if TYPE_CHECKING:
    from quern.indexes.catalog import Manifest

app = new_app("")


@app.command(
    epilog="Examples:  quern rejects -w WH    quern rejects -w WH --job clean --reason no_text --limit 0    "
    "quern rejects -w WH --key https://tides.example/ --json",
)
def rejects(
    warehouse: Warehouse,
    job: Annotated[str, typer.Option(help="Only of this job, for example clean.")] = "",
    reason: Annotated[str, typer.Option(help="Only with this reason code, for example no_text.")] = "",
    key: Annotated[
        str, typer.Option(metavar="PREFIX", help="Only with a key (address, id) or detail that begins so.")
    ] = "",
    snapshot: Snapshot = None,
    limit: Annotated[int, typer.Option(min=0, help="Most rows after the summary; 0 for all.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show what a snapshot left out and why: counts and shares of each job's input, losses first, then the rows.

    Before the first build, what the page store left out. With a warning the row itself is kept, without a value.
    """
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.indexes.page_store import PageStore
    from quern.pipelines.inspect.rejects import Wanted, left_out, name_of, rows, summary, there_are

    opened = left_out(Catalog.open(warehouse), snapshot)
    wanted = Wanted(job, reason, key)
    counted = summary(opened, wanted)
    found = rows(opened, wanted, limit)
    if as_json:
        _print_json(getattr(opened, "manifest", None), counted, found)
    elif counted:
        if isinstance(opened, PageStore):
            typer.echo("nothing was built yet; the page store left out\n")
        _print(counted, found, limit)
    else:
        typer.echo(f"{name_of(opened)} has no reject {wanted}".rstrip() + f"; {there_are(opened)}")


def _print(counted: list[dict[str, Any]], found: Iterable[dict[str, str]], limit: int) -> None:
    from quern.schemas.tables import NO_LOSS
    from quern.schemas.words.lines import one_line

    typer.echo(f"{'job':<12}{'reason':<24}{'count':>10}{'share':>9}")
    for row in counted:
        share = "" if row["share"] is None else f"{row['share']:.2%}"
        kept = "  warning" if row.get("warning") else "  no loss" if row["reason"] in NO_LOSS else ""
        typer.echo(f"{row['job']:<12}{row['reason']:<24}{row['count']:>10,}{share:>9}{kept}")
    typer.echo("")
    shown = 0
    for row in found:
        typer.echo(one_line(f"{row['job']}: {row['reason']}: {row['key']}: {row['detail']}"))
        shown += 1
    if (left := sum(row["count"] for row in counted) - shown) and limit:
        typer.echo(f"... and {left:,} more; --limit 0 shows all")


def _print_json(manifest: Manifest | None, counted: list[dict[str, Any]], found: Iterable[dict[str, str]]) -> None:
    """One object, its rows written as they are read."""
    head = json.dumps({"snapshot": manifest and manifest.build_id, "summary": counted}, ensure_ascii=False)
    typer.echo(head[:-1] + ', "rows": [', nl=False)
    for number, row in enumerate(found):
        typer.echo(("," if number else "") + "\n" + json.dumps(row, ensure_ascii=False), nl=False)
    typer.echo("\n]}")
