"""What is published in a warehouse."""

from __future__ import annotations

from typing import Annotated

import typer

from quern.pipelines.cli.common import AsJson, Warehouse, new_app, print_json
from quern.pipelines.cli.vacuum import DryRun, Keep, print_freed
from quern.schemas.words.lines import one_line

app = new_app("What is published in a warehouse.")


@app.command("list", epilog="Example:  quern snapshots list -w WH")
def list_snapshots(warehouse: Warehouse, as_json: AsJson = False) -> None:
    """List the snapshots, oldest first; * marks the published one, `leased` those that a reader has open."""
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.indexes.checksums import DamagedError

    catalog = Catalog.open(warehouse)
    damaged: list[str] = []
    published, keep = None, None
    try:
        published = catalog.current_id()
        keep = catalog.manifest().known_settings().audit.keep_snapshots if published else None
    except DamagedError as error:
        damaged.append(str(error))
    listed: list[dict[str, object]] = []
    if not catalog.snapshot_ids() and not as_json:
        typer.echo("nothing is published yet")
    for build_id in catalog.snapshot_ids():
        leased = catalog.is_leased(build_id)
        row: dict[str, object] = {"build_id": build_id, "published": build_id == published, "leased": leased}
        try:
            m = catalog.manifest(build_id)
            named = (n for n in ("documents", "chunks", "nodes", "edges") if n in m.tables)
            about = f"{', '.join(f'{n} {m.tables[n].rows:,}' for n in named)}  {m.seconds:.1f} s"
            row["seconds"] = m.seconds
        except DamagedError as error:
            about, row["damaged"] = "damaged", error.why
            damaged.append(str(error))
        listed.append(row)
        if not as_json:
            typer.echo(f"{'*' if row['published'] else ' '} {build_id}  {about}{'  leased' if leased else ''}")
    if as_json:
        print_json({"snapshots": listed, "keep_snapshots": keep})
    elif keep is not None:
        typer.echo(f"the newest {keep} are kept (audit.keep_snapshots), the published one, and what is leased")
    for told in dict.fromkeys(damaged):
        typer.echo(one_line(told), err=True)


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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be published, and publish nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish an earlier snapshot again; nothing is deleted."""
    from quern.indexes.catalog import Warehouse as Catalog

    catalog = Catalog.open(warehouse)
    if dry_run:
        wanted, current = catalog.rolled_back(build_id).build_id, catalog.current_id()
        if as_json:
            print_json({"dry_run": True, "would_publish": wanted, "published": current})
            return
        typer.echo(f"would publish {wanted} again in place of {current}")
        return
    with catalog.lock("quern snapshots"):
        manifest = catalog.rollback(build_id)
    if as_json:
        print_json({"published": manifest.build_id})
        return
    typer.echo(f"published {manifest.build_id} again")


@app.command("prune", epilog="Examples:  quern snapshots prune -w WH --keep 7    quern snapshots prune -w WH --dry-run")
def prune_snapshots(warehouse: Warehouse, keep: Keep = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Forget old snapshots that no reader has open, and free the space that only they needed."""
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.vacuum import prune

    catalog = Catalog.open(warehouse)
    keep = keep or (catalog.manifest().known_settings().audit.keep_snapshots if catalog.current_id() else 1)
    print_freed(prune(catalog, keep, dry_run=dry_run), dry_run, as_json)
