"""Repairs of a page's tree before its main text is read, and the test whether that text is only a menu.

Tables that lay out a page become plain containers, what serves a visit (edit links, print links, boxes that ask
for an address) is taken out, and the parts of an article and the posts of a thread are brought together. Each rule
rests on what markup says of itself, never on one site's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from lxml.etree import XPath, strip_tags
from lxml.html import HtmlElement

from quern.jobs.documents.html.data_tables import write_tables
from quern.jobs.documents.html.texts import line_of, text_of

_UNWRAPPED: Final = "quern-unwrapped"
HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_HAS_MAIN: Final = XPath(
    "boolean(descendant::*[self::article or self::main or @role='main' or @itemprop='articleBody'])"
)
# Least characters of a cell with paragraphs, of a table of one row, and of a cell too long for data.
_CELL_WITH_BLOCKS: Final = 200
_ONE_ROW: Final = 200
_LONG_CELL: Final = 1000
# Least share of the page's text outside links for a cell to be its main part.
_MAIN_SHARE: Final = 0.6

_BODY_CLASS: Final = re.compile(r"article__body|article-body|articleBody|story-body")
_TYPED: Final = XPath("descendant::*/@itemtype")
_THREAD: Final = re.compile(r"schema\.org/(?:DiscussionForumPosting|QAPage)")
_POST: Final = re.compile(r"schema\.org/(?:DiscussionForumPosting|Comment|Question|Answer)\b")
_POST_TEXTS: Final = ".//*[@itemprop='text' or @itemprop='articleBody']"
_FEWEST_POSTS: Final = 2

# Most characters of a tool's line, and of a box around a field, which is also a small part of the page.
_SHORT_LINE: Final = 200
_SHORT_BOX: Final = 300
_BOX_SHARE: Final = 0.3
_BLOCKS: Final = frozenset({"p", "div", "li", "ul", "ol", "section", "header", "footer"})
_TOOL_LINES: Final = ("p", "div", "aside")
_SECTIONS: Final = frozenset({"article", "main", "body", "html", "td"})
_EDIT_LINKS: Final = XPath(
    "descendant::span[contains(@class, 'editsection')] | descendant::div[contains(@class, 'editsection')]"
)
_IN_BRACKETS: Final = re.compile(r"\s*\[[^\[\]]{1,60}\]\s*$")
_PRINT_LINKS: Final = XPath("descendant::a[contains(@href, 'window.print') or contains(@onclick, 'window.print')]")
_ADDRESS_FIELDS: Final = XPath(
    "descendant::input[@type='email' or contains(@placeholder, '@') or contains(@placeholder, '-Mail')"
    " or contains(@placeholder, 'mail') or contains(@name, 'mail')]"
)
_LOOSE_ENTRIES: Final = XPath("descendant::ul/p | descendant::ol/p")
_HOLDING_BLOCKS: Final = XPath("descendant::p[descendant::p or descendant::div]")
_LINKS: Final = XPath("descendant::a[@href][not(ancestor::td)]")
_READ_MORE: Final = re.compile(
    r"\s*\W?(?:(?:read|see) (?:more|also|next)|also read|don['’]t miss|more on this(?: topic| story)?|"
    r"related(?: article| story| stories)?|(?:à )?lire aussi|lesen sie (?:auch|mehr|hier)|(?:lies|siehe) auch|"
    r"auch interessant|mehr (?:dazu|zum thema)|lea también|ver también|leia (?:mais|também)|leggi anche|"
    r"czytaj (?:też|także|więcej|również)|"
    r"zobacz (?:też|także|również)|читайте также|lees ook|更多阅读|相关阅读|延伸阅读)\s*[:：]\s*",
    re.I,
)
_EDITOR: Final = "责任编辑"
_EDITED_BY: Final = re.compile(rf"\s*[（(【]?\s*{_EDITOR}\s*[:：][^。！？]{{1,12}}$")

_WORD: Final = re.compile(r"\w")
_SENTENCE_END: Final = re.compile(r"[.!?…؟।۔](?=[\"'”’»)\]]*(?:\s|$))")
_CJK_END: Final = re.compile("[。！？…]")
# Least words, or characters in Chinese and Japanese, of a sentence; least links of a menu and their share of its text.
_WORDS: Final = 5
_CJK_CHARACTERS: Final = 8
_FEWEST_LINKS: Final = 5
_MENU_SHARE: Final = 0.9


def repair(tree: HtmlElement) -> None:
    """Apply every repair to the tree."""
    _free_layout_tables(tree)
    unwrap(tree, write_tables(tree))
    _mend_blocks(tree)
    _drop_tools(tree)
    _join_bodies(tree)
    _gather_posts(tree)


def unwrap(tree: HtmlElement, elements: Iterable[HtmlElement]) -> None:
    """Leave of elements below `tree` what they hold: all at once, for each alone copies the text before it."""
    for element in elements:
        element.tag = _UNWRAPPED
    strip_tags(tree, _UNWRAPPED)


def _length(element: HtmlElement) -> int:
    return len(line_of(element))


def _drop(element: HtmlElement) -> None:
    """Remove an element, not the text after it."""
    if element.getparent() is not None:
        element.drop_tree()


# ---- tables ----------------------------------------------------------------------------------------------


def _free_layout_tables(tree: HtmlElement) -> None:
    """Turn tables that lay out a page, with their rows and cells, into containers; tables of data stay.

    trafilatura would read a layout table as data: the whole page as one row.
    """
    freed: list[HtmlElement] = []
    for table in list(tree.iter("table")):
        rows = table.xpath("tr | tbody/tr | thead/tr | tfoot/tr")
        cells = [cell for row in rows for cell in row.iterchildren("td", "th")]
        if _is_layout(table, rows, cells):
            for element in (table, *table.xpath("tbody | thead | tfoot"), *rows, *cells):
                element.tag = "div"
            freed += cells
    if freed and not _HAS_MAIN(tree):
        _mark_main(tree, freed)


def _is_layout(table: HtmlElement, rows: list[HtmlElement], cells: list[HtmlElement]) -> bool:
    if table.get("role") in ("presentation", "none") or not cells:
        return True
    if any(cell.find(".//h1") is not None for cell in cells):
        return True
    if table.find("caption") is not None or table.find("thead") is not None or any(c.tag == "th" for c in cells):
        return False
    return any(_holds_blocks(cell) for cell in cells) or (len(rows) == 1 and _length(table) >= _ONE_ROW)


def _holds_blocks(cell: HtmlElement) -> bool:
    if next(cell.iterdescendants("table", "pre", *HEADINGS), None) is not None:
        return True
    length = _length(cell)
    return length >= _LONG_CELL or (length >= _CELL_WITH_BLOCKS and len(cell.findall(".//p")) > 1)


def _mark_main(tree: HtmlElement, cells: list[HtmlElement]) -> None:
    """Make the innermost of `cells` that has most of the page's text outside links its `main` element."""
    most = _MAIN_SHARE * _unlinked(tree)
    holders = [cell for cell in cells if _unlinked(cell) > most]
    if holders:
        holders[-1].tag = "main"


def _unlinked(element: HtmlElement) -> int:
    """Length of the text outside links, scripts and styles."""
    return _length(element) - sum(_length(e) for e in element.iter("a", "script", "style", "title"))


def _mend_blocks(tree: HtmlElement) -> None:
    """Give blocks in impossible places, which unclosed markup leaves behind, a place where they are read."""
    for entry in _LOOSE_ENTRIES(tree):
        entry.tag = "li"
    for paragraph in _HOLDING_BLOCKS(tree):
        paragraph.tag = "div"


# ---- bodies and posts ------------------------------------------------------------------------------------


def _join_bodies(tree: HtmlElement) -> None:
    """Move an article's parts into one container.

    Publishing systems cut an article into sibling containers of one class, with advertisements between them;
    trafilatura reads the first only. Containers of different `article` elements are different articles.
    """
    groups: dict[tuple[object, ...], list[HtmlElement]] = {}
    for element in tree.iter("div", "section"):
        classes = element.get("class", "")
        # Most classes are spared the search: without these letters no name is there.
        named = "ody" in classes and _BODY_CLASS.search(classes)
        if not named and element.get("itemprop") != "articleBody":
            continue
        article = next(element.iterancestors("article"), None)
        groups.setdefault((element.tag, element.get("class"), article), []).append(element)
    for first, *others in groups.values():
        seen = {first}
        for element in others:
            if seen.isdisjoint(element.iterancestors()):
                first.extend(list(element))
                seen.add(element)


def _gather_posts(tree: HtmlElement) -> None:
    """Put the posts of a page that calls itself a thread (schema.org microdata) alone into its body.

    trafilatura takes short posts for remarks below an article.
    """
    body = tree.find("body")
    if body is None or not any(map(_THREAD.search, _TYPED(tree))):
        return
    posts = [e for e in body.xpath(_POST_TEXTS) if _POST.search(next(_types_above(e), ""))]
    outer = set(posts)
    posts = [post for post in posts if outer.isdisjoint(post.iterancestors())]
    if len(posts) < _FEWEST_POSTS:
        return
    for post in posts:
        post.tag, post.tail = "div", None
        post.attrib.clear()  # its class may say that it is a comment
    thread = body.makeelement("article")
    thread.extend(posts)
    body.clear()
    body.append(thread)


def _types_above(element: HtmlElement) -> Iterator[str]:
    """`itemtype` of the items that an element belongs to, the nearest first."""
    return (above.get("itemtype", "") for above in element.iterancestors() if above.get("itemscope") is not None)


# ---- tools of the page -----------------------------------------------------------------------------------


def _drop_tools(tree: HtmlElement) -> None:
    """Take out what serves a visit, not the text: edit and print links, boxes for an address, "Read more" lines."""
    links = ((link, heading) for heading in tree.iter(*HEADINGS[:-1]) for link in heading.iterdescendants("a"))
    in_headings = dict.fromkeys(around for link, heading in links if (around := link.getparent()) is not heading)
    for element in [*_EDIT_LINKS(tree), *in_headings]:
        if _IN_BRACKETS.match(text_of(element)):
            _drop(element)
    for link in _PRINT_LINKS(tree):
        line = next((above for above in link.iterancestors() if above.tag in _BLOCKS), None)
        _drop(line if line is not None and _is_tool(line) else link)
    fields = _ADDRESS_FIELDS(tree)
    most = min(_SHORT_BOX, _BOX_SHARE * _length(tree)) if fields else 0
    for field in fields:
        box = _box_around(field, most)
        if box is not None:
            _drop(box)
    lines = [line for line in tree.iter(*_TOOL_LINES) if len(line) < 3]
    for line in [line for line in lines if (_leads_away(line) if len(line) else _names_editor(line.text))]:
        _drop(line)


def _is_tool(line: HtmlElement) -> bool:
    """Whether a line with a link of a tool holds nothing else of worth: no heading and no sentence."""
    text = text_of(line).strip()
    heading = next(line.iterdescendants(*HEADINGS), None)
    return len(text) <= _SHORT_LINE and heading is None and not _is_sentence(text)


def _box_around(field: HtmlElement, most: float) -> HtmlElement | None:
    """The largest box of at most so many characters around a field, such as that of a newsletter.

    With a heading it is whole: what stands beside is another box.
    """
    box, length = None, 0
    for above in field.iterancestors():
        longer = _length(above)
        if above.tag in _SECTIONS or longer > most or above.find(".//h1") is not None:
            break
        if box is not None and longer > length and next(box.iter(*HEADINGS), None) is not None:
            break
        box, length = above, longer
    return box


def _leads_away(line: HtmlElement) -> bool:
    """Whether a line is only "Read more:" and a link."""
    link = line[-1]
    if link.tag != "a" or (link.tail or "").strip():
        return False
    text = text_of(line)
    return len(text) <= _SHORT_LINE and _READ_MORE.fullmatch(text.removesuffix(text_of(link))) is not None


def _names_editor(line: str | None) -> bool:
    """Whether a line names the editor on duty, as Chinese newspapers do."""
    return line is not None and _EDITOR in line and len(line) <= _SHORT_LINE and _EDITED_BY.match(line) is not None


# ---- menus -----------------------------------------------------------------------------------------------


def link_texts(tree: HtmlElement) -> set[str]:
    """Texts of the page's links, those in tables of data left out."""
    return {line_of(link) for link in _LINKS(tree)}


def is_menu(text: str, links: set[str]) -> bool:
    """Whether a text is nearly all lines made of links, and no other line of it is a sentence."""
    lines = [line.removeprefix("- ") for line in text.split("\n")]
    # An article is told by its first sentence, before any search.
    if any(line not in links and _is_sentence(line) for line in lines):
        return False
    longest_first = sorted((link for link in links if len(link) > 1), key=len, reverse=True)
    if not longest_first:
        return False
    any_link = re.compile("|".join(map(re.escape, longest_first)))
    found = linked = 0
    for line in lines:
        rest, count = ("", 1) if line in links else any_link.subn("", line)
        # A link that is a sentence is no entry of a menu.
        if not _WORD.search(rest) and not _is_sentence(line):
            found += count
            linked += len(line)
    return found >= _FEWEST_LINKS and linked >= _MENU_SHARE * sum(map(len, lines))


def _is_sentence(line: str) -> bool:
    """Whether a line ends a sentence after several words."""
    ends = [end.start() for end in _SENTENCE_END.finditer(line)]
    if ends and len(line[: ends[-1]].split()) >= _WORDS:
        return True
    ends = [end.start() for end in _CJK_END.finditer(line)]
    return bool(ends) and ends[-1] >= _CJK_CHARACTERS and not line.isascii()
