"""Panels: parts of a page that are folded in until a reader opens them, such as answers, tabs, the end of a text.

What is folded in by a style or hidden from screen readers is mostly no text: menus, dialogs, copies for other screens.
A panel is told by what opens it: a control that names it, a line above it that several folded parts alike have,
or a neighbour alike that is shown.

Chosen, not tuned: a panel's title is no longer than a long question (200 characters), and two panels alike are a
list of them. No text of the article extraction benchmark changes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from typing import Final

from lxml import etree
from lxml.etree import XPath
from lxml.html import HtmlElement

from quern.jobs.documents.html.attributes import Holders
from quern.jobs.documents.html.markup import HEADINGS
from quern.jobs.documents.html.texts import text_of

_COVERING: Final = Holders("aria-hidden[. = 'true']", "style[contains(., 'none')]")
_COVERED: Final = frozenset({"div", "section", "dd", "ul", "ol", "p", "table"})
_CONTROLS: Final = Holders("aria-controls", "data-target", "href[starts-with(., '#')]")
_FIELDS: Final = XPath("boolean(descendant::form or descendant::input or descendant::iframe)")
_DISPLAY: Final = re.compile(r"display\s*:\s*none\s*(?:!important)?;?", re.I)
_FOLDED: Final = re.compile(r"toggle|acc?ord|akkordeon|collaps|spoiler|faq|question|answer|tab-?pane|panel", re.I)
_NO_TEXT: Final = re.compile(
    r"modal|dialog|pop-?up|overlay|lightbox|menu|nav|dropdown|search|suche|login|cookie|consent|share|comment|kommentar",
    re.I,
)
_TITLES: Final = (*HEADINGS, "dt", "button", "summary")
_LONGEST_TITLE: Final = 200
_SEVERAL: Final = 2
_LONGEST_CONTROL: Final = 40
# What an element is in, its tag and its first class.
_Place = tuple[HtmlElement | None, str, str]
_GOING_NOWHERE: Final = ("#", "javascript:")


def show_panels(tree: HtmlElement) -> None:
    """Take the marks of being hidden from the panels of a page."""
    covered = [element for element in _COVERING(tree) if _is_covered(element) and _may_open(element)]
    if not covered:
        return
    hidden, opened = set(covered), opened_by_controls(tree)
    titled = {element for element in covered if _has_title(element, hidden)}
    alike = Counter(look(element) for element in titled)
    shown = _shown_beside(covered, hidden)
    for element in covered:
        several = element in titled and (alike[look(element)] >= _SEVERAL or _is_folded(element))
        named = element.get("id", "") in opened or element.get("role") == "tabpanel"
        if several or named or _place(element) in shown or _is_the_rest(element):
            element.attrib.pop("aria-hidden", None)
            element.set("style", _DISPLAY.sub("", element.get("style", "")))


def opened_by_controls(tree: HtmlElement) -> set[str]:
    """Ids of the elements that a control or a link of the page opens."""
    named = (e.get(name, "").strip() for e in _CONTROLS(tree) for name in ("aria-controls", "data-target", "href"))
    return {one.removeprefix("#") for names in named for one in names.split()} - {""}


def look(element: HtmlElement) -> tuple[str, str]:
    """By what elements that look alike are told: their tag and classes."""
    return element.tag, element.get("class", "")


def _names(element: HtmlElement) -> str:
    return f"{element.get('class', '')} {element.get('id', '')}"


def _is_folded(element: HtmlElement) -> bool:
    return _FOLDED.search(_names(element)) is not None


def _is_covered(element: HtmlElement) -> bool:
    hidden = element.get("aria-hidden") == "true" or "display:none" in element.get("style", "").replace(" ", "")
    return hidden and element.tag in _COVERED


def _may_open(element: HtmlElement) -> bool:
    return not _NO_TEXT.search(_names(element)) and not _FIELDS(element) and bool(text_of(element).strip())


def _has_title(element: HtmlElement, hidden: Set[HtmlElement]) -> bool:
    """Whether a short line stands right above: a heading, or one named as what folds."""
    title = element.getprevious()
    if title is None or title in hidden or not _is_short(title, _LONGEST_TITLE):
        return False
    return next(title.iter(*_TITLES), None) is not None or _is_folded(title)


def _shown_beside(covered: Sequence[HtmlElement], hidden: Set[HtmlElement]) -> set[_Place]:
    """Places where a neighbour of a panel is shown, as the first of several tabs is."""
    around = {element.getparent() for element in covered} - {None}
    shown = {_place(e) for parent in around for e in parent.iterchildren(etree.Element) if e not in hidden}
    return {place for place in shown if _FOLDED.search(place[2])}


def _place(element: HtmlElement) -> _Place:
    first = element.get("class", "").split()[:1]
    return element.getparent(), element.tag, first[0] if first else ""


def _is_the_rest(element: HtmlElement) -> bool:
    """Whether paragraphs stand beside a short control that leads nowhere: "more" unfolds the rest of a text."""
    if next(element.iter("p"), None) is None:
        return False
    beside = [e for e in (element.getnext(), element.getprevious()) if e is not None]
    return any(_is_control(next(e.iter("a", "button"), None)) for e in beside if _is_short(e, _LONGEST_CONTROL))


def _is_control(control: HtmlElement | None) -> bool:
    if control is None:
        return False
    href: str = control.get("href", "#").strip().lower()
    return control.tag == "button" or href.startswith(_GOING_NOWHERE)


def _is_short(element: HtmlElement, most: int) -> bool:
    return 0 < len(text_of(element).strip()) <= most
