"""What a page says to a crawler: its links, its canonical address, its robots directives. One parse, with lxml."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urljoin

import lxml.etree

from quern.jobs.crawl.robots import AGENT, directives

_REFRESH: Final = re.compile(r"\s*[\d.]+\s*[;,]\s*url\s*=\s*['\"]?([^'\"\s]+)", re.IGNORECASE)
# More links than this on one page are those of a trap or of spam.
MOST_LINKS: Final = 10_000
_TAGS: Final = ("a", "area", "link", "meta", "base")
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
    found, seen, base, contents = PageLinks(), dict[str, None](), url, []
    root = _parsed(body, encoding)
    for element in root.iter(*_TAGS) if root is not None else ():
        if element.tag == "meta":
            contents += _robots_content(element)
            href = _refresh(element)
        elif element.tag == "base":
            base = _joined(url, element.get("href") or "") or url if base == url else base
            continue
        else:
            href = _href(element, found)
        if not href:
            continue
        absolute = _joined(base, href)
        if absolute is None:
            found.malformed += 1
        elif len(seen) < MOST_LINKS:
            seen[absolute] = None
    found.links = list(seen)
    found.directives = directives(contents)
    return found


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


def _href(element: Any, found: PageLinks) -> str:
    href = (element.get("href") or "").strip()
    relations = (element.get("rel") or "").lower().split()
    if element.tag == "link":
        return href if {"canonical", "next", "prev"} & set(relations) else ""
    if not href or href.lower().startswith(_SKIPPED):
        return ""
    if "nofollow" in relations:
        found.nofollow += 1
        return ""
    return href


def _robots_content(element: Any) -> list[str]:
    return [element.get("content") or ""] if (element.get("name") or "").lower() in ("robots", AGENT) else []


def _refresh(element: Any) -> str:
    """The address that a meta refresh leads to."""
    if (element.get("http-equiv") or "").lower() != "refresh":
        return ""
    match = _REFRESH.match(element.get("content") or "")
    return match[1] if match else ""


def _joined(base: str, href: str) -> str | None:
    try:
        return urljoin(base, href)
    except ValueError:
        return None
