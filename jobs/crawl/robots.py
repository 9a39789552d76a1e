"""What a site tells crawlers beside its pages: robots.txt (RFC 9309, with crawl-delay), through Protego, and sitemaps.

A sitemap (sitemaps.org protocol) lists addresses as XML or as text, or is an index of more.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

import lxml.etree
from protego import Protego
from scrapy.utils.sitemap import Sitemap, sitemap_urls_from_robots

from quern.jobs.crawl.links import AGENT
from quern.jobs.crawl.urls import joined
from quern.jobs.pages.formats.http_messages import inflate
from quern.jobs.pages.formats.packed import GZIP_MAGIC
from quern.schemas.errors import RejectError

INDEX_DEPTH: Final = 3
# What must at least be read of a robots.txt (RFC 9309, section 2.5); the rest is ignored.
MOST_BYTES: Final = 512_000


class RobotsPolicy:
    """What one origin lets a crawler do.

    Attributes:
        failure: Why nothing may be fetched: robots.txt could not be had (RFC 9309, section 2.3.1.4). Empty otherwise.
        crawl_delay: Seconds between two requests that it asks for; 0 for none.
        sitemaps: Addresses of sitemaps that it names.
    """

    def __init__(self, body: bytes = b"", failure: str = "", origin: str = "") -> None:
        self.failure = failure
        text = body[:MOST_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
        self._rules = Protego.parse(text)
        delay = self._rules.crawl_delay(AGENT)
        rate = self._rules.request_rate(AGENT)
        self.crawl_delay = max(float(delay or 0), rate.seconds / rate.requests if rate and rate.requests else 0.0)
        # Joined here: Scrapy raises for the first address that is none, and with it a site could end the crawl.
        self.sitemaps = [joined(origin, url) for url in sitemap_urls_from_robots(body[:MOST_BYTES])]

    def allows(self, url: str) -> bool:
        """Whether `url` may be fetched."""
        return bool(self._rules.can_fetch(url, AGENT))


class SitemapError(RejectError):
    """A sitemap that cannot be read."""


@dataclass(frozen=True)
class SitemapLinks:
    """What a sitemap lists."""

    pages: tuple[str, ...] = ()  # Addresses of pages.
    sitemaps: tuple[str, ...] = ()  # Addresses of further sitemaps, of an index.
    cut: bool = False  # Whether there were more than the limit.


def read_sitemap(body: bytes, most_urls: int, most_bytes: int) -> SitemapLinks:
    """The first `most_urls` addresses of a sitemap; gzip is undone up to `most_bytes`.

    Raises:
        SitemapError: `too_large` or `not_a_sitemap`.
    """
    if body.startswith(GZIP_MAGIC):
        try:
            body = inflate(body, "gzip", most_bytes)
        except ValueError as error:
            raise SitemapError("not_a_sitemap", f"gzip: {error}") from None
    if len(body) > most_bytes:
        raise SitemapError("too_large", f"the sitemap has more than {most_bytes} bytes (crawl.sitemap_bytes)")
    if not body.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        lines = (line.strip() for line in body.decode("utf-8", "replace").splitlines())
        urls = [line for line in lines if line.startswith(("http://", "https://"))]
        if not urls:
            raise SitemapError("not_a_sitemap", "neither XML nor a list of addresses")
        return SitemapLinks(tuple(urls[:most_urls]), (), len(urls) > most_urls)
    try:
        sitemap = Sitemap(body)
        urls = [row["loc"] for row in islice(sitemap, most_urls + 1)]
    except (lxml.etree.LxmlError, StopIteration, ValueError) as error:
        raise SitemapError("not_a_sitemap", f"no sitemap can be read: {error}") from None
    if sitemap.type not in ("urlset", "sitemapindex"):
        raise SitemapError("not_a_sitemap", f"the document is a {str(sitemap.type)[:40]!r}, not a sitemap")
    some, cut = tuple(urls[:most_urls]), len(urls) > most_urls
    return SitemapLinks(some, (), cut) if sitemap.type == "urlset" else SitemapLinks((), some, cut)
