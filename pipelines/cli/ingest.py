"""Reading archives and folders into the page store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli.common import (
    LOGGERS,
    AsJson,
    CsvEscape,
    DayFirst,
    Names,
    Overrides,
    PageSource,
    SettingsFile,
    SkipLines,
    Warehouse,
    load_settings,
    new_app,
    overriding,
    print_json,
)
from quern.schemas.addresses import page_source

if TYPE_CHECKING:
    from quern.pipelines.inspect.reading import IngestPlan

app = new_app("")


@app.command(
    epilog="Examples:  quern ingest crawl/ -w WH    quern ingest 'archive/*.warc.gz' pages.jsonl -w WH    "
    "quern ingest articles.csv -w WH --map text=body,doc_id=id --dry-run    "
    "quern ingest 's3://bucket/crawl/*.warc.gz' -w WH --spark-master spark://host:7077",
)
def ingest(
    sources: Annotated[
        list[PageSource],
        typer.Argument(
            metavar="SOURCES...",
            help="Files ({formats}), folders, patterns in quotes, or s3:// addresses.",
            parser=page_source,
        ),
    ],
    warehouse: Warehouse,
    names: Names = None,
    day_first: DayFirst = None,
    csv_escape: CsvEscape = None,
    skip_lines: SkipLines = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    engine: Annotated[
        str | None, typer.Option(help="auto, local or spark.", autocompletion=lambda: ["auto", "local", "spark"])
    ] = None,
    spark_master: Annotated[str | None, typer.Option(help="Spark master, default local.")] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Read the files and say what they hold and what would be left out; write nothing."
        ),
    ] = False,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync",
            help="Also remove the documents whose files earlier ingests of SOURCES read and that are missing now; "
            "refused where that is a larger share of them than audit.max_shrink.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --sync: remove them all the same, also of an empty or missing folder.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read SOURCES into the page store; files that it holds unchanged are not read.

    Archives (WARC, WET, ARC), HTML, JSONL, CSV, TSV, Parquet, plain text and Markdown; see docs/howto/ingest.md.
    With --dry-run one process reads them, whatever the engine. Of two versions of a document the one that was ingested
    later wins, unless both state `modified_at`. A document that `quern remove` removed stays away until its content
    changes.
    """
    engines = {"engine": engine, "spark_master": spark_master}
    loaded = load_settings(settings, overriding(override, names, day_first, csv_escape, skip_lines, **engines))
    if dry_run:
        from quern.pipelines.inspect.reading import plan_ingest

        planned = plan_ingest(sources, warehouse, loaded.ingest, lenient=sync and yes)
        _tell_plan(planned, as_json=as_json)
        if not as_json:
            _tell_missing(planned.missing, planned.missing_files, "--sync would remove them")
        return
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.jobs.pages.inputs import IngestError, find_inputs
    from quern.pipelines.cli.chatter import chatter_to
    from quern.pipelines.pages.ingest import add_pages
    from quern.schemas.tables import PAGES
    from quern.schemas.words.lines import one_line

    there = (warehouse / "warehouse.json").exists()
    try:
        find_inputs(sources, lenient=sync and yes and there)  # A mistyped path leaves no empty warehouse behind.
    except IngestError as error:
        if not (sync and there):
            raise
        raise IngestError(f"{error}; --sync with --yes removes all that earlier ingests of it read") from None
    catalog = Catalog.create(warehouse)
    with chatter_to(catalog.logs / "engines.log", LOGGERS):
        report = add_pages(catalog, sources, loaded, sync=sync, confirmed=yes)
    if as_json:
        print_json(asdict(report))
        return
    typer.echo(f"read {report.files - report.reused} of {report.files} files in {report.seconds:.1f} s")
    beside = sum(n for reason, n in report.reasons.items() if reason in PAGES.no_loss - PAGES.warnings)
    harmless = f" ({beside:,} of them lose no page)" if beside else ""
    noted = f", {report.warnings:,} warnings, with which pages are kept" if report.warnings else ""
    typer.echo(f"  {report.pages:,} pages, {report.rejects:,} rejects{harmless}{noted}")
    if report.reasons:
        typer.echo("  " + ", ".join(f"{count:,} {reason}" for reason, count in report.reasons.items()))
    for told, first in (("reject", report.first_reject), ("warning", report.first_warning)):
        if first:
            typer.echo(f"  first {told}: {one_line(first)}")
    for kind, count in report.records.items():
        typer.echo(f"  {count:,} records {kind}")
    _tell_missing(report.missing, report.missing_files, "they stay, --sync removes them")
    _tell_missing(report.removed, report.missing_files, "they were removed")


def _tell_missing(documents: int, files: Sequence[str], what: str) -> None:
    if documents:
        named = f"{', '.join(files)}{' and more' if documents > len(files) else ''}"
        typer.echo(f"  {documents:,} documents of earlier ingests are missing now ({named}): {what}")


def _tell_plan(plan: IngestPlan, *, as_json: bool) -> None:
    from quern.schemas.words.lines import one_line

    if as_json:
        print_json({"dry_run": True, **asdict(plan)})
        return
    names = ("files", "held", "bytes", "pages", "rejects", "warnings")
    typer.echo(f"{'kind':<10}" + "".join(f"{name:>12}" for name in names))
    for kind, of in plan.kinds.items():
        typer.echo(f"{kind:<10}" + "".join(f"{getattr(of, name):>12,}" for name in names))
    for told, counts in (("rejects", plan.rejects), ("warnings", plan.warnings)):
        if counts:
            typer.echo(f"{told}: " + ", ".join(f"{count:,} {reason}" for reason, count in counts.items()))
    for told, first in (("reject", plan.first_reject), ("warning", plan.first_warning)):
        if first:
            typer.echo(f"first {told}: {one_line(first)}")
    if plan.duplicates:
        typer.echo(
            f"{plan.duplicates:,} of the pages have an id or address that stands again: "
            f"a build makes {plan.distinct:,} pages of them"
        )
    typer.echo(f"read in {plan.seconds:.1f} s; nothing was written. held: unchanged in the page store, not read again")
