"""The main text of a page: read once by rules, and by trafilatura with all its rescues where that left little."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from typing import Final

from lxml import etree
from lxml.html import HtmlElement
from trafilatura import bare_extraction

from quern.jobs.documents.html.loose_text import is_prose
from quern.jobs.documents.html.patterns import install
from quern.jobs.documents.html.reading import read_main
from quern.jobs.documents.html.stated import stated_body
from quern.jobs.text.plain_text import paragraphs

# Below this trafilatura itself takes a reading for failed, and asks other extractors (its `MIN_EXTRACTED_SIZE`).
_FAILED: Final = 250
# How many times as much prose another reading must have: a short page's menu makes it longer, not better.
_MORE: Final = 1.25
# The same of a text that the page does not show.
_MUCH_MORE: Final = 2
_BOXES: Final = ("div", "section", "details", "ol", "ul", "dl")
# `Comment` in the languages whose word for it has that root: Kommentar, commentaire, komentarz, comentario.
_COMMENTS_ID: Final = re.compile(r"[CcKk]omm?ent(?!ary)|comol|disqus_thread")
_COMMENTS_CLASS: Final = re.compile(r"[CcKk]omm?ent(?!ary)|.*(?:article|post)-comments", re.S)
_WITH_AMPERSAND: Final = etree.XPath("descendant::text()[contains(., '&')]")

install()


def main_text(tree: HtmlElement, base: str) -> str:
    """The main text, one paragraph a line; the tree is consumed. Links start from the address `base`."""
    _protect_ampersands(tree)
    _drop_comments(tree)
    text = read_main(copy(tree), base)
    if len(text) >= _FAILED:
        return text
    again = read_again(tree)
    running = _running(text)
    longer = _running(again) > _MORE * running if running else len(again) > len(text)
    return again if longer else text


def _running(text: str) -> int:
    """Characters of a text in lines that read as prose."""
    return sum(len(line) for line in text.split("\n") if is_prose(line))


def fuller(text: str, bodies: Sequence[HtmlElement]) -> str:
    """`text`, or what a page's linked data state as its article, where that is much more: scripts would show it."""
    stated = stated_body(bodies) if bodies else ""
    return stated if _running(stated) > _MUCH_MORE * _running(text) else text


def read_again(tree: HtmlElement, **how: bool) -> str:
    """The text that `bare_extraction` finds without comments; the tree stays as it is."""
    found = bare_extraction(tree, include_comments=False, **how)
    return paragraphs(found.text or "") if found is not None else ""


def _protect_ampersands(tree: HtmlElement) -> None:
    """Escape the tree's ampersands once, because trafilatura's text output resolves character references again.

    Without this a page that shows `&lt;` to its readers would be recorded as showing `<`.
    """
    for text in _WITH_AMPERSAND(tree):
        element = text.getparent()
        if text.is_tail:
            element.tail = text.replace("&", "&amp;")
        elif element.tag != "script":
            element.text = text.replace("&", "&amp;")


def _drop_comments(tree: HtmlElement) -> None:
    """Take out what readers wrote below an article, told by name."""
    for element in list(tree.iter(*_BOXES)):
        named = _COMMENTS_ID.match(element.get("id", "")) or _COMMENTS_CLASS.match(element.get("class", ""))
        if named and element.getparent() is not None:
            element.drop_tree()
