"""Space that a warehouse no longer needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli.common import AsJson, Overrides, SettingsFile, Warehouse, load_settings, new_app, print_json

if TYPE_CHECKING:
    from quern.pipelines.vacuum import Vacuumed

app = new_app("")

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")]
Keep = Annotated[
    int | None, typer.Option(min=1, help="Snapshots to keep; default audit.keep_snapshots.", show_default=False)
]


@app.command(
    epilog="Examples:  quern vacuum -w WH --dry-run    quern vacuum -w WH --set memo.keep_nights=1    "
    "quern vacuum -w WH --json",
)
def vacuum(
    warehouse: Warehouse,
    keep: Keep = None,
    dry_run: DryRun = False,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Remove what no kept snapshot, no open reader and no coming build needs: of tables, memo, audits and logs."""
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.vacuum import vacuum as run

    catalog = Catalog.open(warehouse)
    base = catalog.manifest().known_settings() if catalog.current_id() else None
    chosen = load_settings(settings, override, base)
    print_freed(run(catalog, keep or chosen.audit.keep_snapshots, chosen.memo, dry_run=dry_run), dry_run, as_json)


def print_freed(done: Vacuumed, dry_run: bool, as_json: bool) -> None:
    """Say what was freed, or would be: snapshots, then files and bytes of each kind."""
    if as_json:
        freed = {kind: vars(space) for kind, space in sorted(done.freed.items())}
        total = vars(done.total)
        print_json(
            {"dry_run": dry_run, "snapshots": done.snapshots, "leased": done.leased, "freed": freed, "total": total}
        )
        return
    gone = f"{'would prune' if dry_run else 'pruned'} {len(done.snapshots)} snapshots"
    typer.echo(gone + (f": {', '.join(done.snapshots)}" if done.snapshots else ""))
    if done.leased:
        typer.echo(f"a reader has {', '.join(done.leased)} open: pruned when that has ended")
    for kind, space in [*sorted(done.freed.items()), ("total", done.total)]:
        typer.echo(f"{kind:<12}{space.files:>9,} files{space.bytes:>16,} bytes")
