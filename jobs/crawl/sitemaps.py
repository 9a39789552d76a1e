"""Sitemaps (sitemaps.org protocol): the addresses that a site lists itself, as XML, as text, or an index of more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import lxml.etree
from scrapy.utils.sitemap import Sitemap

from jobs.inflate import inflate
from jobs.members import GZIP_MAGIC, DamagedError

INDEX_DEPTH: Final = 3


@dataclass(frozen=True)
class SitemapLinks:
    """What a sitemap lists.

    Attributes:
        pages: Addresses of pages.
        sitemaps: Addresses of further sitemaps, of an index.
        cut: Whether there were more than the limit.
    """

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    cut: bool = False


def read_sitemap(body: bytes, most_urls: int, most_bytes: int) -> SitemapLinks:
    """The first `most_urls` addresses of a sitemap; gzip is undone up to `most_bytes`.

    Raises:
        DamagedError: `too_large`, `damaged_gzip`, or `not_a_sitemap`.
    """
    if body.startswith(GZIP_MAGIC):
        body = inflate(body, "gzip", most_bytes)
    if len(body) > most_bytes:
        raise DamagedError("too_large", f"the sitemap has more than {most_bytes} bytes (crawl.sitemap_bytes)")
    if not body.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        return _text_sitemap(body, most_urls)
    try:
        sitemap = Sitemap(body)
        found = list(_first(sitemap, most_urls + 1))
    except (lxml.etree.LxmlError, StopIteration, ValueError) as error:
        raise DamagedError("not_a_sitemap", f"no sitemap can be read: {error}") from None
    if sitemap.type not in ("urlset", "sitemapindex"):
        raise DamagedError("not_a_sitemap", f"the document is a {str(sitemap.type)[:40]!r}, not a sitemap")
    urls, cut = tuple(found[:most_urls]), len(found) > most_urls
    return SitemapLinks(urls, (), cut) if sitemap.type == "urlset" else SitemapLinks((), urls, cut)


def _first(sitemap: Sitemap, most: int) -> Iterator[str]:
    for count, row in enumerate(sitemap):
        if count >= most:
            return
        yield row["loc"]


def _text_sitemap(body: bytes, most: int) -> SitemapLinks:
    """One address a line."""
    lines = [line.strip() for line in body.decode("utf-8", "replace").splitlines() if line.strip()]
    urls = [line for line in lines if line.startswith(("http://", "https://"))]
    if not urls:
        raise DamagedError("not_a_sitemap", "neither XML nor a list of addresses")
    return SitemapLinks(tuple(urls[:most]), (), len(urls) > most)
