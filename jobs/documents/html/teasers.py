"""Teasers: boxes that each lead to another page of the site, told by headings that are links.

An article's own headings lead nowhere, to a place on its page, or to its sources elsewhere. Several boxes side by
side, each short and with a heading that is a link, are what else to read, whatever their names and their language;
save between paragraphs of prose, where they are what a list of the ten best or of questions consists of.

Chosen, not tuned: a teaser is no longer than a standfirst and its headline (400 characters), and two make a list.
At least half of the prose must be left, so that an overview with a foreword keeps its entries: .3, .4 and .5 give the
same on the article extraction benchmark and on the unseen pages. That boxes between paragraphs stay costs .0001 there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final
from urllib.parse import urljoin, urlsplit

from lxml.html import HtmlElement

from quern.jobs.documents.html.loose_text import is_prose
from quern.jobs.documents.html.texts import line_of, text_of

_LONGEST: Final = 400
_FEWEST: Final = 2
_LINKED: Final = 0.9
_LEFT_SHARE: Final = 0.5
_LEAST_HEADING: Final = 8
_WEB: Final = ("http", "https")
_LISTS: Final = ("ul", "ol", "div", "section", "li")
_HEADINGS: Final = ("h2", "h3", "h4", "h5", "h6")


def drop_teasers(tree: HtmlElement, base: str) -> None:
    """Take out lists of teasers, and the headings above them, of a page that has other prose.

    Args:
        tree: The page.
        base: Address that its links start from.
    """
    lists: dict[HtmlElement, list[HtmlElement]] = defaultdict(list)
    for teaser in _teasers(tree, base):
        above = teaser.getparent()
        if above is not None:
            lists[above].append(teaser)
    found = [teasers for around, teasers in lists.items() if len(teasers) >= _FEWEST and not _has_prose(around)]
    if not found:
        return
    held = sum(_prose(teaser) for teasers in found for teaser in teasers)
    all_of_it = _prose(tree)
    if all_of_it - held < _LEFT_SHARE * all_of_it:
        return
    for teasers in found:
        _drop_heading(teasers[0])
        for teaser in teasers:
            teaser.drop_tree()


def _teasers(tree: HtmlElement, base: str) -> Iterator[HtmlElement]:
    """The largest boxes with one heading that is a link."""
    headings: dict[HtmlElement, int] = defaultdict(int)
    linked = [heading for heading in tree.iter(*_HEADINGS) if _leads_on(heading, base)]
    for heading in linked:
        for above in heading.iterancestors():
            headings[above] += 1
    for heading in linked:
        box = heading
        for above in heading.iterancestors():
            if headings[above] > 1:
                break
            box = above
        if box is not heading and box.tag not in ("a", "body") and _is_short(box):
            yield box


def _leads_on(heading: HtmlElement, base: str) -> bool:
    """Whether a heading is a link to another page of the site."""
    text = "".join(text_of(heading).split())
    if not _LEAST_HEADING <= len(text) <= _LONGEST:
        return False
    around = heading.getparent()
    links = [around] if around is not None and around.tag == "a" else list(heading.iter("a"))
    linked = sum(len("".join(text_of(link).split())) for link in links if _is_other_page(link, base))
    return linked >= _LINKED * len(text)


def _is_other_page(link: HtmlElement, base: str) -> bool:
    """Whether a link leads to another page of the same site; where the site is not known, to another page."""
    href = link.get("href", "").strip()
    try:
        here = urlsplit(base)
        there = urlsplit(href if href.startswith(("https://", "http://")) else urljoin(base, href))
    except ValueError:
        return False
    if href.startswith("#") or there.scheme not in (*_WEB, here.scheme):
        return False
    if here.scheme not in _WEB:
        return bool(href) and not there.fragment
    same_site = (here.hostname or "").split(".")[-2:] == (there.hostname or "").split(".")[-2:]
    return same_site and (here.path, here.query) != (there.path, there.query)


def _is_short(box: HtmlElement) -> bool:
    return len(line_of(box)) <= _LONGEST


def _has_prose(around: HtmlElement) -> bool:
    """Whether paragraphs of prose stand straight in an element."""
    return any(is_prose(line_of(p)) for p in around.iterchildren("p"))


def _prose(element: HtmlElement) -> int:
    """Characters in paragraphs that read as prose."""
    texts = (line_of(p) for p in element.iter("p"))
    return sum(len(text) for text in texts if is_prose(text))


def _drop_heading(first: HtmlElement) -> None:
    """Take out the heading that stands right above the list of which this is the first teaser."""
    here = first
    while here.getprevious() is None and here.getparent() is not None and here.getparent().tag in _LISTS:
        here = here.getparent()
    before = here.getprevious()
    if before is not None and before.tag in _HEADINGS and not (before.tail or "").strip():
        before.drop_tree()
