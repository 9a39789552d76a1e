"""Main text and metadata of one HTML page; run as a child process by `jobs.documents.clean`.

A page is parsed once. Its metadata are read from the tree as it came; then what holds no text is dropped, the markup
is repaired, and the main text is found.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final
from urllib.parse import urljoin

from lxml.html import HtmlElement

from quern.jobs.documents.html.carried import carried_bodies, carriers
from quern.jobs.documents.html.child import serve
from quern.jobs.documents.html.images import article_images
from quern.jobs.documents.html.main_text import fuller, is_short, main_text, read
from quern.jobs.documents.html.markup import is_menu, link_texts, repair
from quern.jobs.documents.html.metadata import add_from_text, read_metadata
from quern.jobs.documents.html.notation import write_notation
from quern.jobs.documents.html.parse import drop_unread, parse_page
from quern.jobs.documents.html.stated import body_scripts, stated_bodies
from quern.jobs.documents.html.texts import Holders, letters, text_of
from quern.jobs.text.language import language_of
from quern.jobs.text.noise import without_joiners

# Everything that reads a page squeezes white space. Spaces of preformatted lines, such as code, are kept through it as
# characters that no reader takes for white space, one for a space and one for a tab, and become spaces again last.
_SPACE: Final = "\u2800"
_TAB: Final = "\u3164"
_KEPT: Final = str.maketrans({" ": _SPACE, "\t": _TAB, "\xa0": _SPACE})
_FREED: Final = str.maketrans({_SPACE: " ", _TAB: "\t"})
_RUN: Final = re.compile(r"^[ \xa0]+|[ \t\xa0]{2,}|\t")
_NUMBERS: Final = Holders("class[contains(., 'lineno') or contains(., 'line-number') or contains(., 'linenumber')]")
_LINES: Final = ("br", "div", "p", "li", "tr")


def keep_spaces(tree: HtmlElement) -> bool:
    """Make of each preformatted element one text of code, its spaces kept; whether there is any."""
    elements = [e for e in tree.iter("pre") if next(e.iterancestors("pre"), None) is None]
    for element in elements:
        for number in _NUMBERS(element):
            number.clear(keep_tail=True)
        for end in element.iter(*_LINES):
            if not text_of(end).endswith("\n"):
                end.tail = f"\n{end.tail or ''}"
        lines = [line.rstrip() for line in text_of(element).split("\n")]
        del element[:]
        element.text = None
        code = element.makeelement("code")
        code.text = "\n".join(_RUN.sub(lambda run: run[0].translate(_KEPT), line) for line in lines if line)
        element.append(code)
    return bool(elements)


def with_spaces(text: str) -> str:
    """A text with the spaces that were kept."""
    lines = (line.translate(_FREED).rstrip() for line in text.split("\n"))
    return "\n".join(filter(None, lines))


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


def _text(tree: HtmlElement, title: str | None, base: str, carried: Sequence[HtmlElement]) -> str:
    """The main text without a line that repeats the title; empty for a page that is only a menu."""
    stated = body_scripts(tree)
    drop_unread(tree)
    is_spaced = keep_spaces(tree)
    repair(tree)
    links = link_texts(tree)
    headings = {letters(text_of(h)) for h in tree.iter("h1")}
    names = headings | {letters(title)}
    text = fuller(main_text(tree, base), stated_bodies(stated), names)
    if carried and is_short(text):
        text = fuller(text, carried_bodies(carried, partial(_read, base=base)), names, failed=1)
    if is_menu(text, links):
        return ""
    text = without_joiners(_without_title(text, title, headings))
    return with_spaces(text) if is_spaced else text


def _without_title(text: str, title: str | None, headings: Collection[str]) -> str:
    """`text` without a line among its first four that says the page's title again, in full or as a main heading does.

    Args:
        text: Lines.
        title: The page's title.
        headings: The page's main headings, by their letters.
    """
    known = letters(title)
    lines = text.split("\n")
    for i, line in enumerate(lines[:4]):
        name = letters(line)
        repeats = name == known or (name in headings and (not known or name in known or name[:20] == known[:20]))
        if name and repeats and len(lines) > 1:
            return "\n".join(lines[:i] + lines[i + 1 :])
    return text


def _rescued(body: bytes, charset: str | None) -> str:
    """The text that trafilatura finds on a page of which the rules left nothing; empty where it finds little."""
    tree = parse_page(body, charset)
    write_notation(tree)
    text = without_joiners(read(tree))
    return "" if is_short(text) or is_menu(text, link_texts(tree)) else text


def _read(markup: str, base: str) -> str:
    """The text of markup that a page carries."""
    tree = parse_page(f"<html><body>{markup}</body></html>".encode(errors="replace"), "utf-8")
    write_notation(tree)
    return _text(tree, None, base, ())


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def extract_page(body: bytes, url: str, charset: str | None) -> Header:
    """Main text and metadata of a page; times as ISO 8601 in the offsets that are stated.

    Raises:
        PageError: The body is no HTML.
    """
    tree = parse_page(body, charset)
    write_notation(tree)
    found = read_metadata(tree, url)
    declared = tree.get("lang") or tree.get(_XML_LANG) or tree.get("xml:lang")
    base = _base(tree, url)
    images = article_images(tree, base)
    text = _text(tree, found["title"], base, carriers(tree)) or _rescued(body, charset)
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
