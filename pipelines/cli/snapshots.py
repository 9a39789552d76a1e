"""What is published in a warehouse."""

from __future__ import annotations

from typing import Annotated

import typer

from quern.pipelines.cli.common import AsJson, Warehouse, new_app, print_json

app = new_app("What is published in a warehouse.")


@app.command("list", epilog="Example:  quern snapshots list -w WH")
def list_snapshots(warehouse: Warehouse, as_json: AsJson = False) -> None:
    """List the snapshots, oldest first; * marks the published one, `leased` those that a reader has open."""
    from quern.indexes.catalog import Warehouse as Catalog

    catalog = Catalog.open(warehouse)
    current = catalog.current_id()
    manifests = [catalog.manifest(s) for s in catalog.snapshot_ids()]
    leased = {m.build_id for m in manifests if catalog.is_leased(m.build_id)}
    keep = catalog.manifest().known_settings().audit.keep_snapshots if current else None
    if as_json:
        listed = [
            {
                "build_id": m.build_id,
                "published": m.build_id == current,
                "leased": m.build_id in leased,
                "seconds": m.seconds,
            }
            for m in manifests
        ]
        print_json({"snapshots": listed, "keep_snapshots": keep})
        return
    for m in manifests:
        rows = ", ".join(f"{n} {m.tables[n].rows:,}" for n in ("documents", "chunks", "nodes", "edges"))
        mark, held = "*" if m.build_id == current else " ", "  leased" if m.build_id in leased else ""
        typer.echo(f"{mark} {m.build_id}  {rows}  {m.seconds:.1f} s{held}")
    if keep is not None:
        typer.echo(f"the newest {keep} are kept (audit.keep_snapshots), the published one, and what is leased")


@app.command("show", epilog="Example:  quern snapshots show -w WH --json")
def show_snapshot(
    warehouse: Warehouse,
    build_id: Annotated[str | None, typer.Argument(help="Default the published one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the manifest of a snapshot: tables, digests, jobs, audit, settings."""
    from quern.indexes.catalog import Warehouse as Catalog

    manifest = Catalog.open(warehouse).manifest(build_id)
    if as_json:
        print_json(manifest.model_dump(mode="json"))
        return
    typer.echo(f"snapshot {manifest.build_id} of {manifest.source}, published {manifest.published_at}")
    for name, table in manifest.tables.items():
        typer.echo(f"  {name:<10} version {table.version:<4} {table.rows:>9,} rows  {table.digest}")
    for job in manifest.jobs:
        reused = "all" if job["computed"] == 0 else job["reused"]
        typer.echo(
            f"  job {job['job']:<10} in {job['rows_in']:,} out {job['rows_out']:,} reused {reused} {job['seconds']} s"
        )
    for check in manifest.audit:
        typer.echo(f"  {'ok  ' if check['passed'] else 'FAIL'} {check['expectation']}: {check['observed']}")


@app.command("rollback", epilog="Examples:  quern snapshots rollback -w WH    quern snapshots rollback ID -w WH")
def rollback_snapshot(
    warehouse: Warehouse,
    build_id: Annotated[str | None, typer.Argument(help="Default the one before the published.")] = None,
) -> None:
    """Publish an earlier snapshot again; nothing is deleted."""
    from quern.indexes.catalog import Warehouse as Catalog

    catalog = Catalog.open(warehouse)
    with catalog.lock():
        manifest = catalog.rollback(build_id)
    typer.echo(f"published {manifest.build_id} again")


@app.command("prune", epilog="Example:  quern snapshots prune -w WH --keep 7")
def prune_snapshots(
    warehouse: Warehouse, keep: Annotated[int, typer.Option(min=1, help="Snapshots to keep.")] = 7
) -> None:
    """Forget old snapshots and free the space that only they needed."""
    from quern.indexes.catalog import Warehouse as Catalog

    catalog = Catalog.open(warehouse)
    with catalog.lock():
        gone = catalog.prune(keep)
    typer.echo(f"pruned {len(gone)} snapshots" + (f": {', '.join(gone)}" if gone else ""))
