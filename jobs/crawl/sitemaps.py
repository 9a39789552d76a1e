"""Sitemaps (sitemaps.org protocol): the addresses that a site lists itself, as XML, as text, or an index of more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import lxml.etree
from scrapy.utils.sitemap import Sitemap

from quern.jobs.pages.formats.http_messages import inflate

INDEX_DEPTH: Final = 3
_GZIP_MAGIC: Final = b"\x1f\x8b"


class SitemapError(ValueError):
    """A sitemap that cannot be read.

    Attributes:
        reason: Reason code of the reject.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


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
    if body.startswith(_GZIP_MAGIC):
        try:
            body = inflate(body, "gzip", most_bytes)
        except ValueError as error:
            raise SitemapError("not_a_sitemap", f"gzip: {error}") from None
    if len(body) > most_bytes:
        raise SitemapError("too_large", f"the sitemap has more than {most_bytes} bytes (crawl.sitemap_bytes)")
    if not body.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        return _text_sitemap(body, most_urls)
    try:
        sitemap = Sitemap(body)
        found = list(_first(sitemap, most_urls + 1))
    except (lxml.etree.LxmlError, StopIteration, ValueError) as error:
        raise SitemapError("not_a_sitemap", f"no sitemap can be read: {error}") from None
    if sitemap.type not in ("urlset", "sitemapindex"):
        raise SitemapError("not_a_sitemap", f"the document is a {str(sitemap.type)[:40]!r}, not a sitemap")
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
        raise SitemapError("not_a_sitemap", "neither XML nor a list of addresses")
    return SitemapLinks(tuple(urls[:most]), (), len(urls) > most)
