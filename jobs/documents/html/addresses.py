"""Addresses that a page gives: links made absolute, and the address that it calls its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urljoin, urlsplit

# An address that needs no parser to be known as absolute and well formed.
_PLAIN: Final = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+/[^\s\[\]#]*$")


def absolute(base: str, link: str) -> str | None:
    """`link` as an absolute http(s) address; null where it is none."""
    link = link.strip()
    if _PLAIN.match(link):
        return link
    if link.startswith("/") and "/." not in link:
        scheme, _, rest = base.partition("://")
        url = f"{scheme}:{link}" if link.startswith("//") else f"{scheme}://{rest.partition('/')[0]}{link}"
        if _PLAIN.match(url):
            return url
    try:
        url = urljoin(base, link)
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _is_home(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.path in ("", "/") and not parts.query


def canonical(url: str, stated: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """(source, address) of the first of `stated` that is on the page's own host; any host for a file.

    Sites that name their home page on every page are not believed.
    """
    for by, link in stated:
        found = absolute(url, link)
        if found is None:
            continue
        if url.startswith("file:") or (_host(found) == _host(url) and (_is_home(url) or not _is_home(found))):
            return by, found
    return None
