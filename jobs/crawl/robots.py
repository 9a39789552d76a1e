"""Robots rules: robots.txt (RFC 9309, with crawl-delay) through Protego, and the directives of a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from quern.jobs.crawl.urls import joined

AGENT: Final = "quern"
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
        # Directives of pages are read where nothing is crawled, and these may not be installed.
        from protego import Protego
        from scrapy.utils.sitemap import sitemap_urls_from_robots

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


def directives(values: Iterable[str]) -> frozenset[str]:
    """The directives for every crawler, or for this one, among contents of X-Robots-Tag or meta robots.

    An X-Robots-Tag may begin with the name of the crawler it is for (`otherbot: noindex, nofollow`); one for another
    crawler does not count. `none` stands for both noindex and nofollow.
    """
    found: set[str] = set()
    for value in values:
        ours = True
        for part in value.lower().split(","):
            name, colon, rest = part.strip().partition(":")
            if colon and name.strip() not in _VALUED:
                ours = name.strip() == AGENT
                part = rest
            if ours:
                found.add(part.strip())
    return frozenset(found | {"noindex", "nofollow"} if "none" in found else found)


_VALUED: Final = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)  # directives with a value after a colon
