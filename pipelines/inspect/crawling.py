"""What a crawl would begin with, as far as that is known without asking anyone: nothing is fetched or written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from quern.jobs.crawl.memory import Memory
from quern.pipelines.pages.crawl import (
    check_settings,
    crawl_folder,
    engine_of,
    read_seeds,
    unfinished,
    user_agent,
    worker_count,
)
from quern.schemas.settings import Settings


@dataclass(frozen=True)
class CrawlPlan:
    """What a crawl would begin with."""

    seeds: int  # Addresses that the file names.
    hosts: dict[str, int]  # How many of them each host has.
    known: int  # Addresses of those that an earlier crawl fetched: they are asked for only if they changed.
    # Name of the crawl that was begun with these seeds and did not end; None where one would begin.
    goes_on: str | None
    engine: str  # What runs it: `local` or `ray`.
    workers: int  # Processes.
    user_agent: str  # What it would call itself.
    least_seconds: float  # Time that the seeds take by `crawl.delay` alone: that of the host with the most.


def plan_crawl(seeds: Path, warehouse: Path, settings: Settings) -> CrawlPlan:
    """What `quern crawl` would begin with; robots.txt, sitemaps and the addresses of hosts are asked for by it alone.

    Raises:
        CrawlError: There is no contact or no seed, or a setting cannot be used.
    """
    check_settings(settings.crawl)
    addresses = read_seeds(seeds, settings.crawl)
    begun = unfinished(warehouse, addresses, settings.crawl)
    workers = begun.read_plan().workers if begun else worker_count(addresses, settings)
    memory = Memory(crawl_folder(warehouse, "").memory)
    hosts = Counter(address.host for address in addresses)
    return CrawlPlan(
        seeds=len(addresses),
        hosts=dict(hosts.most_common()),
        known=sum(settings.crawl.conditional and memory.known(address.key) is not None for address in addresses),
        goes_on=begun.read_plan().crawl_id if begun else None,
        engine=engine_of(settings, workers),
        workers=workers,
        user_agent=user_agent(settings.crawl),
        least_seconds=round((max(hosts.values()) - 1) * settings.crawl.delay, 1),
    )
