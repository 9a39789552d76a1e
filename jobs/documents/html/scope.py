"""Which element of a page holds its main text.

trafilatura takes the first element whose name or class says so. A page builder makes one such element a paragraph,
and many pages name none: then the first is too little, or there is none. Here the elements that are named are
weighed by the prose they hold: several pieces of one article are taken together, and where nothing that is named
holds enough, the smallest element around nearly all of the page's prose is taken.

The shares below were set on one half (by site) of the article extraction benchmark, its pages as they are and with
their markup rewritten (classes taken out, paragraphs made `div` or `<br>`, wrapped as page builders wrap them, put
into `aside`, sections or tables), and checked on the other half. At .7 instead of .8 `_NEARLY_ALL` loses .03 of
recall on pages without classes; .85 costs .001 of precision on all of its pages and gains no recall.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from lxml.html import HtmlElement
from trafilatura.xml import delete_element
from trafilatura.xpaths import BODY_XPATH, DISCARD_IMAGE_ELEMENTS, OVERALL_DISCARD_XPATH, TEASER_DISCARD_XPATH

from quern.jobs.documents.html.attributes import Holders
from quern.jobs.documents.html.loose_text import is_sentence, linked_length
from quern.jobs.documents.html.patterns import Pattern, Patterns, every, quick_all
from quern.jobs.documents.html.texts import line_of, text_of

_BODIES: Final = every(BODY_XPATH)
_TEASERS: Final = quick_all(TEASER_DISCARD_XPATH)
_BOILERPLATE: Final = [*quick_all(OVERALL_DISCARD_XPATH), *_TEASERS]
_CAPTIONS: Final = quick_all(DISCARD_IMAGE_ELEMENTS)
_NO_TEXT: Final = Patterns([*_CAPTIONS, *_BOILERPLATE])
_TEXTS: Final = ("p", "quote", "item", "code", "td")
# Least characters of a block that counts as prose, and most share of it in links.
_LEAST: Final = 25
_LINKED: Final = 0.5
# Least share of the page's prose that an element named as the main text holds; less where it is long.
_ENOUGH: Final = 0.3
_ENOUGH_LONG: Final = 0.1
_LONG: Final = 500
# Share of the prose around it that an element must hold to be taken for it.
_NEARLY_ALL: Final = 0.8
# The same of an element with the page's main heading.
_MOST: Final = 0.5
# How many times as much as an element named as the main text another, named less clearly, must hold to be it.
_BETTER: Final = 1.5
# Least share of the classes of two elements that both have, for them to be pieces of one text.
_ALIKE: Final = 0.5
# Most headings of the first rank of a page on which they tell where the text is: the site's name and the title.
_FEW_HEADINGS: Final = 2
# Elements of one class that hold more than this share of the prose are not boilerplate, whatever the class says.
_TOO_MUCH: Final = 0.3
# Words of classes that say how a box looks or moves, not what it is for: prose in it is as good as any.
_LOOKS: Final = frozenset(
    {"icon", "icons", "slide", "slides", "slider", "slideshow", "overlay", "viewport"}
) | frozenset(
    {"expand", "expanded", "expandable", "options", "attachment", "embed", "embedded", "blurred", "obfuscated"}
)
# What Elementor calls each box of text that it makes: a paragraph, a heading, a list.
_BUILDER_BOXES: Final = Holders("class[contains(., 'elementor-widget')]")
_BUILDER_BOX: Final = re.compile(
    r"\belementor-widget(?:-(?:container|wrap|text-editor|heading|theme-post-content|icon-list|icon-box|image-box"
    r"|accordion|toggle|tabs))?(?=\s|$)"
)
# Most characters of a standfirst, and levels above the main heading within which it stands.
_LONGEST_STANDFIRST: Final = 800
_NEAR: Final = 2
# Least characters, and spaces, of a standfirst that does not end as a sentence does.
_LEAST_LINE: Final = 40
_SPACES: Final = 5

_NUMBER: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[^\W_]+")

Prose = Counter[HtmlElement]


def measure(tree: HtmlElement) -> Prose:
    """Characters of prose inside each element."""
    found: Prose = Counter()
    inside: Prose = Counter()
    for block in tree.iter(*_TEXTS):
        if len(block) and next(block.iterdescendants(*_TEXTS), None) is not None:
            continue
        length = len(line_of(block))
        if length < _LEAST:
            continue
        linked = sum(len(line_of(link)) for link in block.iter("ref"))
        own = length - linked
        if own < _LEAST or linked > _LINKED * length:
            continue
        found[block] = own
        inside[block.getparent()] += own
    for around, held in inside.items():  # the blocks of one element have the same ancestors
        found[around] += held
        for above in around.iterancestors():
            found[above] += held
    return found


def drop_named(tree: HtmlElement) -> Prose:
    """Take out what is named as boilerplate, save names under which much of the page's prose stands.

    `widget` names a box beside the text on one page, each paragraph on another.

    Returns:
        The prose of what is left.
    """
    prose = measure(tree)
    total = prose[_root(tree)]
    for box in [box for box in _BUILDER_BOXES(tree) if box.tag == "div"]:
        box.set("class", _BUILDER_BOX.sub("", box.get("class")))
    found = _NO_TEXT(tree)
    captions = dict.fromkeys(e for some in found[: len(_CAPTIONS)] for e in some)
    for caption in captions:
        _drop(caption, prose)
    gone = {e for caption in captions for e in caption.iter()}
    groups: dict[tuple[str, ...], list[HtmlElement]] = defaultdict(list)
    for element in dict.fromkeys(e for some in found[len(_CAPTIONS) :] for e in some if e not in gone):
        groups[_name(element)].append(element)
    for name in [name for name, some in groups.items() if len(some) == 1 and _is_own_teaser(some[0])]:
        del groups[name]
    much = {name for name, some in groups.items() if _hold_more(some, prose, _TOO_MUCH * total)}
    words = {word for name in much for part in name for word in _WORD.findall(part)}
    for name, elements in groups.items():
        if name not in much:
            looks = _LOOKS if any(_reads(e, prose) for e in elements) else frozenset()
            for element in elements:
                if _is_boilerplate_without(element, words | looks):
                    _drop(element, prose)
    return prose


def _hold_more(elements: Sequence[HtmlElement], prose: Prose, much: float) -> bool:
    """Whether elements, some of which may be inside others, hold more than so many characters of prose."""
    if sum(prose[e] for e in elements) <= much:
        return False
    return sum(prose[e] for e in _outermost(elements)) > much


def _is_own_teaser(element: HtmlElement) -> bool:
    """Whether what is named a teaser is the page's own standfirst: sentences that stand in no link and below none."""
    named = any(pattern.matches(element) for pattern in _TEASERS if isinstance(pattern, Pattern))
    if not named or element.find(".//ref") is not None or next(element.iterancestors("ref"), None) is not None:
        return False
    before = element.getprevious()
    headed = before is not None and (before.tag == "ref" or before.find(".//ref") is not None)
    return not headed and is_sentence(line_of(element))


def _reads(element: HtmlElement, prose: Prose) -> bool:
    """Whether an element holds prose, or is part of a line that does."""
    if element.tag == "span":
        text = text_of(element)
        return len(text) >= _LEAST and " " in text.strip() and element.find(".//ref") is None
    return prose[element] > 0


def _is_boilerplate_without(element: HtmlElement, words: Set[str]) -> bool:
    """Whether an element is named as boilerplate by other words than those that name much of the page's prose."""
    classes = element.get("class")
    if classes is None or not words:
        return True
    rest = _WORD.sub(lambda word: "" if word[0] in words else word[0], classes)
    if rest == classes:
        return True
    attributes = [(name, rest if name == "class" else value) for name, value in element.items()]
    return any(not isinstance(pattern, Pattern) or pattern.holds(attributes) for pattern in _BOILERPLATE)


def _drop(element: HtmlElement, prose: Prose) -> None:
    if element.getparent() is not None:
        if own := prose[element]:
            for above in element.iterancestors():
                prose[above] -= own
        delete_element(element)


def _root(tree: HtmlElement) -> HtmlElement:
    body = tree.find("body")
    return tree if body is None else body


def _name(element: HtmlElement) -> tuple[str, ...]:
    """Tag and classes of an element, those with digits, which name single elements, left out."""
    return (element.tag, *_without_numbers(element.get("class", "")))


@lru_cache(maxsize=4096)
def _without_numbers(classes: str) -> tuple[str, ...]:
    return tuple(c for c in classes.split() if not _NUMBER.search(c))


def _outermost(elements: Sequence[HtmlElement]) -> list[HtmlElement]:
    some = set(elements)
    return [e for e in elements if some.isdisjoint(e.iterancestors())]


def main_scope(tree: HtmlElement, prose: Prose) -> HtmlElement:
    """The element that holds the main text, of which `prose` says how much each element holds."""
    root = _root(tree)
    found: _Scope | None = None
    for pattern in _BODIES:
        matches = [e for e in _outermost(pattern(root)) if prose[e]]
        if not matches:
            continue
        scope = _joined(matches, prose, root)
        if found is None:
            if _is_enough(scope.held, prose[root]):
                found = scope
        elif scope.held > _BETTER * found.held and _are_apart(scope.element, found.element):
            found = scope
        if found is not None and found.held > _MOST * prose[root]:
            break
    if found is None:
        return _around_most(root, prose)
    for piece in found.pieces:
        found.element.append(piece)
    return found.element


@dataclass(frozen=True)
class _Scope:
    """What may hold the main text.

    Attributes:
        element: An element.
        held: Characters of prose in it and in the pieces.
        pieces: Elements elsewhere that hold the rest of its text.
    """

    element: HtmlElement
    held: int
    pieces: tuple[HtmlElement, ...] = ()


def _are_apart(one: HtmlElement, other: HtmlElement) -> bool:
    return one is not other and one not in set(other.iterancestors()) and other not in set(one.iterancestors())


def _is_enough(held: int, all_of_it: int) -> bool:
    return held >= _ENOUGH * all_of_it or (held >= _LONG and held >= _ENOUGH_LONG * all_of_it)


def _joined(matches: Sequence[HtmlElement], prose: Prose, root: HtmlElement) -> _Scope:
    """The first of several elements, or what holds them all where they are pieces of one article."""
    first, *others = matches
    article = next(first.iterancestors("article"), None)
    pieces = [
        e
        for e in others
        if e.tag != "article" and _are_alike(e, first) and next(e.iterancestors("article"), None) is article
    ]
    if not pieces or _are_articles([first, *pieces]):
        one = first if _is_enough(prose[first], prose[root]) else max(matches, key=lambda e: prose[e])
        return _Scope(one, prose[one])
    held = prose[first] + sum(prose[e] for e in pieces)
    common = _common([first, *pieces])
    if prose[common] * _NEARLY_ALL <= held:
        common = _around_most(common, prose)
        return _Scope(common, prose[common])
    return _Scope(first, held, tuple(pieces))


def _are_alike(one: HtmlElement, other: HtmlElement) -> bool:
    """Whether two elements have one tag and mostly the same classes."""
    (tag, *some), (other_tag, *others) = _name(one), _name(other)
    return tag == other_tag and len({*some} & {*others}) >= _ALIKE * len({*some, *others})


def _are_articles(pieces: Sequence[HtmlElement]) -> bool:
    """Whether the pieces are articles one after another, told by a main heading for each."""
    headings = sum(1 for _ in _main_headings(_common(pieces)))
    return headings > 1 and headings >= len(pieces)


def _common(elements: Sequence[HtmlElement]) -> HtmlElement:
    """The innermost element that holds all of `elements`."""
    above = list(elements[0].iterancestors())
    for element in elements[1:]:
        some = set(element.iterancestors())
        above = [a for a in above if a in some]
    return above[0]


def _around_most(root: HtmlElement, prose: Prose) -> HtmlElement:
    """The innermost element around nearly all of the prose, or around an article below which more remarks stand."""
    headings = list(_main_headings(root))
    titled = {a for h in headings for a in h.iterancestors()} if len(headings) <= _FEW_HEADINGS else set()
    here = root
    while True:
        inner = next((c for c in _children(here) if _is_main_part(c, here, prose, titled)), None)
        if inner is None:
            return here
        if inner not in titled:
            titled_part = (c for c in _children(here) if c in titled and prose[c] >= _LONG)
            inner = next(titled_part, inner)
        here = inner


def _is_main_part(inner: HtmlElement, outer: HtmlElement, prose: Prose, titled: Set[HtmlElement]) -> bool:
    if prose[inner] > _NEARLY_ALL * prose[outer]:
        return True
    return prose[inner] > _MOST * prose[outer] and inner in titled


def _main_headings(element: HtmlElement) -> Iterator[HtmlElement]:
    return (heading for heading in element.iter("head") if heading.get("rend") == "h1")


def take_standfirst(tree: HtmlElement, scope: HtmlElement) -> None:
    """Move sentences between the main heading and the main text, which sum it up, to the text's head."""
    if next(_main_headings(scope), None) is not None:
        return
    inside, heading = set(scope.iterancestors()), None
    found: list[HtmlElement] = []
    for element in tree.iter("head", "p", scope.tag):
        if element is scope:
            break
        if element.tag == "head" and element.get("rend") == "h1":
            heading, found = element, []
        if heading is not None and element is not heading and _is_standfirst(element, heading, inside):
            found.append(element)
    if sum(len(text_of(e)) for e in found) <= _LONGEST_STANDFIRST:
        for element in reversed(found):
            element.tail = None
            scope.insert(0, element)


def _is_standfirst(paragraph: HtmlElement, heading: HtmlElement, around: set[HtmlElement]) -> bool:
    if paragraph in around or not sums_up(
        line_of(paragraph), linked_length(paragraph), figures=paragraph.tag == "head"
    ):
        return False
    near = set(islice(heading.iterancestors(), _NEAR))
    return any(e in near for e in paragraph.iterancestors())


def sums_up(text: str, linked: int, *, figures: bool) -> bool:
    """Whether a line near the main heading is a standfirst: a sentence, or long and without links.

    `figures`: it may hold some. A line of dates and names does, save where it is a heading itself.
    """
    if is_sentence(text, linked):
        return True
    long = len(text) >= _LEAST_LINE and text.count(" ") >= _SPACES
    return long and not linked and (figures or not _NUMBER.search(text))


def _children(element: HtmlElement) -> Iterator[HtmlElement]:
    return (c for c in element if c.tag not in _TEXTS and c.tag not in ("list", "table", "tr"))
