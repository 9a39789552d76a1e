"""Reading archives and folders into the page store."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from quern.pipelines.cli.common import (
    LOGGERS,
    AsJson,
    Names,
    Overrides,
    SettingsFile,
    Warehouse,
    load_settings,
    new_app,
    overriding,
    print_json,
)

app = new_app("")


@app.command(
    epilog="Examples:  quern ingest crawl/ -w WH    quern ingest 'archive/*.warc.gz' pages.jsonl -w WH    "
    "quern ingest 's3://bucket/crawl/*.warc.gz' -w WH --spark-master spark://host:7077",
)
def ingest(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCES...", help="Files, folders, patterns in quotes, or s3:// addresses of either."),
    ],
    warehouse: Warehouse,
    names: Names = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    engine: Annotated[str | None, typer.Option(help="auto, local or spark.")] = None,
    spark_master: Annotated[str | None, typer.Option(help="Spark master, default local.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read SOURCES into the page store; files that it holds unchanged are not read.

    Archives (WARC, WET, ARC), HTML, JSONL, CSV, TSV, Parquet, plain text and Markdown; see docs/howto/ingest.md.
    """
    loaded = load_settings(settings, overriding(override, names, engine=engine, spark_master=spark_master))
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.jobs.pages.inputs import find_inputs
    from quern.pipelines.cli.chatter import chatter_to
    from quern.pipelines.ingest import add_pages
    from quern.schemas.words.lines import one_line

    find_inputs(sources)  # A mistyped path must not leave an empty warehouse behind.
    catalog = Catalog.create(warehouse)
    with chatter_to(catalog.logs / "engines.log", LOGGERS):
        report = add_pages(catalog, sources, loaded)
    if as_json:
        print_json(asdict(report))
        return
    typer.echo(f"read {report.files - report.reused} of {report.files} files in {report.seconds:.1f} s")
    harmless = f", {report.warnings:,} warnings, which lose no page" if report.warnings else ""
    typer.echo(f"  {report.pages:,} pages, {report.rejects - report.warnings:,} rejects{harmless}")
    if report.first_reject:
        typer.echo(f"  first reject: {one_line(report.first_reject)}")
    for kind, count in report.records.items():
        typer.echo(f"  {count:,} records {kind}")
