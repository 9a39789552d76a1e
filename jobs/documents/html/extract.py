"""Main text and metadata of one HTML page; run as a child process by `jobs.documents.clean`.

A page is parsed once. Its metadata are read from the tree as it came; then what holds no text is dropped, the markup
is repaired, and the main text is found.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any, Final
from urllib.parse import urljoin

from lxml.html import HtmlElement

from quern.jobs.documents.html.child import serve
from quern.jobs.documents.html.edges import without_filing, without_title
from quern.jobs.documents.html.images import article_images
from quern.jobs.documents.html.links import free_links
from quern.jobs.documents.html.main_text import fuller, main_text
from quern.jobs.documents.html.markup import is_menu, link_texts, repair
from quern.jobs.documents.html.metadata import add_from_text, letters, read_metadata
from quern.jobs.documents.html.parse import drop_unread, parse_page
from quern.jobs.documents.html.stated import body_scripts
from quern.jobs.documents.html.texts import text_of
from quern.jobs.documents.html.visits import without_visits
from quern.jobs.text.language import language_of

Header = dict[str, Any]

_FIRST_PAGE: Final = b"<html><body><article><p>A first page, published on 2 May 2024.</p></article></body></html>"
_XML_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"


def _base(tree: HtmlElement, url: str) -> str:
    """The address that the page's links start from."""
    element = tree.find(".//base[@href]")
    try:
        return url if element is None else urljoin(url, element.get("href"))
    except ValueError:
        return url


def _text(tree: HtmlElement, title: str | None, base: str) -> str:
    """The main text without a line that repeats the title; empty for a page that is only a menu."""
    bodies = body_scripts(tree)
    drop_unread(tree)
    repair(tree)
    links = link_texts(tree)
    free_links(tree, base)
    headings = {letters(text_of(h)) for h in tree.iter("h1")}
    text = fuller(main_text(tree, base), bodies, headings | {letters(title)})
    return "" if is_menu(text, links) else without_filing(without_visits(without_title(text, title, headings)))


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def extract_page(body: bytes, url: str, charset: str | None) -> Header:
    """Main text and metadata of a page; times as ISO 8601 in the offsets that are stated.

    Raises:
        PageError: The body is no HTML.
    """
    tree = parse_page(body, charset)
    found = read_metadata(tree, url)
    declared = tree.get("lang") or tree.get(_XML_LANG) or tree.get("xml:lang")
    base = _base(tree, url)
    images = article_images(tree, base)
    text = _text(tree, found["title"], base)
    add_from_text(found, text)
    language, by = language_of(text, declared) if text else (None, None)
    if language:
        found["metadata_from"].append({"field": "language", "by": by})
    times = {name: _iso(found[name]) for name in ("published_at", "modified_at")}
    return found | times | {"text": text, "images": images, "language": language}


def _answer(header: Header, body: bytes) -> Header:
    return extract_page(body, header["url"], header["charset"])


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    # What is loaded on first use counts as an import, not as the first page's time and memory.
    extract_page(_FIRST_PAGE, "https://localhost/", None)
    serve(_answer)
