"""The text of a page's main element, read as trafilatura's balanced mode reads it.

The steps are those of `trafilatura.bare_extraction(fast=True)`, its handlers of elements among them. Other than
there, text that stands straight in containers is put into paragraphs, the element that holds the text is weighed by
its prose (`scope`), and what is named as boilerplate stays where much of the page's prose has that name. Of precise
mode only the test of paragraphs that are links is taken: its rules for borders, for text after empty elements and
for headers cost, on the article extraction benchmark, .017, .004 and .006 of recall for at most .003 of precision.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from itertools import islice
from typing import Final

from lxml.etree import Element, XPath, _Element, strip_elements, strip_tags
from lxml.html import HtmlElement
from trafilatura.htmlprocessing import (
    convert_tags,
    is_paragraph_listing,
    link_density_test_tables,
    process_node,
    tree_cleaning,
)
from trafilatura.main_extractor import REBUILT_BLOCKS, handle_textelem
from trafilatura.settings import TAG_CATALOG, Extractor
from trafilatura.utils import text_chars_test
from trafilatura.xml import delete_element, xmltotxt

from quern.jobs.documents.html.loose_text import (
    IMAGE,
    is_sentence,
    linked_length,
    wrap_lines_between,
    wrap_loose_text,
    wrap_standfirsts,
)
from quern.jobs.documents.html.scope import drop_named, main_scope, sums_up, take_standfirst
from quern.jobs.documents.html.teasers import drop_teasers
from quern.jobs.documents.html.texts import line_of, text_of
from quern.jobs.text.plain_text import paragraphs

_TAGS: Final = frozenset({*TAG_CATALOG, "table", "td", "th", "tr"})
# Least links of a list, and their least share of its text, that is one of links.
_FEWEST_LINKS: Final = 3
_LINK_LIST: Final = 0.8
_OUTER_ARTICLES: Final = XPath("descendant::article[not(ancestor::article)][descendant::article]")
# Most share of references in a text that is not made of them, and what one looks like: #812, [3], 14a.
_FEW_LINKED: Final = 0.2
_REFERENCE: Final = re.compile(r"\W{0,2}\d{1,6}[a-z]?\W{0,2}|")
# Characters and children of a `div` that goes for its short links: trafilatura's own.
_SHORT_DIV: Final = (100, 3)
# trafilatura's own, too: shares of an element's text in links, the length of a link that may be all of an element (by
# tag), of a short link and of a long one, the most links of what is no farm of them, and lengths of short elements (by
# tag, and whether they are the last).
_ALL_LINK: Final = 0.9
_MOSTLY_LINK: Final = 0.8
_LONG_LINK: Final = {"p": 10, "div": 100, "list": 100}
_SHORT_LINK: Final = 10
_FARM_LINK: Final = 100
_NO_FARM: Final = 4
_SHORT_TEXT: Final = {("p", True): 60, ("p", False): 30}
_SHORT_BLOCK: Final = {True: 300, False: 100}
# A paragraph that is all of an entry or a cell goes with it.
_HOLDING: Final = ("item", "td", "th")
_NOT_LAST: Final = ("head", "ref")


@lru_cache(maxsize=1)
def _balanced() -> Extractor:
    return Extractor(fast=True, comments=False)


def read_main(tree: HtmlElement, base: str) -> str:
    """The main text, one paragraph a line; consumes the tree. Links start from the address `base`."""
    options = _balanced()
    _mark_images(tree)
    _drop_nested_articles(tree)
    drop_teasers(tree, base)
    tree = convert_tags(tree_cleaning(tree, options), options)
    wrap_loose_text(tree)
    wrap_standfirsts(tree)
    scope = main_scope(tree, drop_named(tree))
    take_standfirst(tree, scope)
    wrap_lines_between(scope)
    _drop_bylines(scope)
    _drop_links(scope)
    return paragraphs(xmltotxt(_body(scope, options), False))


def _mark_images(tree: HtmlElement) -> None:
    """Leave a mark where an image was: a short line beside it is its caption."""
    for image in tree.iter("img"):
        for above in islice(image.iterancestors(), 2):
            above.set(IMAGE, "")


def _drop_nested_articles(tree: HtmlElement) -> None:
    """Take out articles inside an article that has more text of its own: they are those that it recommends."""
    for outer in _OUTER_ARTICLES(tree):
        inner = [e for e in outer.iter("article") if e is not outer]
        if 2 * sum(len(text_of(e)) for e in inner) < len(text_of(outer)):
            for element in inner:
                if element.getparent() is not None:
                    element.drop_tree()


def _drop_links(scope: HtmlElement) -> None:
    """Take out blocks that are mostly links, and tables of links."""
    # Most elements hold no link, which is told once for all of them.
    holders = {above for link in scope.iter("ref") for above in link.iterancestors()}
    for _ in range(2):
        dropped = _drop_linked(scope, "div", holders, _SHORT_DIV)
        dropped += _drop_linked(scope, "list", holders, None)
        dropped += _drop_linked(scope, "p", holders, None)
        if not dropped:
            break
    for links in [e for e in scope.iter("list") if e in holders and _is_link_list(e)]:
        _drop_headed(links)
    for table in [t for t in scope.iter("table") if t in holders and link_density_test_tables(t)]:
        delete_element(table, keep_tail=False)
    strip_tags(scope, "span", "ref")


def _drop_linked(scope: HtmlElement, tag: str, holders: Set[HtmlElement], short: tuple[int, int] | None) -> int:
    """Take out elements of a tag that are links, as `trafilatura.htmlprocessing.delete_by_link_density` does.

    Other than there a sentence with links in it stays, whatever it stands in.

    Args:
        scope: The main text.
        tag: A name of elements.
        holders: Elements that hold links.
        short: Characters and children of an element that goes for its short links; null where none does.

    Returns:
        How many were taken out.
    """
    linked: list[HtmlElement] = []
    for element in scope.iter(tag):
        if element not in holders:
            continue
        is_linked, has_short = _link_density(element)
        if not is_linked and short and has_short:
            is_linked = len(line_of(element)) < short[0] and len(element) >= short[1]
        if is_linked and not (tag == "p" and element.getparent().tag in _HOLDING) and not _is_sentence(element):
            linked.append(element)
    for element in linked:
        _drop_headed(element)
    return len(linked)


def _link_density(element: HtmlElement) -> tuple[bool, bool]:
    """Whether an element is links, and whether it is a short one that holds some.

    As `trafilatura.htmlprocessing.link_density_test` tells it. Of a long text, in which all others may stand, only as
    much is looked at as tells that its links are few.
    """
    links = list(element.iter("ref"))
    lengths = [length for link in links if (length := len(line_of(link)))]
    if not links:
        return False, False
    last, linked = element.getnext() is None, sum(lengths)
    short = _SHORT_TEXT[element.tag, last] if element.tag == "p" else _SHORT_BLOCK[last]
    length = _length(element, max(short, linked / _ALL_LINK + 1))
    all_link = linked > _ALL_LINK * length
    if len(links) == 1 and linked > _LONG_LINK[element.tag] and all_link:
        return True, False
    if length < short:
        labels = sum(n < _SHORT_LINK for n in lengths)
        is_linked = linked > _MOSTLY_LINK * length or (len(lengths) > 1 and labels / len(lengths) > _MOSTLY_LINK)
        return is_linked or not lengths, True
    farm = len(links) > _NO_FARM and all_link and linked < _FARM_LINK * len(lengths)
    return farm and not is_paragraph_listing(links), False


def _length(element: HtmlElement, enough: float) -> int:
    """Characters of an element's text on one line; where that are more than enough, any number from there on."""
    text = text_of(element)
    begin = len(" ".join(text[: 2 * int(enough) + 2].split()))
    return begin if begin >= enough else len(" ".join(text.split()))


def _drop_headed(element: HtmlElement) -> None:
    """Take out an element, and the heading above it where that heads nothing else."""
    before, after = element.getprevious(), element.getnext()
    heads = before is not None and before.tag == "head" and before.get("rend") != "h1"
    if heads and (after is None or after.tag == "head") and not text_chars_test(element.tail):
        delete_element(before)
    delete_element(element)


def _is_sentence(element: HtmlElement) -> bool:
    """Whether links stand in a sentence, not before it as the title of what it is about; or are references."""
    text = line_of(element)
    links = [line_of(link) for link in element.iter("ref")]
    linked = sum(map(len, links))
    if not is_sentence(text, linked):
        return 0 < linked <= _FEW_LINKED * len(text) and all(_REFERENCE.fullmatch(link) for link in links)
    rest = text.removeprefix(next(filter(None, links), ""))
    return rest == text or not rest.lstrip()[:1].isupper()


def _drop_bylines(scope: HtmlElement) -> None:
    """Take out of headers what is neither a heading nor a standfirst: dates, names, sections."""
    for header in scope.iter("header"):
        for line in list(header.iter("p", "list")):
            text = line_of(line)
            if not sums_up(text, linked_length(line), figures=False):
                delete_element(line)


def _is_link_list(element: HtmlElement) -> bool:
    """Whether a list of several entries is little more than links: what else to read."""
    links = element.findall(".//ref")
    if len(links) < _FEWEST_LINKS:
        return False
    return sum(len(line_of(link)) for link in links) > _LINK_LIST * len(line_of(element))


def _body(scope: HtmlElement, options: Extractor) -> _Element:
    """The elements of `scope` that hold text, in order."""
    body, tags = Element("body"), set(_TAGS)
    for element in list(scope.iterdescendants("*")):
        tag, tail = element.tag, element.tail
        # What was read within an element around it is either done or moved.
        if tag == "done" or element.getroottree().getroot() is body:
            continue
        made = handle_textelem(element, tags, options)
        if made is not None:
            body.append(made)
            if element.getroottree().getroot() is not body:
                element.tag = "done"
        if tag in REBUILT_BLOCKS and text_chars_test(tail) and (made is None or made.tail is None):
            paragraph = Element("p")
            paragraph.text = tail
            if process_node(paragraph, options) is not None:
                body.append(paragraph)
    while len(body) and body[-1].tag in _NOT_LAST:
        delete_element(body[-1], keep_tail=False)
    strip_elements(body, "done")
    strip_tags(body, "div")
    return body
