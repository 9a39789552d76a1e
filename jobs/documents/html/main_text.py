"""The main text of a page, as trafilatura finds it.

`bare_extraction` copies the tree five times and walks it with patterns that call Python for every element and
attribute, which takes most of its time. The first reading here takes the same steps in the same order, but with one
copy and one search for comments. Where it leaves little, `bare_extraction` reads the page again, with all its rescues.
"""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache
from typing import Final

from lxml import etree
from lxml.html import HtmlElement
from trafilatura import bare_extraction
from trafilatura.htmlprocessing import convert_tags, tree_cleaning
from trafilatura.main_extractor import extract_content
from trafilatura.settings import Extractor
from trafilatura.xml import xmltotxt

from quern.jobs.documents.html.patterns import install
from quern.jobs.text.plain_text import paragraphs

# Below this trafilatura itself takes a reading for failed, and asks other extractors (its `MIN_EXTRACTED_SIZE`).
_FAILED: Final = 250
# A precise reading shorter than this is compared with a balanced one, which is taken if it is this much longer.
_SHORT: Final = 1000
_LONGER: Final = 2.0
_BOXES: Final = ("div", "section", "details", "ol", "ul", "dl")
_COMMENTS_ID: Final = re.compile(r"(?:[Cc]omment(?!ary)|comol|disqus_thread)")
_COMMENTS_CLASS: Final = re.compile(r"[Cc]omment(?!ary)|.*(?:article|post)-comments", re.S)
_WITH_AMPERSAND: Final = etree.XPath("descendant::text()[contains(., '&')]")

install()


@lru_cache(maxsize=1)
def _precise() -> Extractor:
    """Options of trafilatura for a precise reading without comments and without other extractors."""
    return Extractor(fast=True, precision=True, comments=False)


def main_text(tree: HtmlElement) -> str:
    """The main text, one paragraph a line: read precisely, or in a balanced way where that left out most of it.

    The tree is changed: its ampersands are escaped.
    """
    _protect_ampersands(tree)
    text = read_precisely(copy(tree))
    if len(text) < _FAILED:
        text = read_again(tree, favor_precision=True)
    if len(text) >= _SHORT:
        return text
    balanced = read_again(tree, fast=True)
    return balanced if len(balanced) > _LONGER * len(text) else text


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


def read_precisely(tree: HtmlElement) -> str:
    """What `bare_extraction(tree, fast=True, favor_precision=True)` reads, at half its cost; consumes the tree."""
    _drop_comments(tree)
    options = _precise()
    body, _ = extract_content(convert_tags(tree_cleaning(tree, options), options), options)
    return paragraphs(xmltotxt(body, False))


def _drop_comments(tree: HtmlElement) -> None:
    """Take out what readers wrote below an article, told by name."""
    for element in list(tree.iter(*_BOXES)):
        named = _COMMENTS_ID.match(element.get("id", "")) or _COMMENTS_CLASS.match(element.get("class", ""))
        if named and element.getparent() is not None:
            element.drop_tree()
