"""Building an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli.common import (
    LOGGERS,
    AsJson,
    CsvEscape,
    DayFirst,
    Engine,
    Names,
    Overrides,
    Pages,
    SettingsFile,
    SkipLines,
    Wait,
    Warehouse,
    load_settings,
    new_app,
    overriding,
    print_json,
    written_catalog,
)

if TYPE_CHECKING:
    from quern.indexes.catalog import Manifest

app = new_app("")


@app.command(
    epilog="Examples:  quern build pages/ -w WH    quern build -w WH    quern build crawl.warc.gz -w WH "
    "--set link.k=2    quern build docs.jsonl -w WH --engine local",
)
def build(
    warehouse: Warehouse,
    source: Pages = None,
    names: Names = None,
    day_first: DayFirst = None,
    csv_escape: CsvEscape = None,
    skip_lines: SkipLines = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    engine: Engine = None,
    spark_master: Annotated[str | None, typer.Option(help="Spark master, default local.")] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster, default one on this machine.")
    ] = None,
    wait: Wait = 0.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what each step would compute, as `quern plan` does; build nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build an index of PAGES, or of what was ingested, and publish it; only what changed is computed."""
    engines = {"engine": engine, "spark_master": spark_master, "ray_address": ray_address}
    loaded = load_settings(settings, overriding(override, names, day_first, csv_escape, skip_lines, **engines))
    if dry_run:
        from quern.pipelines.cli.plan import tell_plan

        tell_plan(source, warehouse, loaded, as_json=as_json)
        return
    from quern.pipelines.build.whole import build as run_build
    from quern.pipelines.cli.chatter import chatter_to

    catalog = written_catalog(source, warehouse)
    with chatter_to(catalog.logs / "engines.log", LOGGERS):
        manifest = run_build(source, catalog, loaded, wait=wait)
    if as_json:
        print_json(manifest.model_dump(mode="json"))
        return
    typer.echo(f"published {manifest.build_id} in {manifest.seconds:.1f} s, {_mib(manifest.peak_memory_bytes)} at peak")
    for line in _left_out(manifest):
        typer.echo(f"  {line}")
    for name, table in manifest.tables.items():
        typer.echo(f"  {name:<10} {table.rows:>9,} rows  {table.digest[:12]}")


def _left_out(manifest: Manifest) -> Iterator[str]:
    """What became of rows by `job: reason`, in lines: those lost, those kept without a value, those not needed."""
    from quern.jobs.core.step import upstream
    from quern.schemas.tables import NO_LOSS

    lost = {of: n for of, n in manifest.rejects.items() if of.partition(": ")[2] not in NO_LOSS}
    jobs = {step.job for step in upstream(manifest.steps, ("documents",))}
    documents = {of: n for of, n in lost.items() if of.partition(": ")[0] in jobs}
    others = {of: n for of, n in lost.items() if of not in documents}
    for kind, rows in (("documents", documents), ("rows of other tables", others)):
        if rows:
            yield f"warning: lost {kind}: {_counted(rows)}; `quern rejects` shows each"
    if manifest.warnings:
        yield f"kept without a value: {_counted(manifest.warnings)}; `quern rejects` shows each"
    if rest := {of: n for of, n in manifest.rejects.items() if of not in lost}:
        yield f"left out without loss: {_counted(rest)}"


def _counted(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} by {of}" for of, n in sorted(rows.items(), key=lambda kv: -kv[1]))


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"
