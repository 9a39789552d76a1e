"""The main text of a page, as trafilatura reads it: quickly, and with all its rescues where that leaves little."""

from __future__ import annotations

from collections.abc import Sequence, Set
from copy import copy
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from lxml.etree import XPath
from lxml.html import HtmlElement
from trafilatura import bare_extraction, utils

from quern.jobs.documents.html.markup import link_texts
from quern.jobs.documents.html.stated import StatedBody
from quern.jobs.documents.html.texts import is_prose, is_sentence, letters, line_of, text_of
from quern.jobs.text.plain_text import paragraphs

# Below this trafilatura itself takes a reading for failed, and asks other extractors (its `MIN_EXTRACTED_SIZE`).
_FAILED: Final = 250
_ABSOLUTE: Final = ("http:", "https:", "//")
_ELSEWHERE: Final = ("mailto:", "tel:", "#")
_WITH_AMPERSAND: Final = XPath("descendant::text()[contains(., '&')]")

# trafilatura takes zero-width joiners for control characters; Persian and the Indic scripts spell words with them.
_JOINERS: Final = ("\u200c", "\u200d")
_printable: Final = utils.return_printables_and_spaces
vars(utils)["return_printables_and_spaces"] = lambda c: c if c in _JOINERS else _printable(c)


def main_text(tree: HtmlElement, base: str) -> str:
    """The main text, one paragraph a line; the tree is consumed. Links start from the address `base`."""
    # trafilatura's text output resolves character references again: without this a page that shows `&lt;` to its
    # readers would be recorded as showing `<`.
    for text in _WITH_AMPERSAND(tree) if "&" in text_of(tree) else ():
        element = text.getparent()
        if text.is_tail:
            element.tail = text.replace("&", "&amp;")
        elif element.tag != "script":
            element.text = text.replace("&", "&amp;")
    _drop_lists_of_links(tree, base)
    # Make one text node of neighbours, which removed tags leave behind: XPath takes quadratic time for them.
    for element in tree.iter():
        if element.text:
            element.text = element.text
        if element.tail:
            element.tail = element.tail
    # On the article extraction benchmark recall mode, which keeps teasers, gains .001 of both precision and recall.
    text = read(copy(tree), fast=True, favor_recall=True)
    if len(text) >= _FAILED:
        return text
    again = read(tree)
    running = _running(text)
    # A short page's menu makes another reading longer, not better.
    if _running(again) > 1.25 * running if running else len(again) > len(text):
        return again
    # Another reading that has all lines of the first and others, none of which has a link: an address, hours.
    lines, links = set(again.split("\n")), link_texts(tree) - {""}
    beside = lines.difference(text.split("\n"))
    whole = lines.issuperset(text.split("\n"))
    return again if whole and beside and not any(link in line for line in beside for link in links) else text


def _drop_lists_of_links(tree: HtmlElement, base: str) -> None:
    """Take out paragraphs and lists of nothing but links to pages of the same site: what else to read."""
    site = _site(base)
    link_lengths: dict[HtmlElement, list[int]] = {}
    for link in tree.iter("a"):
        href = (link.get("href") or "").strip()
        if href.startswith(_ELSEWHERE) or (href.startswith(_ABSOLUTE) and _site(href) != site):
            continue
        for around in link.iterancestors("p", "ul", "ol"):
            link_lengths.setdefault(around, []).append(len(text_of(link)))
    for line, lengths in link_lengths.items():
        if line.getparent() is None or sum(lengths) <= 0.8 * len(text_of(line)):
            continue
        if not is_sentence(line_of(line)) if line.tag == "p" else len(lengths) > 2:
            line.drop_tree()


def _site(address: str) -> str:
    """The last two labels of an address's host; empty where it has none."""
    try:
        return ".".join((urlsplit(address).hostname or "").split(".")[-2:])
    except ValueError:
        return ""


def read(tree: HtmlElement, **how: bool) -> str:
    """The text that `bare_extraction` finds without comments; the tree stays as it is."""
    document = bare_extraction(tree, include_comments=False, **how)
    return paragraphs(document.text or "") if document is not None else ""


def _running(text: str) -> int:
    """Characters of a text in lines that read as prose."""
    return sum(len(line) for line in text.split("\n") if is_prose(line))


def fuller(text: str, bodies: Sequence[StatedBody], names: Set[str], failed: int = _FAILED) -> str:
    """`text`, or one of the `bodies`, the longest first, that has twice the prose: scripts would show it.

    A body is the page's if it has a line of the text, or if its headline is among `names` (title and headings, as
    `letters`). Where the text has less prose than `failed` characters, the longest body is taken in any case.
    """
    running = _running(text)
    much = [body for body in bodies if _running(body.text) > 2 * running]
    if not much:
        return text
    lines = list(islice((letters(line) for line in text.split("\n") if is_prose(line)), 50))
    # The title may be that of the linked data, so that what the page shows says more.
    for body in much:
        body_text = letters(body.text)
        if any(line[:40] in body_text for line in lines if len(line) >= 20):
            return body.text
    for body in much:
        headline = letters(body.headline)
        if headline and any(headline in n or (n in headline and 2 * len(n) >= len(headline)) for n in names):
            return body.text
    return much[0].text if running < failed else text


def is_short(text: str) -> bool:
    """Whether a text has so little prose that its reading may have failed."""
    return _running(text) < _FAILED
