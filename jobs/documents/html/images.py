"""Images of a page's article, with alternative text, caption and stated size."""

from __future__ import annotations

import re
from typing import Any, Final

from lxml.etree import XPath
from lxml.html import HtmlElement

from quern.jobs.documents.html.addresses import absolute
from quern.jobs.text.plain_text import one_line

Image = dict[str, Any]

_MOST: Final = 50
# Names and attributes are found in half of the time that a predicate over all elements takes.
_MAIN: Final = XPath(
    "descendant::article | descendant::main | descendant::*/@role[.='main']/.. | "
    "descendant::*/@itemprop[.='articleBody']/.."
)
_LENGTH: Final = XPath("string-length()")
_MOST_MAINS: Final = 200
_OUTSIDE: Final = frozenset({"nav", "header", "footer", "aside", "form"})
_LAZY: Final = ("data-src", "data-original", "data-lazy-src", "src")
_PIXELS: Final = re.compile(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:px)?\s*$", re.I)
# Images of at most so many pixels on a side count visits; none has more than the largest side of a JPEG.
_COUNTER: Final = 2
_LARGEST: Final = 65_535
_CAPTIONED: Final = XPath("descendant::*[self::figcaption or contains(@class, 'caption')]")
_LONGEST_CAPTION: Final = 1_000


def pixels(stated: str | None) -> int | None:
    """A width or height in pixels; null for shares, other units and what no image has."""
    match = _PIXELS.match(stated or "")
    size = int(match[1]) if match else 0
    return size if 0 < size <= _LARGEST else None


def article_images(tree: HtmlElement, base: str) -> list[Image]:
    """Images of the article, each address once, in reading order; links are resolved against `base`."""
    if next(tree.iter("img"), None) is None:
        return []
    main = max(_MAIN(tree)[:_MOST_MAINS], key=_LENGTH, default=tree)
    found: dict[str, Image] = {}
    for image in main.iter("img"):
        url = None if _is_counter(image) else _source(image, base)
        if url is None or url in found:
            continue
        around = _around(image, main)
        if _OUTSIDE.isdisjoint(a.tag for a in around):
            size = {side: pixels(image.get(side)) for side in ("width", "height")}
            found[url] = {"url": url, "alt": one_line(image.get("alt")), "caption": _caption(around), **size}
        if len(found) == _MOST:
            break
    return list(found.values())


def _source(image: HtmlElement, base: str) -> str | None:
    stated = (image.get(name) for name in _LAZY)
    return next((url for s in stated if s and not s.startswith("data:") and (url := absolute(base, s))), None)


def _is_counter(image: HtmlElement) -> bool:
    sides = (_PIXELS.match(image.get(side) or "") for side in ("width", "height"))
    return any(side is not None and int(side[1]) <= _COUNTER for side in sides)


def _around(image: HtmlElement, main: HtmlElement) -> list[HtmlElement]:
    """Elements between an image and the article, the nearest first."""
    around = []
    for ancestor in image.iterancestors():
        if ancestor is main:
            break
        around.append(ancestor)
    return around


def _caption(around: list[HtmlElement]) -> str | None:
    """Text of the caption in the figure, or the box whose class names a caption, that an image stands in."""
    for box in around:
        if box.tag == "figure" or "caption" in box.get("class", ""):
            texts = (one_line(e.text_content()) for e in _CAPTIONED(box))
            return next((t for t in texts if t and len(t) <= _LONGEST_CAPTION), None)
    return None
