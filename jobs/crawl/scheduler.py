"""The order of a crawl: which host is asked next, and when. A Scrapy scheduler over the frontier on disk.

A host is due when its delay has passed (crawl.delay, its robots.txt, AutoThrottle, Retry-After) and it has a free
connection; due hosts take turns. So a slow host never holds a place that another could use, and Scrapy's own
per-host slots, which keep the same delays, never queue. robots.txt comes before the first page of an origin.

Memory: about 1 kB a host with queued pages, and its next 64 addresses while it is being asked.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler

from quern.jobs.crawl.frontier import Entry, Kind, State
from quern.jobs.crawl.robots import RobotsPolicy
from quern.jobs.crawl.urls import Address

if TYPE_CHECKING:
    from quern.jobs.crawl.state import CrawlState


@dataclass
class HostQueue:
    """What is known of one host while it has pages to fetch."""

    name: str  # Host name.
    fetched: int  # Pages fetched, in this crawl.
    due: float = 0.0  # Monotonic time before which it is not asked.
    active: int = 0  # Requests in flight, all kinds.
    active_pages: int = 0  # Pages in flight.
    failures: int = 0  # Pages lost in a row.
    crawl_delay: float = 0.0  # Seconds that its robots.txt asks for.
    pending: deque[Entry] = field(default_factory=deque)  # Next addresses.
    # Heap of (monotonic time, order, address) of those to be asked again.
    retries: list[tuple[float, int, Entry]] = field(default_factory=list)
    urgent: deque[Request] = field(default_factory=deque)  # Requests for robots.txt.
    awaiting: set[str] = field(default_factory=set)  # Origins whose robots.txt is on the way.
    last_id: int = 0  # Last id read from the frontier.
    listed: bool = False  # Whether it stands in the scheduler's heap.


class FrontierScheduler(BaseScheduler):  # type: ignore[misc]
    """Hands out requests of due hosts, within the limits of the crawl."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._hosts: dict[str, HostQueue] = {}
        self._heap: list[tuple[float, int, HostQueue]] = []
        self._order = itertools.count()
        self._policies: OrderedDict[str, RobotsPolicy] = OrderedDict()
        self._wake_at = 0.0
        self._active = 0
        self._active_pages = 0
        self.stopped = False

    @classmethod
    def from_crawler(cls, crawler: Any) -> FrontierScheduler:
        """The scheduler of `crawler`."""
        return cls(crawler)

    def open(self, spider: Any) -> None:
        """Begin with the hosts that have queued pages."""
        self._state: CrawlState = spider.state
        self._spider = spider
        self._settings = spider.state.settings
        spider.scheduler = self
        self.wake(self._state.frontier.queued_hosts())

    def close(self, reason: str) -> None:
        """Nothing is held here: the frontier is saved by the spider."""

    def has_pending_requests(self) -> bool:
        """Whether anything can still be fetched."""
        return self._active > 0 or (not self.stopped and bool(self._heap) and not self._quota_met())

    def _quota_met(self) -> bool:
        quota = self._state.quota
        return 0 < quota <= self._state.fetched + self._active_pages

    # ---- hosts

    def wake(self, hosts: Iterable[str]) -> None:
        """Look at `hosts` again: they have new addresses."""
        for name in hosts:
            host = self._hosts.get(name)
            if host is None:
                host = self._hosts[name] = HostQueue(name, self._state.frontier.fetched_of(name))
            self._list(host)

    def _list(self, host: HostQueue) -> None:
        """Put `host` into the heap, if it has something to ask and may."""
        if host.listed or host.active >= self._settings.per_host:
            return
        if not host.urgent and host.fetched + host.active_pages >= self._settings.pages_per_host:
            return
        at = host.due
        if not host.urgent and not self._refilled(host):
            if not host.retries or host.awaiting:
                idle = not (host.active or host.awaiting or host.retries or host.urgent)
                # One that was never due again keeps no delay; its count of pages is in the frontier.
                if idle and host.due <= time.monotonic():
                    self._hosts.pop(host.name, None)
                return
            at = max(at, host.retries[0][0])
        host.listed = True
        heapq.heappush(self._heap, (at, next(self._order), host))

    def _refilled(self, host: HostQueue) -> bool:
        """Whether `host` has a next address, and may be asked for it."""
        if host.awaiting:
            return False
        if not host.pending:
            host.pending.extend(self._state.frontier.queue(host.name, host.last_id, most=64))
            waiting = {entry.id for _, _, entry in host.retries}
            if host.pending:
                host.last_id = host.pending[-1].id
                host.pending = deque(e for e in host.pending if e.id not in waiting)
        return bool(host.pending)

    # ---- requests

    def next_request(self) -> Request | None:
        """The next request of a due host; None if none is due."""
        now = time.monotonic()
        if self.stopped or self._quota_met():
            return None  # a page in flight may yet fail and leave room; the engine asks again when it is back
        while self._heap and self._heap[0][0] <= now:
            host = heapq.heappop(self._heap)[2]
            host.listed = False
            request = self._request_of(host, now)
            if request is not None:
                self._active += 1
                host.active += 1
                slot = self._crawler.engine.downloader.slots.get(host.name)
                delay: float = max(slot.delay if slot else self._settings.delay, host.crawl_delay)
                if slot:
                    slot.delay = delay
                host.due = now + delay
            self._list(host)
            if request is not None:
                return request
        if self._heap and not now < self._wake_at <= self._heap[0][0]:
            self._wake_at = self._heap[0][0]

            from twisted.internet import reactor

            def ask_again() -> None:
                slot = self._crawler.engine._slot  # Scrapy has no public call for "look at the scheduler now".
                if slot is not None and not slot.closing:
                    slot.nextcall.schedule()

            reactor.callLater(max(0.0, self._wake_at - now), ask_again)
        return None

    def _request_of(self, host: HostQueue, now: float) -> Request | None:
        if host.urgent:
            return host.urgent.popleft()
        while True:
            if host.retries and host.retries[0][0] <= now and not host.awaiting:
                entry = heapq.heappop(host.retries)[2]
            elif self._refilled(host):
                entry = host.pending.popleft()
            else:
                return None
            address = self._state.parse(entry.url)
            policy = self._policies.get(address.origin)
            if policy is None:
                # RFC 9309, section 2.4: not from a cache for more than a day.
                stored = self._state.frontier.robots(address.origin, time.time() - 86_400)
                if stored is None:
                    host.pending.appendleft(entry)
                    host.awaiting.add(address.origin)
                    return self._spider.robots_request(address.origin, host.name)
                policy = self._policies[address.origin] = RobotsPolicy(*stored, origin=address.origin)
                if len(self._policies) > 20_000:
                    self._policies.popitem(last=False)
            if self._admits(entry, address, policy, host):
                if entry.kind is Kind.PAGE:
                    host.active_pages += 1
                    self._active_pages += 1
                return self._spider.entry_request(entry, host.crawl_delay)

    def _admits(self, entry: Entry, address: Address, policy: RobotsPolicy, host: HostQueue) -> bool:
        """Whether the rules let `entry` be fetched; settles it if not."""
        frontier = self._state.frontier
        if policy.failure:
            reason, _, detail = policy.failure.partition(": ")
            self._state.lose(entry, reason, detail)
        elif host.failures >= self._settings.host_failures:
            lost = f"{host.failures} pages of {host.name} in a row were lost (crawl.host_failures)"
            self._state.lose(entry, "host_given_up", lost)
        elif not policy.allows(address.url):
            frontier.settle(entry, State.DENIED)
            frontier.refuse("robots_denied", address.host)
        elif policy.crawl_delay > self._settings.max_crawl_delay:
            message = f"robots.txt asks for {policy.crawl_delay:g} s between pages (crawl.max_crawl_delay)"
            self._state.lose(entry, "crawl_delay", message)
        else:
            host.crawl_delay = max(host.crawl_delay, policy.crawl_delay)
            return True
        return False

    def enqueue_request(self, request: Request) -> bool:
        """Take back a request that Scrapy's retry middleware wants to be made again."""
        host = self._hosts[request.meta["host"]]
        wait = self._spider.retry_wait(request)
        entry: Entry | None = request.meta.get("entry")
        if entry is None or request.meta.get("pauses"):
            self.pause(host.name, wait)
        if entry is None:
            host.urgent.append(request)
        else:
            self._state.frontier.count_attempt(entry)
            again = replace(entry, attempts=entry.attempts + 1)
            heapq.heappush(host.retries, (time.monotonic() + wait, next(self._order), again))
        self.left(request, host.name)
        return True

    def ask_first(self, request: Request) -> None:
        """Make a request before all others of its host."""
        self._hosts[request.meta["host"]].urgent.append(request)

    def pause(self, name: str, seconds: float) -> None:
        """Leave a host alone for some time."""
        host = self._hosts[name]
        host.due = max(host.due, time.monotonic() + seconds)

    def left(self, request: Request, name: str) -> None:
        """Remember that `request` is no longer in flight."""
        host = self._hosts[name]
        self._active -= 1
        host.active -= 1
        entry: Entry | None = request.meta.get("entry")
        if entry is not None and entry.kind is Kind.PAGE:
            host.active_pages -= 1
            self._active_pages -= 1
        self._list(host)

    def fetched(self, name: str, *, page: bool) -> None:
        """Count an answer of a host; `page` if it was one to keep."""
        host = self._hosts[name]
        host.failures = 0
        host.fetched += page

    def failed(self, name: str) -> None:
        """Count a page that was lost because its host did not answer."""
        self._hosts[name].failures += 1

    def robots_known(self, name: str, origin: str) -> None:
        """Go on with a host whose robots.txt was awaited."""
        self._hosts[name].awaiting.discard(origin)
        self._policies.pop(origin, None)
