"""Paragraphs for text that stands straight in containers.

Page builders, old systems and editors write text into `div` elements, its paragraphs apart by `<br><br>` or each in
a `div` of its own. trafilatura takes text for text only in paragraphs, lists, quotes, headings and tables, or, on a
page of few paragraphs, in every `div`, menus and bylines among them. Here each run of text and inline elements that
reads as prose becomes a paragraph, and so do the short runs between two of these: a dialogue's answers, a line of
a poem.

The least sentence, 25 characters, is readability's `min_text_length`; 80 characters are a line of print. Neither was
tuned. That several leaves make a text was tried on rewritten pages of one half (by site) of the article extraction
benchmark and gained .01 of recall on both halves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from lxml.html import HtmlElement

from quern.jobs.documents.html.texts import line_of, text_of

# Elements that end a run; all others (`span`, links, breaks, unknown ones) are part of it. Names as trafilatura's.
BLOCKS: Final = frozenset(
    {"p", "div", "section", "article", "main", "header", "center", "form", "address", "hgroup", "figure"}
    | {"list", "item", "quote", "table", "tr", "td", "th", "caption", "head", "done", "ul", "ol", "dl", "li"}
)
_CONTAINERS: Final = ("div", "section", "article", "main", "header", "center", "form", "body")
_INLINE: Final = frozenset({"span", "font", "ref"})
_SPACE: Final = " \t\r\n"
# The mark of a place where an image was.
IMAGE: Final = "data-quern-image"
_LEAF: Final = ("div", "center")
# Names of what stands beside a text rather than in it: a caption, a line of dates and names, a tool of the page.
_BESIDE: Final = re.compile(
    r"caption|credit|copyright|legend|by-?line|author|meta|date|time(?!line)|tags?\b|categor|share|social|print|button|"
    r"hatnote|ambox|newsletter|subscri|sign-?up|promo|teaser|(?<!label-)hidden|tooltip|popup|modal|message|image|photo|gallery|bildunterschrift",
    re.I,
)
# The end of a sentence, sought in so many last characters: a search from every word on takes seconds for a long text.
_SENTENCE_END: Final = re.compile(r"[.!?…:؟।۔。！？][\"'”’»«“)\]]*$")
_END_LENGTH: Final = 20
_WORD: Final = re.compile(r"\w")
_DIGIT: Final = re.compile(r"\d")
# Least characters of a line that sums up what follows without being a sentence.
_LEAD: Final = 40
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# A run of so many characters outside links is prose; so is a shorter one of so many that ends as a sentence does.
_PROSE: Final = 80
_SENTENCE_LENGTH: Final = 25
_SPACES: Final = 3
# So many leaves of prose in one container, or two that are half of its leaves, make short leaves lines of a text.
_SEVERAL: Final = 3
_LINKED: Final = 0.5
# Least characters of loose text that is no caption, byline or tool, whatever its container's name.
_TOO_LONG: Final = 600


@dataclass
class _Run:
    """Text and inline elements between two blocks.

    Attributes:
        after: The element whose tail starts the run; null where the container's own text does.
        text: What the run starts with, and its elements, in order.
    """

    after: HtmlElement | None
    text: str
    elements: list[HtmlElement] = field(default_factory=list)

    @cached_property
    def words(self) -> str:
        """All text of the run."""
        return " ".join("".join([self.text, *(_whole(e) for e in self.elements)]).split())

    def linked(self) -> int:
        """Characters inside links."""
        return sum(len(_whole(link)) - len(link.tail or "") for e in self.elements for link in e.iter("ref"))


def _whole(element: HtmlElement) -> str:
    return f"{text_of(element)}{element.tail or ''}"


def is_prose(text: str, linked: int = 0) -> bool:
    """Whether a text of a block reads as running text: long enough or a sentence, and mostly outside links."""
    return _reads(text, linked, _PROSE)


def is_sentence(text: str, linked: int = 0) -> bool:
    """Whether a text is a sentence or several, mostly outside links."""
    return _reads(text, linked, None)


def _reads(text: str, linked: int, long: int | None) -> bool:
    own = len(text) - linked
    if own < len(text) * _LINKED or not text:
        return False
    if _CJK.search(text):
        own *= 2  # a Chinese character says as much as several letters
    elif text.count(" ") < _SPACES:
        return False
    return (long is not None and own >= long) or (own >= _SENTENCE_LENGTH and _ends(text))


def _ends(text: str) -> bool:
    """Whether a text has words and ends as a sentence does."""
    return _SENTENCE_END.search(text.rstrip()[-_END_LENGTH:]) is not None and _WORD.search(text) is not None


def wrap_loose_text(tree: HtmlElement) -> None:
    """Put loose text into paragraphs."""
    shorts: dict[HtmlElement, list[_Run]] = {}
    prose: set[HtmlElement] = set()
    for container in list(tree.iter(*_CONTAINERS)):
        if not _holds_text(container) or next(container.iterancestors("table"), None) is not None:
            continue
        runs = [run for run in _runs(container) if run.words]
        if not runs or (_is_beside(container) and sum(len(run.words) for run in runs) < _TOO_LONG):
            continue
        if any(is_prose(run.words, run.linked()) for run in runs):
            prose.add(container)
            _wrap(container, runs)
        elif container.tag in _LEAF and container.get(IMAGE) is None and _is_leaf(container):
            shorts[container] = runs
    for above in dict.fromkeys(leaf.getparent() for leaf in shorts):
        if above is not None:
            for leaf in list(_lines(above, shorts, prose)):
                _wrap(leaf, shorts[leaf])


def _holds_text(container: HtmlElement) -> bool:
    """Whether text or inline elements stand straight in an element."""
    if (container.text or "").strip(_SPACE):
        return True
    for child in container:
        tail = child.tail
        if child.tag in _INLINE or (tail and tail.strip(_SPACE)):
            return True
    return False


def wrap_standfirsts(tree: HtmlElement) -> None:
    """Put leaves that stand right below the main heading and sum up what follows into paragraphs."""
    for heading in tree.iter("head"):
        leaf = heading.getnext()
        if heading.get("rend") != "h1" or leaf is None or leaf.tag not in _LEAF or (heading.tail or "").strip():
            continue
        if _is_leaf(leaf) and _leads(leaf) and not linked_length(leaf) and not _is_beside(leaf):
            _wrap(leaf, [run for run in _runs(leaf) if run.words])


def wrap_lines_between(scope: HtmlElement) -> None:
    """Put short lines between two blocks of prose of the main text into paragraphs, wherever in it they stand.

    A line is a leaf below a heading that is no link, one of a list, or one that ends as a sentence does. Of the lines
    before all prose only the one right above it may be the text's, of those after it a list.
    """
    lists: dict[HtmlElement, bool] = {}
    last: HtmlElement | None = None
    waiting = list[HtmlElement]()
    for element in scope.iter("div", "center", "p", "item", "quote"):
        if element.tag in _LEAF:
            if element.get(IMAGE) is None and _is_leaf(element) and _is_line(element, lists):
                waiting.append(element)
        elif is_prose(line_of(element), linked_length(element)):
            first = (leaf for leaf in waiting if _leads(leaf) and (leaf is waiting[-1] or _is_below_title(leaf)))
            _wrap_lines(waiting if last is not None else first)
            last, waiting = element, []
    if last is not None:
        _wrap_lines([leaf for leaf in waiting if _is_in_list(leaf, lists)])


def _wrap_lines(leaves: Iterable[HtmlElement]) -> None:
    for leaf in leaves:
        _wrap(leaf, [run for run in _runs(leaf) if run.words])


def _is_line(leaf: HtmlElement, lists: dict[HtmlElement, bool]) -> bool:
    text, above = line_of(leaf), leaf.getprevious()
    heads = above is not None and above.tag == "head" and not linked_length(above)
    own = heads or _ends(text) or _is_in_list(leaf, lists)
    return own and linked_length(leaf) <= _LINKED * len(text) and not _is_beside(leaf)


def _leads(leaf: HtmlElement) -> bool:
    """Whether a line above all prose belongs to it: a question, or a summing up without a date."""
    text = text_of(leaf).strip()
    return _ends(text) or (len(text) >= _LEAD and text.count(" ") > _SPACES and not _DIGIT.search(text))


def _is_below_title(leaf: HtmlElement) -> bool:
    above = leaf.getprevious()
    return above is not None and above.tag == "head" and above.get("rend") == "h1"


def _is_in_list(leaf: HtmlElement, lists: dict[HtmlElement, bool]) -> bool:
    """Whether a leaf stands among others of several words, all outside links, as the entries of a list do."""
    around = leaf.getparent()
    if around is None:
        return False
    if around not in lists:  # an element's length is counted anew each time, its children one by one
        lists[around] = len(around) >= _SEVERAL and all(
            e.tag == "div" and _is_leaf(e) and " " in text_of(e).strip() and not linked_length(e) for e in around
        )
    return lists[around]


def linked_length(element: HtmlElement) -> int:
    """Characters of an element that stand in links."""
    return sum(len(text_of(link)) for link in element.iter("ref")) if len(element) else 0


def _is_leaf(element: HtmlElement) -> bool:
    return not any(child.tag in BLOCKS for child in element)


def _lines(
    container: HtmlElement, shorts: Mapping[HtmlElement, list[_Run]], prose: Set[HtmlElement]
) -> Iterator[HtmlElement]:
    """Short leaves of a container that are lines of its text: it has several leaves of prose, or they are between."""
    children = list(container)
    leaves = sum(child in prose and child.tag in _LEAF and child.find(".//div") is None for child in children)
    short = sum(child in shorts for child in children)
    if leaves >= _SEVERAL or leaves >= max(2, short):
        yield from (child for child in children if child in shorts)
        return
    after_prose, waiting = False, list[HtmlElement]()
    for child in children:
        if child in prose or (child.tag == "p" and is_prose(line_of(child))):
            yield from waiting
            after_prose, waiting = True, []
        elif child in shorts:
            if after_prose:
                waiting.append(child)
        elif child.tag not in (*_LEAF, "lb", "p") or not _is_leaf(child):
            after_prose, waiting = False, []


def _is_beside(container: HtmlElement) -> bool:
    """Whether a container or the one around it is named as something beside the text."""
    above = container.getparent()
    alone = container.getprevious() is None and container.getnext() is None
    return any(
        e is not None and e.tag in ("div", "section") and _names_aside(f"{e.get('class', '')} {e.get('id', '')}")
        for e in (container, above if container.tag in _LEAF and alone else None)
    )


@lru_cache(maxsize=4096)
def _names_aside(names: str) -> bool:
    return _BESIDE.search(names) is not None


def _runs(container: HtmlElement) -> Iterator[_Run]:
    """Runs of a container; two breaks in a row end a run as a block does."""
    run = _Run(None, container.text or "")
    breaks = 0
    for child in container:
        if child.tag in BLOCKS:
            yield run
            run, breaks = _Run(child, child.tail or ""), 0
            continue
        breaks = breaks + 1 if child.tag == "lb" else 0
        if breaks == 2:
            yield run
            run = _Run(child, child.tail or "")
        else:
            run.elements.append(child)
        if (child.tail or "").strip():
            breaks = 0
    yield run


def _wrap(container: HtmlElement, runs: list[_Run]) -> None:
    for run in runs:
        paragraph = container.makeelement("p")
        paragraph.text = run.text
        if run.after is None:
            container.text = None
            container.insert(0, paragraph)
        else:
            run.after.tail = None
            run.after.addnext(paragraph)
        paragraph.extend(run.elements)
