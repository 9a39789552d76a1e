"""What a warehouse keeps: its snapshots, audited, verified and exported, and the space that nothing needs any more."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from quern.indexes.checksums import DamagedError
from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import chatter_to, load_settings, open_warehouse, print_json
from quern.schemas.words.lines import one_line

app = cli.new_app("")
snapshots = cli.new_app("What is published in a warehouse.")


@app.command(
    epilog="Examples:  quern audit -w WH    quern audit -w WH --set audit.engine=spark    "
    "quern audit -w WH --set audit.max_duplicates=0.1 --json"
)
def audit(
    warehouse: cli.Warehouse,
    snapshot: cli.Snapshot = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Check every expectation on a published snapshot again, with its own thresholds unless told otherwise.

    Exit code 0 when no critical expectation fails, 1 when one does, 2 for a mistake.
    """
    from quern.pipelines.audit import audit_snapshot

    opened = open_warehouse(warehouse).snapshot(snapshot)
    loaded = load_settings(settings, override, opened.manifest.known_settings())
    with chatter_to(opened.warehouse.logs / "engines.log"):
        audited = audit_snapshot(opened, loaded)
    from quern.pipelines.audit import counts

    result = {
        "snapshot": opened.manifest.build_id,
        "engine": loaded.audit.engine,
        "passed": not audited.audit.failures(),
        "tables": counts(audited.audit),
        "checks": [c.as_row() for c in audited.audit.checks],
        "docs": str(audited.docs) if audited.docs else None,
    }
    if as_json:
        print_json(result)
    else:
        for check in audited.audit.checks:
            if not check.passed:
                typer.echo(one_line(f"{check.severity}: {check.expectation}: {check.observed}"))
        names = ("expectations", "critical", "warnings", "skipped")
        typer.echo(f"{'table':<14}" + "".join(f"{name:>14}" for name in names))
        for row in counts(audited.audit):
            typer.echo(f"{row['table']:<14}" + "".join(f"{row[name]:>14}" for name in names))
        typer.echo(f"data docs: {result['docs'] or 'not written'}")
    if not result["passed"]:
        raise typer.Exit(1)


@app.command(epilog="Examples:  quern verify -w WH    quern verify -w WH --snapshot 20261122T044738495 --json")
def verify(warehouse: cli.Warehouse, snapshot: cli.Snapshot = None, as_json: cli.AsJson = False) -> None:
    """Check every file of a warehouse against its checksum; name each damaged file and its repair.

    With --snapshot ID, only the files of that snapshot. Exit code 0 if all files are intact, 1 if one is damaged.
    """
    from quern.jobs.core.progress import watched
    from quern.pipelines.inspect.verify import kept_files, verify

    try:
        catalog = open_warehouse(warehouse)
    except DamagedError:  # The file that says what the directory is: it is named among the others.
        catalog = cli.catalog_type()(warehouse)
    if snapshot:
        catalog.manifest(snapshot)
    files, done = kept_files(catalog, snapshot), 0

    def step() -> None:
        nonlocal done
        done += 1

    with watched("verify", len(files), lambda: done):
        result = verify(files, step)
    if as_json:
        print_json(result.as_tree())
    else:
        for bad in result.bad:
            typer.echo(one_line(bad.line()))
        typer.echo(f"verified files={result.files} bytes={result.size} damaged={len(result.bad)}")
    if result.bad:
        raise typer.Exit(1)


@app.command(epilog="Examples:  quern report -w WH    quern report -w WH --out builds.html --last 90")
def report(
    warehouse: cli.Warehouse,
    out: Annotated[Path, typer.Option(help="File to write, .html.")] = Path("report.html"),
    last: Annotated[int, typer.Option(min=1, help="Builds to show, the newest.")] = 30,
    as_json: cli.AsJson = False,
) -> None:
    """Write a page about the last builds: funnel, rows left out, time and memory of each step.

    Failed builds are included. The page is one file without scripts. `--json` prints the builds too.
    """
    from quern.indexes.catalog import WarehouseError, WarehouseFolder
    from quern.pipelines.build.history import builds_of
    from quern.pipelines.inspect.report import write_build_report

    opened = WarehouseFolder.open(warehouse)
    builds = builds_of(opened, last)
    if not builds:
        raise WarehouseError(f"nothing was built in {warehouse} yet; run `quern build -w {warehouse}` first")
    try:
        write_build_report(builds, out, warehouse=str(opened.address))
    except OSError as error:
        raise WarehouseError(f"--out {out} cannot be written: {error.strerror}") from error
    if as_json:
        print_json({"report": str(out), "builds": [build.model_dump(exclude={"settings"}) for build in builds]})
        return
    typer.echo(f"report of {len(builds)} {'build' if len(builds) == 1 else 'builds'}: {out}")


@app.command(
    epilog="Examples:  quern vacuum -w WH --dry-run    quern vacuum -w WH --set memo.keep_nights=1    "
    "quern vacuum -w WH --json"
)
def vacuum(
    warehouse: cli.Warehouse,
    keep: Annotated[int | None, typer.Option(min=1, help="Snapshots to keep; default audit.keep_snapshots.")] = None,
    dry_run: cli.DryRun = False,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Delete tables, memo results, audits and logs that no kept snapshot, open reader or coming build needs."""
    from quern.pipelines.vacuum import vacuum as run

    catalog = open_warehouse(warehouse)
    base = catalog.manifest().known_settings() if catalog.current_id() else None
    chosen = load_settings(settings, override, base)
    done = run(catalog, keep or chosen.audit.keep_snapshots, chosen.memo, dry_run=dry_run)
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


@snapshots.command("list", epilog="Example:  quern snapshots list -w WH")
def list_snapshots(warehouse: cli.Warehouse, as_json: cli.AsJson = False) -> None:
    """List the snapshots, oldest first; * marks the published one, `leased` those that a reader has open."""
    catalog = open_warehouse(warehouse)
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
            tables = (n for n in ("documents", "chunks", "nodes", "edges") if n in m.tables)
            about = f"{', '.join(f'{n} {m.tables[n].rows:,}' for n in tables)}  {m.seconds:.1f} s"
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
    for message in dict.fromkeys(damaged):
        typer.echo(one_line(message), err=True)


@snapshots.command("show", epilog="Example:  quern snapshots show -w WH --json")
def show_snapshot(
    warehouse: cli.Warehouse,
    build_id: Annotated[str | None, typer.Argument(help="Default the published one.")] = None,
    as_json: cli.AsJson = False,
) -> None:
    """Print the manifest of a snapshot: tables, digests, jobs, audit, settings."""
    manifest = open_warehouse(warehouse).manifest(build_id)
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


@snapshots.command("rollback", epilog="Examples:  quern snapshots rollback -w WH    quern snapshots rollback ID -w WH")
def rollback_snapshot(
    warehouse: cli.Warehouse,
    build_id: Annotated[str | None, typer.Argument(help="Default the one before the published.")] = None,
    as_json: cli.AsJson = False,
) -> None:
    """Publish an earlier snapshot again; nothing is deleted."""
    catalog = open_warehouse(warehouse)
    with catalog.lock("quern snapshots"):
        manifest = catalog.rollback(build_id)
    if as_json:
        print_json({"published": manifest.build_id})
        return
    typer.echo(f"published {manifest.build_id} again")


@app.command(
    epilog="Examples:  quern export --to elasticsearch --url http://127.0.0.1:9200 -w WH    "
    "quern export --to opensearch --url https://search.example:9200 -w WH"
)
def export(
    to: Annotated[str, typer.Option(help="{search_servers} (elasticsearch.kind).")],
    warehouse: cli.Warehouse,
    url: Annotated[str | None, typer.Option(help="Address of the server (elasticsearch.url).")] = None,
    table: Annotated[str, typer.Option(help="{exported}.")] = "chunks",
    index: Annotated[str | None, typer.Option(help="Alias to publish as; default quern-TABLE.")] = None,
    snapshot: cli.Snapshot = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Publish a table on an Elasticsearch or OpenSearch server; sends what differs from the last export.

    An interrupted export goes on when the same command is run again; the snapshot before stays, so that `--snapshot`
    leads back to it. Credentials: ELASTICSEARCH_API_KEY, or
    ELASTICSEARCH_USER and ELASTICSEARCH_PASSWORD; of OpenSearch OPENSEARCH_USER and OPENSEARCH_PASSWORD.
    """
    from quern.indexes.served.search_server import SearchServer
    from quern.pipelines.export import export as run_export
    from quern.pipelines.export import summary

    catalog = open_warehouse(warehouse)
    opened = catalog.snapshot(snapshot)
    options = {"kind": to, "url": url, "index": index or f"quern-{table}"}
    chosen = [*(override or []), *(f"elasticsearch.{name}={value}" for name, value in options.items() if value)]
    loaded = cli.load_settings(settings, chosen, opened.manifest.known_settings()).elasticsearch
    with SearchServer(loaded) as server:
        done = run_export(catalog, opened, table, server, loaded.index)
    if as_json:
        cli.print_json(asdict(done))
        return
    for line in summary(done):
        typer.echo(line)
