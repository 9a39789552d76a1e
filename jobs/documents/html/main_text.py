"""The main text of a page: read once by rules, and by trafilatura with all its rescues where that left little."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from copy import copy
from itertools import islice
from typing import Final

from lxml import etree
from lxml.html import HtmlElement
from trafilatura import bare_extraction, utils

from quern.jobs.documents.html.loose_text import is_prose
from quern.jobs.documents.html.markup import link_texts
from quern.jobs.documents.html.metadata import letters
from quern.jobs.documents.html.patterns import install
from quern.jobs.documents.html.reading import read_main
from quern.jobs.documents.html.stated import StatedBody
from quern.jobs.documents.html.texts import text_of
from quern.jobs.text.plain_text import paragraphs

# Below this trafilatura itself takes a reading for failed, and asks other extractors (its `MIN_EXTRACTED_SIZE`).
_FAILED: Final = 250
# How many times as much prose another reading must have: a short page's menu makes it longer, not better.
_MORE: Final = 1.25
# The same of a text that the page does not show.
_MUCH_MORE: Final = 2
# Letters that the beginnings of two lines have in common which are one, the least letters of such a line, and how many
# are compared.
_SAME: Final = 40
_LEAST_SAME: Final = 20
_MOST_LINES: Final = 50
_BOXES: Final = ("div", "section", "details", "ol", "ul", "dl")
# `Comment` in the languages whose word for it has that root: Kommentar, commentaire, komentarz, comentario.
_COMMENTS_ID: Final = re.compile(r"[CcKk]omm?ent(?!ary)|comol|disqus_thread")
_COMMENTS_CLASS: Final = re.compile(r"[CcKk]omm?ent(?!ary)|.*(?:article|post)-comments", re.S)
_WITH_AMPERSAND: Final = etree.XPath("descendant::text()[contains(., '&')]")

# trafilatura takes zero-width joiners for control characters; Persian and the Indic scripts spell words with them.
_JOINERS: Final = ("\u200c", "\u200d")
_printable: Final = utils.return_printables_and_spaces
vars(utils)["return_printables_and_spaces"] = lambda c: c if c in _JOINERS else _printable(c)
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
    return again if longer or _has_lines_beside(again, text, link_texts(tree)) else text


def _has_lines_beside(again: str, text: str, links: Set[str]) -> bool:
    """Whether another reading has all lines of a text and others, none of which has a link: an address, hours."""
    lines = set(again.split("\n"))
    beside = lines.difference(text.split("\n"))
    whole = len(lines) - len(beside) == len(set(text.split("\n")))
    return whole and bool(beside) and not any(link in line for line in beside for link in links if link)


def _running(text: str) -> int:
    """Characters of a text in lines that read as prose."""
    return sum(len(line) for line in text.split("\n") if is_prose(line))


def fuller(text: str, bodies: Sequence[StatedBody], names: Set[str], failed: int = _FAILED) -> str:
    """`text`, or what a page states as its article, where that is much more: scripts would show it.

    Args:
        text: The main text that the page shows.
        bodies: Texts that it states or carries, the longest first.
        names: Its title and headings, as `letters`.
        failed: Characters of prose below which the longest is taken though nothing shows that it is the page's.
    """
    running = _running(text)
    much = [body for body in bodies if _running(body.text) > _MUCH_MORE * running]
    if not much:
        return text
    lines = list(islice((letters(line) for line in text.split("\n") if is_prose(line)), _MOST_LINES))
    # The title may be that of the linked data, so that what the page shows says more.
    own = next((body for body in much if _holds(body, lines)), None)
    own = own or next((body for body in much if _is_headed(body, names)), None)
    if own is None and running < failed:
        own = much[0]
    return own.text if own else text


def is_short(text: str) -> bool:
    """Whether a text has so little prose that its reading may have failed."""
    return _running(text) < _FAILED


def _holds(body: StatedBody, lines: Sequence[str]) -> bool:
    """Whether a stated text has one of the lines that the page shows, as `letters`."""
    said = letters(body.text)
    return any(line[:_SAME] in said for line in lines if len(line) >= _LEAST_SAME)


def _is_headed(body: StatedBody, names: Set[str]) -> bool:
    """Whether a stated text has the page's headline."""
    headline = letters(body.headline)
    return headline != "" and any(headline in n or (n in headline and 2 * len(n) >= len(headline)) for n in names)


def read_again(tree: HtmlElement, **how: bool) -> str:
    """The text that `bare_extraction` finds without comments; the tree stays as it is."""
    found = bare_extraction(tree, include_comments=False, **how)
    return paragraphs(found.text or "") if found is not None else ""


def _protect_ampersands(tree: HtmlElement) -> None:
    """Escape the tree's ampersands once, because trafilatura's text output resolves character references again.

    Without this a page that shows `&lt;` to its readers would be recorded as showing `<`.
    """
    for text in _WITH_AMPERSAND(tree) if "&" in text_of(tree) else ():
        element = text.getparent()
        if text.is_tail:
            element.tail = text.replace("&", "&amp;")
        elif element.tag != "script":
            element.text = text.replace("&", "&amp;")


def _drop_comments(tree: HtmlElement) -> None:
    """Take out what readers wrote below an article, told by name."""
    for element in list(tree.iter(*_BOXES)):
        classes = element.get("class", "")
        # Most classes are spared the search for a name anywhere in them: without these letters none is there.
        named = _COMMENTS_ID.match(element.get("id", "")) or ("ment" in classes and _COMMENTS_CLASS.match(classes))
        # An opinion is a `Kommentar` too: with the page's heading in it, it is the article.
        if named and element.getparent() is not None and next(element.iter("h1"), None) is None:
            element.drop_tree()
