"""Crawling into a warehouse: plan, fetch, archive, and then the pages into the page store.

    WAREHOUSE/warc/CRAWL_ID/*.warc.gz                 what was fetched
    WAREHOUSE/crawl/reports/CRAWL_ID.json             the report, with settings
    WAREHOUSE/crawl/reports/CRAWL_ID.rejects.parquet  what was lost: rows of `rejects`, job `crawl`, the address as key
    WAREHOUSE/crawl/CRAWL_ID/                         frontiers of a crawl under way; gone when it is done
    WAREHOUSE/crawl/memory.sqlite                     validators and links of pages fetched before

A crawl that was interrupted or killed goes on when it is started again with the same seeds.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, Field

from quern.indexes.catalog import Warehouse, new_build_id
from quern.indexes.checksums import ChecksummedFile, DamagedError, write_sealed
from quern.indexes.storage import exclusive, write_text, write_whole
from quern.jobs.crawl.fleet import CrawlError, run_fleet
from quern.jobs.crawl.frontier import refusal_counts, reject_rows
from quern.jobs.crawl.memory import is_damage, remember
from quern.jobs.crawl.plan import CrawlFolder, Plan, Status
from quern.jobs.crawl.urls import Address, AddressGuard, BadAddressError, parse_address, split_target
from quern.jobs.engines import core_count
from quern.pipelines.pages.ingest import add_pages
from quern.pipelines.pages.store import ROWS, CrawlFiles
from quern.schemas.extras import require
from quern.schemas.settings import CrawlSettings, Settings
from quern.schemas.tables import REJECTS
from quern.schemas.version import VERSION

log = logging.getLogger(__name__)

JOB = "crawl"


class CrawlReport(BaseModel):
    """What one crawl did."""

    crawl_id: str  # Its name.
    ended: str  # Why it ended: `finished`, or the setting whose limit was reached.
    fetched: int  # Pages archived.
    unchanged: int  # Pages that the server said are as they were.
    queued: int  # Addresses that were left in the queue.
    lost: dict[str, int]  # Addresses that gave no page, by reason: rows of `rejects`.
    not_followed: dict[str, int]  # Links that were not followed, by reason.
    seconds: float  # Time since it was started, for the last time.
    files: list[str]  # WARC files.
    warc_bytes: int  # Their size.
    pages: int = 0  # Pages that the page store read from them.
    settings: CrawlSettings = Field(default_factory=CrawlSettings)
    rejects_checksum: str = ""  # Checksum of the file of what was lost.

    def line(self) -> str:
        """The report as key=value pairs."""
        return (
            f"job=crawl crawl={self.crawl_id} ended={self.ended} fetched={self.fetched} unchanged={self.unchanged} "
            f"lost={sum(self.lost.values())} queued={self.queued} seconds={self.seconds:.1f}"
        )


def crawl(seeds: Path, warehouse: Warehouse, settings: Settings) -> CrawlReport:
    """Crawl from the addresses in the file `seeds`, one a line, and add the pages to the page store.

    Raises:
        CrawlError: There is no contact or no seed, a setting cannot be used, or another crawl is running.
        EngineError: Ray does not start.
        DamagedError: What is known of a crawl that was stopped is not as it was written.
    """
    check_settings(settings.crawl)
    addresses = read_seeds(seeds, settings.crawl)
    crawls = warehouse.root / "crawl"
    crawls.mkdir(parents=True, exist_ok=True)
    busy = CrawlError(f"another crawl is writing to {warehouse.root}; wait for it or stop it")
    with exclusive(crawls / "crawl.lock", busy):
        # Remove the folders of crawls that were killed before they had a plan, or when they had none any more.
        for path in crawls.glob("[0-9]*"):
            if not crawl_folder(warehouse.root, path.name).plan.exists():
                log.info("crawl=%s was killed without a plan to go on by: its folder goes", path.name)
                shutil.rmtree(path)
        folder = _folder(warehouse, addresses, settings)
        plan = folder.read_plan()
        engine = engine_of(settings, plan.workers)
        log.info("crawl=%s engine=%s processes=%d seeds=%d", plan.crawl_id, engine, plan.workers, len(addresses))
        ended = run_fleet(folder, plan.workers, engine, settings.engine, _Progress())
        try:
            report = _finish(folder, plan, ended, warehouse, settings)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            raise DamagedError(folder.root, str(error), folder.mend) from error
    log.info("%s", report.line())
    return report


def check_settings(settings: CrawlSettings) -> None:
    """Refuse settings that a crawl cannot be run with.

    Raises:
        CrawlError: It says which and why.
        MissingExtraError: What fetches pages is not installed.
    """
    for module in ("scrapy", "warcio"):
        require(module, "fetching pages")
    contact = settings.contact.strip()
    if not contact.isprintable() or not (contact.startswith(("http://", "https://")) or "@" in contact[1:-1]):
        raise CrawlError(
            "crawl.contact must be an e-mail address or a web page that site owners can turn to; nothing was fetched: "
            "--set crawl.contact=crawler@your-organisation.example"
        )
    try:
        AddressGuard(settings.allow_private)
    except ValueError as error:
        raise CrawlError(f"crawl.allow_private: {error}; name a network like 10.1.0.0/16") from None
    for host, target in settings.connect_to.items():
        try:
            split_target(target)
        except ValueError as error:
            raise CrawlError(f"crawl.connect_to: {host}: {error}; write IP:PORT") from None


def user_agent(settings: CrawlSettings) -> str:
    """What the crawler calls itself."""
    contact = quote(settings.contact.strip(), safe=" !#$%&'()*+,/:;=?@[]~")  # A header is ASCII.
    return f"Quern/{VERSION} (+{contact})"


def read_seeds(path: Path, settings: CrawlSettings) -> list[Address]:
    """The addresses of a file, one a line; empty lines and those that begin with # are skipped.

    Raises:
        CrawlError: The file cannot be read, a line is no address, or there is none.
    """
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CrawlError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    addresses: dict[bytes, Address] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            try:
                address = parse_address(text, settings.session_parameters)
            except BadAddressError as error:
                raise CrawlError(f"{path}, line {number}: {error}; write addresses like https://host/path") from None
            addresses.setdefault(address.key, address)
    if not addresses:
        raise CrawlError(f"{path} names no address; write one a line, like https://host/path")
    return list(addresses.values())


def engine_of(settings: Settings, workers: int) -> str:
    """What runs so many processes: `local` or `ray`.

    Raises:
        CrawlError: The settings name an engine that runs no crawl.
    """
    engine = settings.engine.engine
    if engine == "spark":
        raise CrawlError("a crawl runs on Ray or locally: --engine ray or local")
    return "ray" if workers > 1 and (engine == "ray" or settings.engine.ray_address) else "local"


def _folder(warehouse: Warehouse, seeds: Sequence[Address], settings: Settings) -> CrawlFolder:
    """The folder of the crawl that was begun with these seeds and not finished, or of a new one."""
    agent, now = user_agent(settings.crawl), time.time()
    begun = unfinished(warehouse.root, seeds, settings.crawl)
    if begun is not None:
        plan = begun.read_plan()
        begun.see_that_it_can_go_on()
        log.info("crawl=%s goes on", plan.crawl_id)
        changed = {"settings": settings.crawl, "user_agent": agent, "started_at": now}
        begun.write_plan(plan.model_copy(update=changed))
        return begun
    crawl_id = new_build_id()
    folder = crawl_folder(warehouse.root, crawl_id)
    folder.warc.mkdir(parents=True)
    write_text(folder.seeds, "".join(f"{seed.url}\n" for seed in seeds))
    plan = Plan(
        crawl_id=crawl_id,
        seeds=_digest(seeds, settings.crawl),
        workers=worker_count(seeds, settings),
        user_agent=agent,
        started_at=now,
        settings=settings.crawl,
    )
    folder.write_plan(plan)
    return folder


def unfinished(root: Path, seeds: Sequence[Address], settings: CrawlSettings) -> CrawlFolder | None:
    """The folder of the crawl in the warehouse at `root` that was begun with these seeds and did not end."""
    digest = _digest(seeds, settings)
    begun = (crawl_folder(root, path.parent.name) for path in sorted((root / "crawl").glob("*/plan.json")))
    return next((folder for folder in begun if folder.read_plan().seeds == digest), None)


def worker_count(seeds: Sequence[Address], settings: Settings) -> int:
    """Processes of a new crawl: a host is one's alone."""
    hosts = len({seed.host for seed in seeds})
    return settings.crawl.workers or min(hosts, core_count(settings.engine))


def crawl_folder(root: Path, crawl_id: str) -> CrawlFolder:
    """Where the crawl `crawl_id` of the warehouse at `root` keeps what."""
    return CrawlFolder(root / "crawl" / crawl_id, root / "warc" / crawl_id, root / "crawl" / "memory.sqlite")


def _digest(seeds: Sequence[Address], settings: CrawlSettings) -> str:
    parts = [settings.scope, str(settings.sitemaps), *sorted(seed.url for seed in seeds)]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


class _Progress:
    """Logs every half minute how the crawl stands."""

    def __init__(self) -> None:
        self._started = self._logged = time.monotonic()
        self._before: int | None = None

    def __call__(self, statuses: list[Status]) -> None:
        """Note how the processes stand."""
        now, fetched = time.monotonic(), sum(s.fetched + s.unchanged for s in statuses)
        if self._before is None:
            self._before = fetched
        if now - self._logged < 30.0:
            return
        self._logged = now
        rate = (fetched - self._before) / (now - self._started)
        queued, lost = sum(s.queued for s in statuses), sum(s.lost for s in statuses)
        log.info("job=crawl fetched=%d queued=%d lost=%d pages_per_second=%.1f", fetched, queued, lost, rate)


def _finish(folder: CrawlFolder, plan: Plan, ended: str, warehouse: Warehouse, settings: Settings) -> CrawlReport:
    """Report, rejects and memory of a crawl that is over, then its pages; each step may be done again."""
    frontiers = [path for n in range(plan.workers) if (path := folder.frontier(n)).exists()]
    statuses = [folder.read_status(n) for n in range(plan.workers)]
    paths = CrawlFiles(warehouse.root / "crawl" / "reports", plan.crawl_id)
    lost, checksum = _write_rejects(paths.rejects, frontiers, plan.crawl_id)
    refused: Counter[str] = Counter()
    for path in frontiers:
        refused.update(refusal_counts(path))
    files = sorted(folder.warc.glob("*.warc.gz"))
    report = CrawlReport(
        crawl_id=plan.crawl_id,
        ended=ended,
        fetched=sum(s.fetched for s in statuses),
        unchanged=sum(s.unchanged for s in statuses),
        queued=sum(s.queued for s in statuses),
        lost=dict(sorted(lost.items())),
        not_followed=dict(sorted(refused.items())),
        seconds=round(time.time() - plan.started_at, 1),
        files=[path.name for path in files],
        warc_bytes=sum(path.stat().st_size for path in files),
        settings=plan.settings,
        rejects_checksum=checksum,
    )
    if files:  # without a page fetched they may still tell of pages that are there, or are there no more
        report.pages = add_pages(warehouse, files, settings).pages
    write_sealed(paths.report, report.model_dump(mode="json"))
    remember(folder.memory, frontiers)
    folder.plan.unlink()  # first: without its frontier, a plan would begin the crawl anew
    shutil.rmtree(folder.root)
    return report


def _write_rejects(path: Path, frontiers: Sequence[Path], crawl_id: str) -> tuple[Counter[str], str]:
    """Write the rejects of all processes as rows of `REJECTS`; returns how many by reason, and the checksum."""
    counts: Counter[str] = Counter()
    checksums: list[str] = []

    def write(temporary: Path) -> None:
        file = ChecksummedFile(temporary)
        with closing(file), pq.ParquetWriter(file, REJECTS.schema, compression="zstd") as writer:
            for frontier in frontiers:
                rejects = reject_rows(frontier)
                while rows := list(islice(rejects, ROWS)):
                    counts.update(reason for _, reason, _ in rows)
                    records = [
                        {"job": JOB, "key": key, "reason": reason, "detail": detail, "build_id": crawl_id}
                        for key, reason, detail in rows
                    ]
                    writer.write_batch(pa.RecordBatch.from_pylist(records, schema=REJECTS.schema))
        checksums.append(file.checksum)

    write_whole(path, write)
    return counts, checksums[0]
