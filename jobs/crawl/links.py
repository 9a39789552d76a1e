"""What a page says to a crawler: its links, its canonical address, its robots directives. One parse, with lxml."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urljoin

import lxml.etree

AGENT: Final = "quern"
_REFRESH: Final = re.compile(r"\s*[\d.]+\s*[;,]\s*url\s*=\s*['\"]?([^'\"\s]+)", re.IGNORECASE)
# More links than this on one page are those of a trap or of spam.
MOST_LINKS: Final = 10_000
_TAGS: Final = ("a", "area", "link", "meta", "base")
# Directives with a value after a colon.
_VALUED: Final = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_SKIPPED: Final = ("#", "javascript:", "mailto:", "tel:", "data:", "about:", "blob:", "sms:", "whatsapp:")


@dataclass
class PageLinks:
    """What a page says to a crawler."""

    # Absolute addresses of links that may be followed, in order, each once; the canonical address too.
    links: list[str] = field(default_factory=list)
    directives: frozenset[str] = frozenset()  # Directives of meta robots.
    nofollow: int = 0  # Links marked rel=nofollow.
    malformed: int = 0  # Links that no address can be made of.


def page_links(body: bytes, url: str, encoding: str | None) -> PageLinks:
    """Links and directives of the HTML page `body`, which was fetched from `url`."""
    result, seen, base, contents = PageLinks(), dict[str, None](), url, list[str]()
    root = _parsed(body, encoding)
    for element in root.iter(*_TAGS) if root is not None else ():
        content, href = element.get("content") or "", (element.get("href") or "").strip()
        if element.tag == "meta":
            if (element.get("name") or "").lower() in ("robots", AGENT):
                contents.append(content)
            refresh = (element.get("http-equiv") or "").lower() == "refresh" and _REFRESH.match(content)
            href = refresh[1] if refresh else ""
        elif element.tag == "base":
            base = _joined(url, element.get("href") or "") or url if base == url else base
            continue
        elif href:
            href = _followed(element, href, result)
        if not href:
            continue
        absolute = _joined(base, href)
        if absolute is None:
            result.malformed += 1
        elif len(seen) < MOST_LINKS:
            seen[absolute] = None
    result.links = list(seen)
    result.directives = directives(contents)
    return result


def _parsed(body: bytes, encoding: str | None) -> Any:
    for name in (encoding, None) if encoding else (None,):
        try:
            parser = lxml.etree.HTMLParser(encoding=name, remove_comments=True, remove_pis=True, recover=True)
            return lxml.etree.fromstring(body, parser)
        except LookupError:
            continue  # an encoding that libxml2 does not know
        except (lxml.etree.ParserError, lxml.etree.XMLSyntaxError, ValueError):
            return None
    return None


def _followed(element: Any, href: str, links: PageLinks) -> str:
    """`href` of a link that may be followed, else nothing."""
    relations = (element.get("rel") or "").lower().split()
    if element.tag == "link":
        return href if {"canonical", "next", "prev"} & set(relations) else ""
    if href.lower().startswith(_SKIPPED):
        return ""
    links.nofollow += "nofollow" in relations
    return "" if "nofollow" in relations else href


def _joined(base: str, href: str) -> str | None:
    try:
        return urljoin(base, href)
    except ValueError:
        return None


def directives(values: Iterable[str]) -> frozenset[str]:
    """The directives for every crawler, or for this one, among contents of X-Robots-Tag or meta robots.

    An X-Robots-Tag may begin with the name of the crawler it is for (`otherbot: noindex, nofollow`); one for another
    crawler does not count. `none` stands for both noindex and nofollow.
    """
    names: set[str] = set()
    for value in values:
        ours = True
        for part in value.lower().split(","):
            name, colon, rest = part.strip().partition(":")
            if colon and name.strip() not in _VALUED:
                ours = name.strip() == AGENT
                part = rest
            if ours:
                names.add(part.strip())
    return frozenset(names | {"noindex", "nofollow"} if "none" in names else names)
