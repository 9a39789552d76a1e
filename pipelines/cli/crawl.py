"""Crawling the web."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli.choices import completing
from quern.pipelines.cli.common import (
    LOGGERS,
    AsJson,
    Overrides,
    SettingsFile,
    Warehouse,
    load_settings,
    new_app,
    print_json,
)

if TYPE_CHECKING:
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.inspect.reading import CrawlPlan
    from quern.pipelines.pages.crawl import CrawlReport
    from quern.schemas.settings import CrawlSettings

app = new_app("")


@app.command(
    epilog="Examples:  quern crawl seeds.txt -w WH --set crawl.contact=crawler@your-organisation.example    "
    "quern crawl seeds.txt -w WH --settings crawl.yaml --sitemaps --scope domain --max-pages 10000    "
    "quern crawl seeds.txt -w WH --settings crawl.yaml --dry-run",
)
def crawl(
    seeds: Annotated[Path, typer.Argument(metavar="SEEDS", help="File of addresses, one a line.")],
    warehouse: Warehouse,
    sitemaps: Annotated[bool, typer.Option("--sitemaps", help="Take addresses from the sites' sitemaps too.")] = False,
    scope: Annotated[
        str | None, typer.Option(help="Links followed: {scopes} (crawl.scope).", autocompletion=completing("scopes"))
    ] = None,
    max_pages: Annotated[int | None, typer.Option(help="Pages after which the crawl ends.")] = None,
    max_depth: Annotated[int | None, typer.Option(help="Most links from a seed to a page.")] = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    engine: Annotated[
        str | None,
        typer.Option(help="auto, local or ray.", autocompletion=lambda: ["auto", "local", "ray"]),
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster, default one on this machine.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check settings and seeds, say what would be begun; fetch nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch pages from the web into WARC files and the page store; an interrupted crawl goes on.

    robots.txt, crawl-delay, noindex and nofollow are obeyed; pages fetched before are asked for only if they changed.
    crawl.contact must be set; what was lost stands in WAREHOUSE/crawl/reports/CRAWL_ID.rejects.parquet.
    """
    options = {
        "crawl.sitemaps": sitemaps or None,
        "crawl.scope": scope,
        "crawl.max_pages": max_pages,
        "crawl.max_depth": max_depth,
        "engine.engine": engine,
        "engine.ray_address": ray_address,
    }
    overrides = [*(override or []), *(f"{name}={value}" for name, value in options.items() if value is not None)]
    loaded = load_settings(settings, overrides)
    if dry_run:
        from quern.pipelines.inspect.reading import plan_crawl

        _tell_plan(plan_crawl(seeds, warehouse, loaded), loaded.crawl, as_json=as_json)
        return
    from quern.indexes.catalog import Warehouse as Opened
    from quern.jobs.crawl.fleet import CrawlError
    from quern.pipelines.cli.chatter import chatter_to
    from quern.pipelines.pages.crawl import check_settings, read_seeds
    from quern.pipelines.pages.crawl import crawl as run_crawl

    check_settings(loaded.crawl)
    read_seeds(seeds, loaded.crawl)  # A mistake must not leave an empty warehouse behind.
    catalog = Opened.create(warehouse)
    catalog.logs.mkdir(parents=True, exist_ok=True)
    with chatter_to(catalog.logs / "engines.log", LOGGERS):
        report = run_crawl(seeds, catalog, loaded)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _tell(report, catalog, warehouse)
    if not report.fetched and not report.unchanged:
        raise CrawlError(_nothing_fetched(report, catalog))


_MOST_HOSTS = 10
_NOT_ASKED = "robots.txt, sitemaps, the addresses of hosts and what they link to: the crawl asks for them"


def _tell_plan(plan: CrawlPlan, settings: CrawlSettings, *, as_json: bool) -> None:
    limits = {name: getattr(settings, name) for name in ("scope", "sitemaps", "max_pages", "max_depth", "delay")}
    if as_json:
        print_json({"dry_run": True, **asdict(plan), "limits": limits, "not_asked": _NOT_ASKED})
        return
    begins = f"crawl {plan.goes_on} would go on" if plan.goes_on else "a new crawl would begin"
    typer.echo(f"{begins}: {plan.seeds:,} seeds on {len(plan.hosts):,} hosts, {plan.known:,} fetched before")
    for host, count in list(plan.hosts.items())[:_MOST_HOSTS]:
        typer.echo(f"  {count:,} of {host}")
    if (more := len(plan.hosts) - _MOST_HOSTS) > 0:
        typer.echo(f"  ... and {more:,} more hosts")
    typer.echo(f"as {plan.user_agent}, by {plan.workers} processes ({plan.engine})")
    typer.echo("limits: " + ", ".join(f"{name} {value}" for name, value in limits.items()) + " (0 pages: no limit)")
    typer.echo(f"at {settings.delay:g} s between requests to a host the seeds take {plan.least_seconds:,.0f} s or more")
    typer.echo(f"nothing was fetched or written. Not looked at: {_NOT_ASKED}")


def _tell(report: CrawlReport, catalog: Catalog, warehouse: Path) -> None:
    typer.echo(
        f"crawl {report.crawl_id} ended ({report.ended}) after {report.seconds:.1f} s: {report.fetched:,} pages, "
        f"{report.unchanged:,} unchanged, {report.queued:,} left in the queue"
    )
    for reason, count in report.lost.items():
        typer.echo(f"  lost {count:,} by {reason}")
    for reason, count in report.not_followed.items():
        typer.echo(f"  not followed {count:,} by {reason}")
    if report.files:
        typer.echo(
            f"  archived in {catalog.root / 'warc' / report.crawl_id}; quern build -w {warehouse} builds from it"
        )
    if report.lost:
        typer.echo(f"  what was lost: {catalog.root / 'crawl' / 'reports' / report.crawl_id}.rejects.parquet")


def _nothing_fetched(report: CrawlReport, catalog: Catalog) -> str:
    """Why a crawl that fetched nothing did so, for an orchestrator that must not take it for success."""
    reasons = {**report.lost, **report.not_followed}
    told = ", ".join(f"{count:,} by {reason}" for reason, count in reasons.items()) or "no address was left to ask"
    hint = "; crawl.allow_private names private networks that may be asked" if "private_address" in reasons else ""
    return f"nothing was fetched: {told}{hint}; {catalog.root / 'crawl' / 'reports' / report.crawl_id}.json says more"
