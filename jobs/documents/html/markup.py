"""Repairs of a page's tree before its main text is read, and the test whether that text is only a menu.

Tables that lay out a page become plain containers, links that edit a section go, and the parts of an article and the
posts of a thread are brought together. Each rule rests on what markup says of itself, never on one site's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from lxml.etree import XPath, strip_tags
from lxml.html import HtmlElement

from quern.jobs.documents.html.data_tables import write_tables
from quern.jobs.documents.html.texts import is_sentence, line_of

_UNWRAPPED: Final = "quern-unwrapped"
HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_HAS_MAIN: Final = XPath(
    "boolean(descendant::*[self::article or self::main or @role='main' or @itemprop='articleBody'])"
)
_BODY_CLASS: Final = re.compile(r"article__body|article-body|articleBody|story-body")
_TYPED: Final = XPath("descendant::*/@itemtype")
_THREAD: Final = re.compile(r"schema\.org/(?:DiscussionForumPosting|QAPage)")
_POST: Final = re.compile(r"schema\.org/(?:DiscussionForumPosting|Comment|Question|Answer)\b")
_EDIT_LINKS: Final = XPath(
    "descendant::span[descendant::a][starts-with(normalize-space(), '[')]"
    "[contains(@class, 'editsection') or parent::h2 or parent::h3 or parent::h4]"
)
_LINKS: Final = XPath("descendant::a[@href][not(ancestor::td)]")
# Blocks in impossible places, which unclosed markup leaves behind.
_LOOSE_ENTRIES: Final = XPath("descendant::ul/p | descendant::ol/p")
_HOLDING_BLOCKS: Final = XPath("descendant::p[descendant::p or descendant::div]")
_BLOCKS: Final = frozenset({"p", "div", "section", "article", "header", "table", "ul", "ol", "dl", "blockquote", "pre"})
_WORD: Final = re.compile(r"\w")


def repair(tree: HtmlElement) -> None:
    """Apply every repair to the tree."""
    _free_layout_tables(tree)
    unwrap(tree, write_tables(tree))
    for link in _EDIT_LINKS(tree):
        link.drop_tree()
    for entry in _LOOSE_ENTRIES(tree):
        entry.tag = "li"
    for paragraph in _HOLDING_BLOCKS(tree):
        paragraph.tag = "div"
    _part_at_breaks(tree)
    _join_bodies(tree)
    _gather_posts(tree)


def unwrap(tree: HtmlElement, elements: Iterable[HtmlElement]) -> None:
    """Leave of elements below `tree` what they hold: all at once, for each alone copies the text before it."""
    for element in elements:
        element.tag = _UNWRAPPED
    strip_tags(tree, _UNWRAPPED)


def unlinked(element: HtmlElement) -> int:
    """Length of the text outside links, scripts and styles."""
    outside = ("a", "script", "style", "title", "noscript", "template")
    return len(line_of(element)) - sum(len(line_of(e)) for e in element.iter(*outside))


def _free_layout_tables(tree: HtmlElement) -> None:
    """Turn tables that lay out a page, with their rows and cells, into containers; tables of data stay.

    trafilatura would read a layout table as data: the whole page as one row.
    """
    containers: list[HtmlElement] = []
    for table in list(tree.iter("table")):
        rows = table.xpath("tr | tbody/tr | thead/tr | tfoot/tr")
        cells = [cell for row in rows for cell in row.iterchildren("td", "th")]
        is_layout = table.get("role") in ("presentation", "none") or not cells
        if not is_layout and all(cell.find(".//h1") is None for cell in cells):
            has_head = table.find("caption") is not None or table.find("thead") is not None
            if has_head or any(cell.tag == "th" for cell in cells):
                continue
            one_line = len(rows) == 1 and len(line_of(table)) >= 200
            if not one_line and not any(map(_holds_blocks, cells)):
                continue
        for element in (table, *table.xpath("tbody | thead | tfoot"), *rows, *cells):
            element.tag = "div"
        containers += cells
    if containers and not _HAS_MAIN(tree):
        # The innermost cell that has most of the page's text is its main element.
        most = 0.6 * unlinked(tree)
        if holders := [cell for cell in containers if unlinked(cell) > most]:
            holders[-1].tag = "main"


def _holds_blocks(cell: HtmlElement) -> bool:
    if next(cell.iterdescendants("table", "pre", *HEADINGS), None) is not None:
        return True
    length = len(line_of(cell))
    return length >= 1000 or (length >= 200 and len(cell.findall(".//p")) > 1)


def _part_at_breaks(tree: HtmlElement) -> None:
    """Put text that is parted by two line breaks into paragraphs: trafilatura leaves out what stands before them."""
    breaks = [b for b in tree.iter("br") if (b.getnext() is not None and b.getnext().tag == "br") and _is_bare(b.tail)]
    for box in dict.fromkeys(b.getparent() for b in breaks):
        parts = [box.makeelement("p")]
        parts[0].text, box.text = box.text, None
        for child in list(box):
            is_block = child.tag in _BLOCKS or child.tag in HEADINGS
            if is_block or (child.tag == "br" and _is_bare(child.tail)):
                rest = box.makeelement("p")
                rest.text, child.tail = child.tail, None
                parts += [child, rest] if is_block else [rest]
            else:
                parts[-1].append(child)
        box[:] = [part for part in parts if part.tag != "p" or len(part) or not _is_bare(part.text)]
        box.tag = "div" if box.tag in ("p", "font", "span") else box.tag


def _is_bare(text: str | None) -> bool:
    return not (text or "").strip()


def _join_bodies(tree: HtmlElement) -> None:
    """Move an article's parts into one container.

    Publishing systems cut an article into sibling containers of one class, with advertisements between them;
    trafilatura reads the first only. Containers of different `article` elements are different articles.
    """
    groups: dict[tuple[object, ...], list[HtmlElement]] = {}
    for element in tree.iter("div", "section"):
        classes = element.get("class", "")
        # Most classes are spared the search: without these letters no name is there.
        is_body = "ody" in classes and _BODY_CLASS.search(classes)
        if not is_body and element.get("itemprop") != "articleBody":
            continue
        article = next(element.iterancestors("article"), None)
        groups.setdefault((element.tag, element.get("class"), article), []).append(element)
    for first, *others in groups.values():
        members = {first}
        for element in others:
            if members.isdisjoint(element.iterancestors()):
                first.extend(list(element))
                members.add(element)


def _gather_posts(tree: HtmlElement) -> None:
    """Put the posts of a page that calls itself a thread (schema.org microdata) alone into its body.

    trafilatura takes short posts for remarks below an article.
    """
    body = tree.find("body")
    if body is None or not any(map(_THREAD.search, _TYPED(tree))):
        return
    posts: list[HtmlElement] = []
    for text in body.xpath(".//*[@itemprop='text' or @itemprop='articleBody']"):
        item = next((above for above in text.iterancestors() if above.get("itemscope") is not None), None)
        if item is not None and _POST.search(item.get("itemtype", "")):
            posts.append(text)
    outer = set(posts)
    posts = [post for post in posts if outer.isdisjoint(post.iterancestors())]
    if len(posts) < 2:
        return
    for post in posts:
        post.tag, post.tail = "div", None
        post.attrib.clear()  # its class may say that it is a comment
    thread = body.makeelement("article")
    thread.extend(posts)
    body.clear()
    body.append(thread)


def link_texts(tree: HtmlElement) -> set[str]:
    """Texts of the page's links, those in tables of data left out."""
    return {line_of(link) for link in _LINKS(tree)}


def is_menu(text: str, links: set[str]) -> bool:
    """Whether nine tenths of a text are lines made of links, of five or more, and no other line is a sentence."""
    lines = [line.removeprefix("- ") for line in text.split("\n")]
    # The first sentence shows that it is an article, before any search.
    if any(line not in links and is_sentence(line) for line in lines):
        return False
    longest_first = sorted((link for link in links if len(link) > 1), key=len, reverse=True)
    if not longest_first:
        return False
    any_link = re.compile("|".join(map(re.escape, longest_first)))
    entries = linked = 0
    for line in lines:
        rest, count = ("", 1) if line in links else any_link.subn("", line)
        # A link that is a sentence is no entry of a menu.
        if not _WORD.search(rest) and not is_sentence(line):
            entries += count
            linked += len(line)
    return entries >= 5 and linked >= 0.9 * sum(map(len, lines))
