"""The spider: what a crawl makes of each answer. Every address handed out is settled here exactly once.

Redirects are links of the frontier here, not of Scrapy's redirect middleware: a target may belong to another crawl
process, needs its own robots rules, and must be remembered over a kill.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from scrapy import Request, Spider, signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DontCloseSpider,
    DownloadCancelledError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    StopDownload,
)

from quern.jobs.crawl.archive import Exchange, Headers
from quern.jobs.crawl.download import PAUSING, ForbiddenAddressError, refused_address
from quern.jobs.crawl.frontier import Entry, Kind, State
from quern.jobs.crawl.links import PageLinks, directives, page_links
from quern.jobs.crawl.memory import Known
from quern.jobs.crawl.robots import INDEX_DEPTH, RobotsPolicy, SitemapError, SitemapLinks, read_sitemap
from quern.jobs.crawl.state import end_process
from quern.jobs.crawl.urls import Address, BadAddressError, joined
from quern.jobs.pages.formats.http_messages import content_type

if TYPE_CHECKING:
    from quern.jobs.crawl.scheduler import FrontierScheduler
    from quern.jobs.crawl.state import CrawlState

log = logging.getLogger(__name__)

_FLUSH_BYTES: Final = 16 << 20
_NONE: Final = {"pages": "no page", "images": "no picture"}
_HTML: Final = ("text/html", "application/xhtml+xml")
_GONE: Final = frozenset({404, 410})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class PageSpider(Spider):  # type: ignore[misc]
    """Makes requests of frontier entries, and archive records, links and rejects of their answers."""

    name = "quern"
    scheduler: FrontierScheduler

    def __init__(self, state: CrawlState, **named: Any) -> None:
        super().__init__(**named)
        self.state = state
        self.limits = state.settings

    @classmethod
    def from_crawler(cls, crawler: Any, *arguments: Any, **named: Any) -> PageSpider:
        """The spider, connected to the signals it needs."""
        spider: PageSpider = super().from_crawler(crawler, *arguments, **named)
        crawler.signals.connect(spider.on_headers, signals.headers_received)
        crawler.signals.connect(spider.on_idle, signals.spider_idle)
        return spider

    def closed(self, reason: str) -> None:
        """Remember why Scrapy closed the spider."""
        self.state.close_reason = reason

    def on_idle(self) -> None:
        """Stay open while other processes hand addresses over."""
        self.save()
        if self.scheduler.has_pending_requests():
            raise DontCloseSpider
        self.state.closing = True

    def save(self) -> None:
        """Save what was fetched, and take in what others found."""
        self.scheduler.wake(self.state.save())

    # ---- requests

    def robots_request(self, origin: str, host: str, url: str = "", hops: int = 0) -> Request:
        """The request for an origin's robots.txt, or for where it was redirected to."""
        meta = {"host": host, "origin": origin, "hops": hops, "download_slot": host}
        return Request(url or f"{origin}/robots.txt", self.on_robots, errback=self.on_robots_failure, meta=meta)

    def entry_request(self, entry: Entry, crawl_delay: float) -> Request:
        """The request for a page or sitemap: conditional where it was fetched before."""
        meta = {"host": entry.host, "entry": entry, "download_slot": entry.host, "retry_times": entry.attempts}
        if crawl_delay:
            meta["autothrottle_dont_adjust_delay"] = True
        headers = {}
        if entry.kind is not Kind.PAGE:
            meta["download_maxsize"] = self.limits.sitemap_bytes
        elif known := self.state.memory.known(entry.key):
            meta["known"] = known
            if self.limits.conditional:
                validators = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
                headers = {name: value for name, value in validators.items() if value}
            meta["conditional"] = bool(headers)
        answer = self.on_page if entry.kind is Kind.PAGE else self.on_sitemap
        return Request(entry.url, answer, errback=self.on_failure, meta=meta, headers=headers)

    def retry_wait(self, request: Request) -> float:
        """Seconds before `request` is made again."""
        seconds = request.meta.get("retry_after")
        if seconds is not None:
            return float(min(seconds, self.limits.max_retry_after))
        doublings = min(request.meta.get("retry_times", 1) - 1, 8)
        return float(self.limits.retry_delay * 2**doublings)

    def on_headers(self, headers: Any, request: Request) -> None:
        """Stop a download whose header says that it is not what is looked for."""
        entry: Entry | None = request.meta.get("entry")
        kind = _content_type(headers)[0]
        if entry is None or entry.kind is not Kind.PAGE or not kind:
            return
        # A drawing may hold scripts, and is no picture.
        picture = kind.startswith("image/") and not kind.startswith("image/svg")
        if not (picture if self.state.plan.accepts == "images" else kind in _HTML):
            raise StopDownload(fail=False)

    @contextmanager
    def _contain(self, request: Request, lose: Callable[[str], None]) -> Iterator[None]:
        """Pass what goes wrong with an answer on to `lose`: whatever one page does, the others must come through.

        A fault of the machine is none of the page, and ends the process.
        """
        try:
            yield
        except (OSError, MemoryError, sqlite3.Error) as error:
            end_process(error)
        except Exception as error:  # noqa: BLE001 - a page may break any part
            log.warning("url=%s error=%r", request.url, error)
            lose(f"{type(error).__name__}: {error}")

    # ---- robots.txt

    def on_robots(self, response: Any) -> None:
        """Keep the rules of an origin (RFC 9309, section 2.3.1)."""
        request, meta, status = response.request, response.meta, response.status
        with self._contain(request, lambda why: self._keep_rules(request, b"", f"crawl_failed: robots.txt: {why}")):
            if status in _REDIRECTS and meta["hops"] < self.limits.max_redirects:
                target = self._target(response)
                if target is not None and self.state.scope.permits_port(target.port):
                    again = self.robots_request(meta["origin"], meta["host"], target.url, meta["hops"] + 1)
                    self.scheduler.ask_first(again)
                    self.scheduler.left(request, meta["host"])
                    return
            failure = ""
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
                failure = f"robots_unreachable: robots.txt was answered with status {status}"
            self._keep_rules(request, response.body if status == HTTPStatus.OK else b"", failure)

    def on_robots_failure(self, failure: Any) -> None:
        """An origin whose robots.txt cannot be had is not crawled."""
        # Of the host that was asked, which a redirect may have made another.
        host = urlsplit(failure.request.url).hostname or failure.request.meta["host"]
        reason, detail = fault(failure.value, host)
        self._keep_rules(failure.request, b"", f"{reason}: robots.txt: {detail}")

    def _keep_rules(self, request: Request, body: bytes, failure: str) -> None:
        origin, host = request.meta["origin"], request.meta["host"]
        self.state.frontier.keep_robots(origin, body, failure)
        self.scheduler.robots_known(host, origin)
        if self.limits.sitemaps and not failure:
            sitemaps = RobotsPolicy(body, origin=origin).sitemaps
            self._add_sitemaps(sitemaps, host, 0)
            self.scheduler.wake(self.state.follow([f"{origin}/sitemap.xml"], 0, Kind.GUESS))
        self.scheduler.left(request, host)

    # ---- pages

    def on_page(self, response: Any) -> None:
        """Settle a page that was answered."""
        entry: Entry = response.meta["entry"]
        with self._contain(response.request, lambda why: self.state.lose(entry, "crawl_failed", why)):
            self._page(entry, response)
        self.scheduler.left(response.request, entry.host)
        if self.state.archive.pending > _FLUSH_BYTES:
            self.save()

    def _page(self, entry: Entry, response: Any) -> None:
        status = response.status
        raw = response.meta.pop("raw", response)
        known: Known | None = response.meta.get("known")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in PAUSING:
            self.scheduler.failed(entry.host)
            if status in PAUSING:
                self.scheduler.pause(entry.host, self.retry_wait(response.request))
        else:
            self.scheduler.fetched(entry.host, page=status in (HTTPStatus.OK, HTTPStatus.NOT_MODIFIED))
        if status == HTTPStatus.NOT_MODIFIED and known is not None and response.meta["conditional"]:
            self.state.archive.write(exchange(response.request, raw), known)
            self.state.frontier.keep_page(known)
            self.state.frontier.settle(entry, State.UNCHANGED)
            self.scheduler.wake(self.state.follow(known.links, entry.depth + 1))
        elif status in _REDIRECTS and response.headers.get("Location"):
            self._redirected(entry, response)
        elif status != HTTPStatus.OK:
            if known is not None and status in _GONE:
                # Its record is what tells the page store that the page fetched before is there no more.
                self.state.archive.write(exchange(response.request, raw))
            self.state.lose(entry, "http_status", f"status {status}")
        elif "download_stopped" in response.flags:
            kind = _content_type(response.headers)[0][:100]
            self.state.lose(entry, "content_type", f"{kind} is {_NONE[self.state.plan.accepts]}")
        else:
            self._fetched(entry, response, raw)

    def _fetched(self, entry: Entry, response: Any, raw: Any) -> None:
        url, charset = self.state.parse(entry.url).url, _content_type(response.headers)[1]
        pages, frontier = self.state.plan.accepts == "pages", self.state.frontier
        page = page_links(response.body, url, charset) if pages else PageLinks()
        rules = page.directives | directives(v.decode("latin-1") for v in response.headers.getlist("X-Robots-Tag"))
        links = [] if "nofollow" in rules else page.links
        if "noindex" in rules:
            self.state.lose(entry, "noindex", "the page asks not to be indexed")
        else:
            written = self.state.archive.write(exchange(response.request, raw))
            sent = (raw.headers.get(name) for name in ("ETag", "Last-Modified"))
            etag, last_modified = (value.decode("latin-1") if value else None for value in sent)
            # Its links are needed when it is found unchanged, which only validators can tell.
            targets = tuple(links) if etag or last_modified else ()
            frontier.keep_page(Known(entry.key, entry.url, etag, last_modified, *written, targets))
            frontier.settle(entry, State.FETCHED)
        unfollowed = page.nofollow + len(page.links) - len(links)
        for reason, count in (("nofollow", unfollowed), ("malformed", page.malformed)):
            for _ in range(count):
                frontier.refuse(reason, entry.host)
        self.scheduler.wake(self.state.follow(links, entry.depth + 1))

    def _redirected(self, entry: Entry, response: Any) -> None:
        target = self._target(response)
        refused = self.state.refusal(target, entry.kind) if target else "malformed"
        if target is None or refused:
            where = target.url if target else response.headers.get("Location", b"").decode("latin-1")
            self.state.lose(entry, "redirect_refused", f"{refused}: leads to {where[:300]}")
        elif entry.hops >= self.limits.max_redirects:
            self.state.lose(entry, "too_many_redirects", f"{entry.hops + 1} in a row (crawl.max_redirects)")
        elif self.state.frontier.leads_to(target.key, entry.key, self.limits.max_redirects):
            self.state.lose(entry, "redirect_loop", f"leads to {target.url[:300]} and back")
        else:
            self.state.frontier.settle(entry, State.REDIRECTED, target)
            self.scheduler.wake(self.state.follow([target.url], entry.depth, entry.kind, entry.hops + 1))

    def _target(self, response: Any) -> Address | None:
        location = response.headers.get("Location", b"")
        try:
            text = location.decode("utf-8")
        except UnicodeDecodeError:
            text = location.decode("latin-1")
        try:
            return self.state.parse(urljoin(response.url, text.strip()))
        except (BadAddressError, ValueError):
            return None

    # ---- sitemaps

    def _add_sitemaps(self, urls: list[str], host: str, hops: int) -> None:
        name = f"sitemaps:{host}"
        count = int(self.state.frontier.meta(name, "0"))
        room = max(0, self.limits.sitemaps_per_host - count)
        for url in urls[room:]:
            self.state.frontier.refuse("sitemaps_per_host", host, url[:2000], "not read: crawl.sitemaps_per_host")
        self.state.frontier.set_meta(name, count + len(urls[:room]))
        self.scheduler.wake(self.state.follow(urls[:room], 0, Kind.SITEMAP, hops))

    def on_sitemap(self, response: Any) -> None:
        """Queue what a sitemap lists."""
        entry: Entry = response.meta["entry"]
        response.meta.pop("raw", None)
        with self._contain(response.request, lambda why: self.state.lose(entry, "crawl_failed", f"sitemap: {why}")):
            if response.status in _REDIRECTS and response.headers.get("Location"):
                self._redirected(entry, response)
            elif response.status != HTTPStatus.OK:
                self._no_sitemap(entry, "http_status", f"status {response.status}")
            else:
                try:
                    listed = read_sitemap(response.body, self.limits.sitemap_urls, self.limits.sitemap_bytes)
                except SitemapError as error:
                    self._no_sitemap(entry, error.reason, str(error))
                    listed = SitemapLinks()
                if listed.cut:
                    more = f"more than {self.limits.sitemap_urls} addresses (crawl.sitemap_urls)"
                    self.state.frontier.reject(entry.url, "sitemap_cut", more)
                if entry.hops < INDEX_DEPTH:
                    self._add_sitemaps([joined(entry.url, url) for url in listed.sitemaps], entry.host, entry.hops + 1)
                self.state.frontier.settle(entry, State.READ)
                self.scheduler.wake(self.state.follow((joined(entry.url, url) for url in listed.pages), 0))
        self.scheduler.left(response.request, entry.host)

    def _no_sitemap(self, entry: Entry, reason: str, detail: str) -> None:
        if entry.kind is Kind.GUESS:
            self.state.frontier.settle(entry, State.READ)
        else:
            self.state.lose(entry, reason, f"sitemap: {detail}")

    # ---- failures

    def on_failure(self, failure: Any) -> None:
        """Settle an address that gave no answer."""
        request = failure.request
        entry: Entry = request.meta["entry"]
        reason, detail = fault(failure.value, entry.host)
        if reason not in ("too_large", "content_encoding"):
            self.scheduler.failed(entry.host)
        self.state.lose(entry, reason, detail)
        self.scheduler.left(request, entry.host)


def fault(error: BaseException, host: str) -> tuple[str, str]:
    """Reason code and detail of a request that failed."""
    detail = f"{type(error).__name__}: {error}"[:400]
    refused = refused_address(host)
    if refused or isinstance(error, ForbiddenAddressError):
        return "private_address", f"{host} is at {refused or 'a private address'} (crawl.allow_private)"
    if isinstance(error, (DownloadCancelledError, IgnoreRequest)):
        return "too_large", "larger than crawl.max_page_bytes as received or decompressed"
    if isinstance(error, (EOFError, ValueError)) or type(error).__module__ in ("zlib", "gzip", "brotli"):
        return "content_encoding", detail
    reasons = {CannotResolveHostError: "dns", DownloadTimeoutError: "timeout", ResponseDataLossError: "truncated"}
    return next((reason for kind, reason in reasons.items() if isinstance(error, kind)), "connection"), detail


def exchange(request: Request, raw: Any) -> Exchange:
    """What went over the wire for `request`, of which `raw` is the undecoded response."""
    parts = urlsplit(request.url)
    path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    return Exchange(
        url=request.url,
        method_line=f"{request.method} {path} HTTP/1.1",
        request_headers=[("Host", parts.netloc), *_pairs(request.headers)],
        status=raw.status,
        protocol=raw.protocol or "HTTP/1.1",
        headers=_pairs(raw.headers),
        body=raw.body,
        ip_address=str(raw.ip_address) if raw.ip_address else "",
    )


def _pairs(headers: Any) -> Headers:
    return [(name.decode("latin-1"), v.decode("latin-1")) for name, values in headers.items() for v in values]


def _content_type(headers: Any) -> tuple[str, str | None]:
    return content_type((headers.get("Content-Type") or b"").decode("latin-1"))
