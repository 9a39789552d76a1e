"""The text of a page's main element, read as trafilatura's balanced mode reads it.

The steps are those of `trafilatura.bare_extraction(fast=True)`, its handlers of elements among them. Other than
there, text that stands straight in containers is put into paragraphs, the element that holds the text is weighed by
its prose (`scope`), and what is named as boilerplate stays where much of the page's prose has that name. Of precise
mode only the test of paragraphs that are links is taken: its rules for borders, for text after empty elements and
for headers cost, on the article extraction benchmark, .017, .004 and .006 of recall for at most .003 of precision.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Final

from lxml.etree import Element, XPath, _Element, strip_elements, strip_tags
from lxml.html import HtmlElement
from trafilatura.htmlprocessing import (
    convert_tags,
    delete_by_link_density,
    link_density_test_tables,
    process_node,
    tree_cleaning,
)
from trafilatura.main_extractor import REBUILT_BLOCKS, handle_textelem
from trafilatura.settings import TAG_CATALOG, Extractor
from trafilatura.utils import text_chars_test, trim
from trafilatura.xml import delete_element, xmltotxt

from quern.jobs.documents.html.loose_text import IMAGE, is_sentence, wrap_loose_text
from quern.jobs.documents.html.scope import drop_named, main_scope, take_standfirst
from quern.jobs.text.plain_text import paragraphs

_TAGS: Final = frozenset({*TAG_CATALOG, "table", "td", "th", "tr"})
# Least links of a list, and their least share of its text, that is one of links.
_FEWEST_LINKS: Final = 3
_LINK_LIST: Final = 0.8
_OUTER_ARTICLES: Final = XPath("descendant::article[not(ancestor::article)][descendant::article]")
_NOT_LAST: Final = ("head", "ref")


@lru_cache(maxsize=1)
def _balanced() -> Extractor:
    return Extractor(fast=True, comments=False)


def read_main(tree: HtmlElement) -> str:
    """The main text, one paragraph a line; consumes the tree."""
    options = _balanced()
    _mark_images(tree)
    _drop_nested_articles(tree)
    tree = convert_tags(tree_cleaning(tree, options), options)
    wrap_loose_text(tree)
    scope = main_scope(tree, drop_named(tree))
    take_standfirst(tree, scope)
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
        if 2 * sum(len(e.text_content()) for e in inner) < len(outer.text_content()):
            for element in inner:
                if element.getparent() is not None:
                    element.drop_tree()


def _drop_links(scope: HtmlElement) -> None:
    """Take out blocks that are mostly links, and tables of links."""
    for _ in range(2):
        delete_by_link_density(scope, "div", backtracking=True)
        delete_by_link_density(scope, "list")
        delete_by_link_density(scope, "p", favor_precision=True)
    for links in [e for e in scope.iter("list") if _is_link_list(e)]:
        delete_element(links)
    for table in [t for t in scope.iter("table") if link_density_test_tables(t)]:
        delete_element(table, keep_tail=False)
    strip_tags(scope, "span", "ref")


def _drop_bylines(scope: HtmlElement) -> None:
    """Take out of headers what is neither a heading nor a sentence: dates, names, sections."""
    for header in scope.iter("header"):
        for line in list(header.iter("p", "list")):
            text = " ".join(line.text_content().split())
            if not is_sentence(text, sum(len(link.text_content()) for link in line.iter("ref"))):
                delete_element(line)


def _is_link_list(element: HtmlElement) -> bool:
    """Whether a list of several entries is little more than links: what else to read."""
    links = element.findall(".//ref")
    if len(links) < _FEWEST_LINKS:
        return False
    return sum(len(trim(link.text_content())) for link in links) > _LINK_LIST * len(trim(element.text_content()))


def _body(scope: HtmlElement, options: Extractor) -> _Element:
    """The elements of `scope` that hold text, in order."""
    body = Element("body")
    for element in list(scope.iterdescendants("*")):
        if element.getroottree().getroot() is body:
            continue
        tag, tail = element.tag, element.tail
        made = handle_textelem(element, set(_TAGS), options)
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
