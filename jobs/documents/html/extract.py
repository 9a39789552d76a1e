"""Main text and metadata of one HTML page; run as a child process by `jobs.documents.clean`.

A page is parsed once. Its metadata are read from the tree as it came; then what holds no text is dropped, the markup
is repaired, and the main text is found.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import urljoin

from lxml.etree import XPath
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
from quern.jobs.documents.html.texts import letters, text_of
from quern.jobs.text.language import language_of
from quern.jobs.text.noise import without_joiners

Header = dict[str, Any]

_XML_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
# Everything that reads a page squeezes white space. Spaces of preformatted lines, such as code, are kept through it as
# characters that no reader takes for white space, one for a space and one for a tab, and become spaces again last.
_SPACE: Final = "\u2800"
_TAB: Final = "\u3164"
_KEPT: Final = str.maketrans({" ": _SPACE, "\t": _TAB, "\xa0": _SPACE})
_FREED: Final = str.maketrans({_SPACE: " ", _TAB: "\t"})
_RUN: Final = re.compile(r"^[ \xa0]+|[ \t\xa0]{2,}|\t")
_NUMBERS: Final = XPath(
    "descendant::*[contains(@class, 'lineno') or contains(@class, 'line-number') or contains(@class, 'linenumber')]"
)


def keep_spaces(tree: HtmlElement) -> bool:
    """Make of each preformatted element one text of code, its spaces kept; whether there is any."""
    elements = [e for e in tree.iter("pre") if next(e.iterancestors("pre"), None) is None]
    for element in elements:
        for number in _NUMBERS(element):
            number.clear(keep_tail=True)
        for end in element.iter("br", "div", "p", "li", "tr"):
            if not text_of(end).endswith("\n"):
                end.tail = f"\n{end.tail or ''}"
        lines = [line.rstrip() for line in text_of(element).split("\n")]
        del element[:]
        element.text = None
        code = element.makeelement("code")
        code.text = "\n".join(_RUN.sub(lambda run: run[0].translate(_KEPT), line) for line in lines if line)
        element.append(code)
    return bool(elements)


def _text(tree: HtmlElement, title: str | None, base: str, elements: Sequence[HtmlElement]) -> str:
    """The main text without a line that repeats the title; empty for a page that is only a menu."""
    scripts = body_scripts(tree)
    drop_unread(tree)
    is_spaced = keep_spaces(tree)
    repair(tree)
    links = link_texts(tree)
    headings = {letters(text_of(h)) for h in tree.iter("h1")}
    known = letters(title)
    names = headings | {known}
    text = fuller(main_text(tree, base), stated_bodies(scripts), names)
    if elements and is_short(text):
        text = fuller(text, carried_bodies(elements, partial(_read, base=base)), names, failed=1)
    if is_menu(text, links):
        return ""
    lines = text.split("\n")
    for n, line in enumerate(lines[:4]):  # One of them may say the title again, in full or as a main heading does.
        name = letters(line)
        repeats = name == known or (name in headings and (not known or name in known or name[:20] == known[:20]))
        if name and repeats and len(lines) > 1:
            del lines[n]
            break
    text = without_joiners("\n".join(lines))
    if is_spaced:
        lines = [line.translate(_FREED).rstrip() for line in text.split("\n")]
        text = "\n".join(filter(None, lines))
    return text


def _read(markup: str, base: str) -> str:
    """The text of markup that a page carries."""
    tree = parse_page(f"<html><body>{markup}</body></html>".encode(errors="replace"), "utf-8")
    write_notation(tree)
    return _text(tree, None, base, ())


def extract_page(body: bytes, url: str, charset: str | None) -> Header:
    """Main text and metadata of a page, times as ISO 8601 in the stated offsets; PageError if it is no HTML."""
    tree = parse_page(body, charset)
    write_notation(tree)
    metadata = read_metadata(tree, url)
    declared = tree.get("lang") or tree.get(_XML_LANG) or tree.get("xml:lang")
    base, element = url, tree.find(".//base[@href]")
    if element is not None:
        with suppress(ValueError):
            base = urljoin(url, element.get("href"))
    images = article_images(tree, base)
    text = _text(tree, metadata["title"], base, carriers(tree))
    if not text:
        # The text that trafilatura finds on a page of which the rules left nothing, unless that is little.
        tree = parse_page(body, charset)
        write_notation(tree)
        text = without_joiners(read(tree))
        text = "" if is_short(text) or is_menu(text, link_texts(tree)) else text
    add_from_text(metadata, text)
    language, by = language_of(text, declared) if text else (None, None)
    if language:
        metadata["metadata_from"].append({"field": "language", "by": by})
    times = {name: metadata[name] and metadata[name].isoformat() for name in ("published_at", "modified_at")}
    return metadata | times | {"text": text, "images": images, "language": language}


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    # What is loaded on first use counts as an import, not as the first page's time and memory.
    first = b"<html><body><article><p>A first page, published on 2 May 2024.</p></article></body></html>"
    extract_page(first, "https://localhost/", None)
    serve(lambda header, body: extract_page(body, header["url"], header["charset"]))
