"""Pages of the page store: crawled, ingested from files, removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import (
    catalog_type,
    chatter_to,
    load_settings,
    open_warehouse,
    overriding,
    print_json,
)
from quern.schemas.addresses import page_source
from quern.schemas.words.lines import one_line

if TYPE_CHECKING:
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.pages.crawl import CrawlReport

app = cli.new_app("")

_MOST_SHOWN = 10  # Documents that a message names.


@app.command(
    epilog="Examples:  quern crawl seeds.txt -w WH --set crawl.contact=crawler@your-organisation.example    "
    "quern crawl seeds.txt -w WH --settings crawl.yaml --set crawl.scope=domain --set crawl.max_pages=10000"
)
def crawl(
    seeds: Annotated[Path, typer.Argument(metavar="SEEDS", help="File of addresses, one a line.")],
    warehouse: cli.LocalWarehouse,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    engine: Annotated[str | None, typer.Option(help="auto, local or ray.")] = None,
    ray_address: cli.RayAddress = None,
    as_json: cli.AsJson = False,
) -> None:
    """Fetch pages from the web into WARC files and the page store; resumes an interrupted crawl.

    Obeys robots.txt, crawl-delay, noindex and nofollow; requests known pages only if they changed. crawl.contact must
    be set. Lost pages are listed in WAREHOUSE/crawl/reports/CRAWL_ID.rejects.parquet.
    """
    loaded = load_settings(settings, overriding(override, engine=engine, ray_address=ray_address))
    from quern.jobs.crawl.fleet import CrawlError
    from quern.pipelines.pages.crawl import check_settings, read_seeds
    from quern.pipelines.pages.crawl import crawl as run_crawl

    check_settings(loaded.crawl)
    read_seeds(seeds, loaded.crawl)  # A mistake must not leave an empty warehouse behind.
    catalog = catalog_type().create(warehouse)
    with chatter_to(catalog.logs / "engines.log"):
        report = run_crawl(seeds, catalog, loaded)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _tell_crawl(report, catalog, warehouse)
    if not report.fetched and not report.unchanged:
        # An orchestrator must not take it for success.
        reasons = {**report.lost, **report.not_followed}
        summary = ", ".join(f"{n:,} by {reason}" for reason, n in reasons.items()) or "no address was left to ask"
        hint = "; crawl.allow_private names private networks that may be asked" if "private_address" in reasons else ""
        file = catalog.root / "crawl" / "reports" / f"{report.crawl_id}.json"
        raise CrawlError(f"nothing was fetched: {summary}{hint}; {file} says more")


def _tell_crawl(report: CrawlReport, catalog: Catalog, warehouse: Path) -> None:
    typer.echo(
        f"crawl {report.crawl_id} ended ({report.ended}) after {report.seconds:.1f} s: {report.fetched:,} pages, "
        f"{report.unchanged:,} unchanged, {report.queued:,} left in the queue"
    )
    for what, counts in (("lost", report.lost), ("not followed", report.not_followed)):
        for reason, count in counts.items():
            typer.echo(f"  {what} {count:,} by {reason}")
    if report.files:
        archive = catalog.root / "warc" / report.crawl_id
        typer.echo(f"  archived in {archive}; quern build -w {warehouse} builds from it")
    if report.lost:
        typer.echo(f"  what was lost: {catalog.root / 'crawl' / 'reports' / report.crawl_id}.rejects.parquet")


@app.command(
    epilog="Examples:  quern ingest crawl/ -w WH    quern ingest 'archive/*.warc.gz' pages.jsonl -w WH    "
    "quern ingest articles.csv -w WH --map text=body,doc_id=id    "
    "quern ingest 's3://bucket/crawl/*.warc.gz' -w WH --spark-master spark://host:7077"
)
def ingest(
    sources: Annotated[
        list[cli.PageSource],
        typer.Argument(
            metavar="SOURCES...",
            help="Files ({formats}), folders, patterns in quotes, or s3:// addresses.",
            parser=page_source,
        ),
    ],
    warehouse: cli.LocalWarehouse,
    names: cli.Names = None,
    day_first: cli.DayFirst = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    engine: Annotated[str | None, typer.Option(help="auto, local or spark.")] = None,
    spark_master: cli.SparkMaster = None,
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
    as_json: cli.AsJson = False,
) -> None:
    """Read SOURCES into the page store; files that it holds unchanged are not read.

    Archives (WARC, WET), HTML, JSONL, CSV, TSV, Parquet, plain text and Markdown; see docs/howto/ingest.md.
    The version of a document that was ingested last wins, unless both versions state `modified_at`. A document removed
    by `quern remove` stays out until its content changes.
    """
    engines = {"engine": engine, "spark_master": spark_master}
    loaded = load_settings(settings, overriding(override, names, day_first, **engines))
    from quern.jobs.pages.inputs import IngestError, find_inputs
    from quern.pipelines.pages.ingest import add_pages
    from quern.schemas.tables import PAGES

    there = (warehouse / "warehouse.json").exists()
    try:
        find_inputs(sources, lenient=sync and yes and there)  # A mistyped path leaves no empty warehouse behind.
    except IngestError as error:
        if not (sync and there):
            raise
        raise IngestError(f"{error}; --sync with --yes removes all that earlier ingests of it read") from None
    catalog = catalog_type().create(warehouse)
    with chatter_to(catalog.logs / "engines.log"):
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
    for kind, first in (("reject", report.first_reject), ("warning", report.first_warning)):
        if first:
            typer.echo(f"  first {kind}: {one_line(first)}")
    for kind, count in report.records.items():
        typer.echo(f"  {count:,} records {kind}")
    _tell_missing(report.missing, report.missing_files, "they stay, --sync removes them")
    _tell_missing(report.removed, report.missing_files, "they were removed")


def _tell_missing(documents: int, files: Sequence[str], what: str) -> None:
    if documents:
        names = f"{', '.join(files)}{' and more' if documents > len(files) else ''}"
        typer.echo(f"  {documents:,} documents of earlier ingests are missing now ({names}): {what}")


@app.command(
    epilog="Examples:  quern remove 45e5c802a3a5580e1441 -w WH    quern remove https://example.org/a -w WH --purge    "
    "quern remove -w WH --where site=example.org --where 'published_at<2020' --dry-run    "
    "quern remove https://example.org/a -w WH --undo"
)
def remove(
    warehouse: cli.LocalWarehouse,
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[DOC_ID|URL]...", help="Ids or addresses of documents.")
    ] = None,
    where: cli.Where = None,
    purge: Annotated[
        bool,
        typer.Option(
            "--purge",
            help="Also let their text leave the page store, the archives of crawls, and with the next build the memo, "
            "the stages, the logs and all older snapshots.",
        ),
    ] = False,
    undo: Annotated[
        bool,
        typer.Option("--undo", help="Take removals back: the next build reads the documents again, unless purged."),
    ] = False,
    dry_run: cli.DryRun = False,
    as_json: cli.AsJson = False,
) -> None:
    """Remove documents, by DOC_ID, by URL, or by conditions on them (--where): the next build leaves them out.

    A removed document stays out if its file is ingested again unchanged, and returns with other content. Either all
    named documents are removed or none; exit code 1 if one does not exist.
    """
    from quern.pipelines.pages.remove import NothingToRemoveError, restore
    from quern.pipelines.pages.remove import remove as run

    if bool(targets) == bool(where):
        raise typer.BadParameter("name documents by id or address, or by --where: one of both")
    if undo and purge:
        raise typer.BadParameter("what is purged cannot be restored: --undo or --purge")
    action = "restored" if undo else "removed"
    try:
        named = targets or cli.documents_where(warehouse, where or (), older=undo)
        if not named:
            raise NothingToRemoveError(f"no document meets {' and '.join(where or ())}: nothing was {action}")
        if undo:
            removal = restore(open_warehouse(warehouse), named, some=bool(where), dry_run=dry_run)
        else:
            removal = run(open_warehouse(warehouse), named, purge=purge, dry_run=dry_run)
    except NothingToRemoveError as error:
        typer.echo(f"quern: {error}", err=True)
        raise typer.Exit(1) from None
    if as_json:
        print_json({"dry_run": dry_run, "purge": purge, "undo": undo, **asdict(removal)})
        return
    done = "reads again" if undo else "purges" if purge else "leaves out"
    typer.echo(f"would be {action}:" if dry_run else f"{action}, which the next `quern build` {done}:")
    of_pages = [{"doc_id": url, "title": None} for url in removal.pages]
    documents = removal.documents or of_pages
    for row in documents[:_MOST_SHOWN]:
        typer.echo("  " + "  ".join(filter(None, (row["doc_id"], row["title"], row.get("url") or row.get("page_url")))))
    _tell_more(len(documents))
    for files, what in (
        (removal.copies, "documents that repeat them stay"),
        (removal.files, "files outside of the warehouse still hold them"),
        (removal.kept, "archives still hold them, which are no gzip files"),
    ):
        if files:
            typer.echo(f"{len(files):,} {what}: {', '.join(files[:_MOST_SHOWN])}")
            _tell_more(len(files))


def _tell_more(count: int) -> None:
    if count > _MOST_SHOWN:
        typer.echo(f"  and {count - _MOST_SHOWN:,} more")
