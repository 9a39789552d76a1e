"""The state of one crawl process: which addresses it takes in, what it has made of them, and how that is saved."""

from __future__ import annotations

import json
import logging
import os
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, NoReturn

from quern.indexes.disk import exit_code
from quern.jobs.crawl.archive import Archive
from quern.jobs.crawl.frontier import Entry, Frontier, Kind, State
from quern.jobs.crawl.memory import Memory
from quern.jobs.crawl.plan import CrawlFolder, Plan, Status, write_message
from quern.jobs.crawl.urls import Address, BadAddressError, Scope, parse_address, trap, worker_of

log = logging.getLogger(__name__)

# Refusals that may lose a page unasked; the others say that a link leads elsewhere, or where the crawl was to end.
_LOSING: Final = frozenset({"url_too_long", "path_too_deep", "path_repeats", "queries_per_path"})


class CrawlState:
    """What one process knows, and the rules by which it takes addresses in.

    Attributes:
        settings: Settings of the crawl.
        frontier: Its addresses.
        archive: Its WARC files.
        memory: What earlier crawls know.
        quota: Pages that it may have fetched before it ends; 0 for no limit.
        close_reason: Why Scrapy closed the spider.
        closing: Whether this process fetches no more: what others hand over then waits for the next one.
    """

    def __init__(self, folder: CrawlFolder, number: int, quota: int) -> None:
        self.folder = folder
        self.plan: Plan = folder.read_plan()
        self.number = number
        self.quota = quota
        self.close_reason = ""
        self.closing = False
        self.settings = self.plan.settings
        self.frontier = Frontier(folder.frontier(number))
        self.memory = Memory(folder.memory)
        about = {
            "software": self.plan.user_agent.split(" ")[0],
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "isPartOf": self.plan.crawl_id,
            "operator": self.settings.contact,
            "http-header-user-agent": self.plan.user_agent,
            "robots": "obey",
        }
        prefix = f"quern-{self.plan.crawl_id}-{self.number:03d}"
        self.archive = Archive(self.folder.warc, prefix, self.settings.warc_bytes, about)
        self.archive.resume(self.frontier.meta("warc_file"), int(self.frontier.meta("warc_bytes", "0")))
        # They were checked before.
        seeds = [self.parse(line) for line in folder.seeds.read_text("utf-8").splitlines() if line]
        self.scope = Scope(seeds, self.settings)
        if not self.frontier.meta("seeded"):
            for seed in seeds:
                if self._is_ours(seed.host):
                    self.frontier.add(seed, 0, 0, Kind.PAGE)
            self.frontier.set_meta("seeded", "yes")

    def _is_ours(self, host: str) -> bool:
        return worker_of(host, self.plan.workers) == self.number

    @property
    def fetched(self) -> int:
        """Pages fetched by this process in this crawl, those unchanged included."""
        return self.frontier.counts[State.FETCHED] + self.frontier.counts[State.UNCHANGED]

    def parse(self, url: str) -> Address:
        """The address `url`.

        Raises:
            BadAddressError: It is none.
        """
        return parse_address(url, self.settings.session_parameters)

    # ---- taking addresses in

    def follow(self, urls: Iterable[str], depth: int, kind: Kind = Kind.PAGE, hops: int = 0) -> set[str]:
        """Queue addresses within the limits, count the others by reason; returns our hosts that got new ones."""
        hosts: set[str] = set()
        for url in urls:
            try:
                address = self.parse(url)
            except BadAddressError as error:
                self.frontier.refuse(error.reason, "")
                continue
            reason = self.refusal(address, kind)
            if reason is None and (address.query or depth > self.settings.max_depth):
                if self.frontier.knows(address):
                    continue
                if depth > self.settings.max_depth:
                    reason = "max_depth"
                elif not self.frontier.count_variant(address, self.settings.queries_per_path):
                    reason = "queries_per_path"
            if reason is not None:
                detail = address.url[:2000] if reason in _LOSING else ""
                self.frontier.refuse(reason, address.host, detail, f"not followed: crawl.{reason}" if detail else "")
                continue
            ours = self._is_ours(address.host)
            if self.frontier.add(address, depth, hops, kind, foreign=not ours) and ours:
                hosts.add(address.host)
        return hosts

    def refusal(self, address: Address, kind: Kind = Kind.PAGE) -> str | None:
        """Why an address is not followed; null if it is."""
        reason = self.scope.refuses(address) or trap(address, self.settings)
        # A sitemap may be compressed, and may lie outside the folder that a crawl keeps to.
        page = kind is Kind.PAGE and self.plan.accepts == "pages"
        return None if reason == "extension" and not page else reason

    def lose(self, entry: Entry, reason: str, detail: str) -> None:
        """Settle an address that gave no page, with a reject."""
        self.frontier.settle(entry, State.LOST)
        self.frontier.reject(entry.url, reason, detail)

    # ---- saving

    def save(self) -> set[str]:
        """Bring everything to the disk: first the archive, then the frontier; exchange addresses with the others.

        Returns:
            Hosts of ours that got new addresses.
        """
        hosts: set[str] = set()
        messages = [] if self.closing else self.folder.to_hand_over(self.number)
        for path in messages:
            for url, depth, hops, kind in json.loads(path.read_text("utf-8")):
                hosts |= self.follow([url], depth, Kind(kind), hops)
        entries = self.frontier.foreign()
        boxes: dict[int, list[list[Any]]] = defaultdict(list)
        for entry in entries:
            row = [entry.url, entry.depth, entry.hops, int(entry.kind)]
            boxes[worker_of(entry.host, self.plan.workers)].append(row)
        for receiver, rows in boxes.items():
            write_message(self.folder, self.number, receiver, time.time_ns(), rows)
        self.frontier.mark_handed_over(entry.id for entry in entries)
        self.archive.flush()
        self.frontier.set_meta("warc_file", self.archive.file)
        self.frontier.set_meta("warc_bytes", self.archive.size)
        self.frontier.commit()
        for path in messages:
            path.unlink(missing_ok=True)
        return hosts

    def status(self, ended: str = "") -> Status:
        """What this process says of itself."""
        counts = self.frontier.counts
        return Status(
            fetched=counts[State.FETCHED],
            unchanged=counts[State.UNCHANGED],
            queued=counts[State.QUEUED],
            lost=counts[State.LOST],
            ended=ended,
        )

    def close(self) -> None:
        """Save and close."""
        self.save()
        self.archive.close()
        self.frontier.close()


def end_process(error: BaseException) -> NoReturn:
    """End this process at once after a fault of the machine: what was not saved is fetched again by the next one."""
    log.critical("the crawl process ends: %s: %s", type(error).__name__, error)
    with suppress(OSError):  # The log may lie on the disk that is full.
        logging.shutdown()
    os._exit(exit_code(error))
