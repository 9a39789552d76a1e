"""Teasers: boxes that each lead to another page, told by headings that are links.

An article's own headings lead nowhere, or to a place on its page. Several boxes side by side, each short and with a
heading that is a link, are what else to read, whatever their names and their language.

Chosen, not tuned: a teaser is no longer than a standfirst and its headline (400 characters), and two make a list.
That at least 500 characters or three tenths of the prose must be left, so that an overview keeps its entries, are
the shares by which `scope` takes an element for the main text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from lxml.html import HtmlElement

from quern.jobs.documents.html.loose_text import is_prose

_LONGEST: Final = 400
_FEWEST: Final = 2
_LINKED: Final = 0.9
_LEFT: Final = 500
_LEFT_SHARE: Final = 0.3
_LEAST_HEADING: Final = 8
_LISTS: Final = ("ul", "ol", "div", "section", "li")
_HEADINGS: Final = ("h2", "h3", "h4", "h5", "h6")


def drop_teasers(tree: HtmlElement) -> None:
    """Take out lists of teasers, and the headings above them, of a page that has other prose."""
    lists: dict[HtmlElement, list[HtmlElement]] = defaultdict(list)
    for teaser in _teasers(tree):
        above = teaser.getparent()
        if above is not None:
            lists[above].append(teaser)
    found = [teasers for teasers in lists.values() if len(teasers) >= _FEWEST]
    if not found:
        return
    held = sum(_prose(teaser) for teasers in found for teaser in teasers)
    all_of_it = _prose(tree)
    if all_of_it - held < min(_LEFT, _LEFT_SHARE * all_of_it):
        return
    for teasers in found:
        _drop_heading(teasers[0])
        for teaser in teasers:
            teaser.drop_tree()


def _teasers(tree: HtmlElement) -> Iterator[HtmlElement]:
    """The largest boxes with one heading that is a link."""
    headings: dict[HtmlElement, int] = defaultdict(int)
    linked = [heading for heading in tree.iter(*_HEADINGS) if _leads_away(heading)]
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


def _leads_away(heading: HtmlElement) -> bool:
    text = "".join(heading.text_content().split())
    if len(text) < _LEAST_HEADING:
        return False
    around = heading.getparent()
    links = [around] if around is not None and around.tag == "a" else list(heading.iter("a"))
    away = [link for link in links if not link.get("href", "#").startswith("#")]
    return sum(len("".join(link.text_content().split())) for link in away) >= _LINKED * len(text)


def _is_short(box: HtmlElement) -> bool:
    return len(" ".join(box.text_content().split())) <= _LONGEST


def _prose(element: HtmlElement) -> int:
    """Characters in paragraphs that read as prose."""
    texts = (" ".join(p.text_content().split()) for p in element.iter("p"))
    return sum(len(text) for text in texts if is_prose(text))


def _drop_heading(first: HtmlElement) -> None:
    """Take out the heading that stands right above the list of which this is the first teaser."""
    here = first
    while here.getprevious() is None and here.getparent() is not None and here.getparent().tag in _LISTS:
        here = here.getparent()
    before = here.getprevious()
    if before is not None and before.tag in _HEADINGS and not (before.tail or "").strip():
        before.drop_tree()
