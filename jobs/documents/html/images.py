"""Images of a page's article: what describes them, how large they are said to be, and what they stand between."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Any, Final
from urllib.parse import urlsplit

from lxml.etree import XPath
from lxml.html import HtmlElement

from quern.jobs.documents.html.texts import absolute, text_of
from quern.jobs.text.plain_text import one_line

Image = dict[str, Any]

# Images of a page that are kept, and that are looked at: thousands are a map of tiles, or made to cost time.
_MOST: Final = 50
_MOST_READ: Final = 1_000
# Elements that are called the page's main part by their tag or an attribute.
_MAINS: Final = XPath("descendant::*[self::article or self::main or @role = 'main' or @itemprop = 'articleBody']")
_LENGTH: Final = XPath("string-length()")
_MOST_MAINS: Final = 200
_OUTSIDE: Final = frozenset({"nav", "footer", "aside", "form"})
_NO_PARAGRAPHS: Final = _OUTSIDE | {"figure"}
_LAZY: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy", "src")
_SETS: Final = ("srcset", "data-srcset")
_WIDTH: Final = re.compile(r"(?<=\s)(\d{1,5})w(?:,|(?=\s)|$)")
_PIXELS: Final = re.compile(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:px)?\s*$", re.I)
# The largest side of a JPEG.
_LARGEST: Final = 65_535
_CAPTIONED: Final = XPath("descendant::*[self::figcaption or contains(@class, 'caption')]")
_LONGEST_CAPTION: Final = 1_000
# Longer addresses hold the image itself (`data:`); of a longer list of sizes the beginning is read.
_LONGEST_ADDRESS: Final = 2_048
_LONGEST_SET: Final = 20_000
_HEADINGS: Final = ("h2", "h3", "h4", "h5", "h6")
_PARAGRAPHS: Final = ("p", "li", "blockquote", "dd")
# Characters of a neighbouring paragraph that are kept: enough to find it in the main text; shorter ones are labels.
_OPENING: Final = 160
_SHORTEST: Final = 30
_PICTURE: Final = re.compile(r"\.(?:avif|gif|jpe?g|png|webp)(?:[?#/]|$)", re.I)
# Elements that are tried for a neighbouring paragraph: between an image and its paragraph stand labels and captions.
_TRIED: Final = 12


def pixels(stated: str | None) -> int | None:
    """A width or height in pixels; null for shares, other units and what no image has."""
    match = _PIXELS.match(stated or "")
    size = int(match[1]) if match else 0
    return size if 0 < size <= _LARGEST else None


def article_images(tree: HtmlElement, base: str) -> list[Image]:
    """Images of the article, each once, in reading order; links are resolved against `base`.

    Each has its address, alternative text and caption, the size that its attributes or its set of sizes tell, the
    page that it leads to, the heading that it stands under, and the openings of the paragraphs before and after it.
    """
    if next(tree.iter("img"), None) is None:
        return []
    mains = _MAINS(tree)[:_MOST_MAINS]
    main = max(mains, key=_LENGTH) if len(mains) > 1 else next(iter(mains), tree)
    if next(main.iter("img"), None) is None:
        return []
    elements = list(main.iter("img", *_HEADINGS, *_PARAGRAPHS))
    left = _MOST_READ
    images: dict[str, Image] = {}
    pictures: dict[tuple[str, str | None], str] = {}
    captions: dict[HtmlElement, str | None] = {}
    paragraphs = _Paragraphs()
    heading: HtmlElement | None = None
    for at, element in enumerate(elements):
        if element.tag in _HEADINGS:
            heading = element
            continue
        if element.tag != "img":
            continue
        if len(images) == _MOST or left == 0:
            break
        left -= 1
        if (image := _image(element, main, base, captions)) is not None:
            # By what a picture is known that a page names twice, for lazy loading or in two sizes: its file, and its
            # text.
            path = urlsplit(image["url"]).path
            picture = path.rpartition("/")[2] or path, image["alt"]
            original = images.get(image["url"]) or images.get(pictures.get(picture, ""))
            if original is not None:
                original.update({name: value for name, value in image.items() if original.get(name) is None})
                continue
            image["heading"] = one_line(_opening(heading)) if heading is not None else None
            image["before"] = paragraphs.first(reversed(elements[max(0, at - _TRIED) : at]))
            image["after"] = paragraphs.first(elements[at + 1 : at + 1 + _TRIED])
            images[image["url"]] = image
            pictures[picture] = image["url"]
    return list(images.values())


def _image(image: HtmlElement, main: HtmlElement, base: str, captions: dict[HtmlElement, str | None]) -> Image | None:
    """What an `img` element of the article says of itself; null for counters and for what has no address.

    The caption is that of the figure, or the box whose class names a caption, that it stands in. A box is read once,
    however many images it holds.
    """
    sides = (_PIXELS.match(image.get(side) or "") for side in ("width", "height"))
    if any(side is not None and int(side[1]) <= 2 for side in sides):  # It counts visits.
        return None
    # Addresses with their widths of the sets that an `img` names.
    sizes: list[tuple[str, int]] = []
    for name in _SETS:
        parts = _WIDTH.split((image.get(name) or "")[:_LONGEST_SET])
        sizes += [(link.strip(), int(width)) for link, width in zip(parts[::2], parts[1::2], strict=False)]
    # Addresses of lazy loading first, for what stands in `src` until then is a blank; else of a set the largest.
    links = [*(image.get(name) for name in _LAZY), *(link for link, _ in sorted(sizes, key=lambda s: -s[1]))]
    fit = (link for link in links if link and len(link) <= _LONGEST_ADDRESS and not link.startswith("data:"))
    url = next((url for link in fit if (url := absolute(base, link))), None)
    if url is None:
        return None
    around = list(takewhile(lambda ancestor: ancestor is not main, image.iterancestors()))
    tags = {a.tag for a in around}
    # A header holds the picture that an article opens with, in a figure, and beside it the marks of its site.
    if not _OUTSIDE.isdisjoint(tags) or ("header" in tags and "figure" not in tags):
        return None
    box = next((box for box in around if box.tag == "figure" or "caption" in box.get("class", "")), None)
    if box is not None and box not in captions:
        texts = (one_line(text_of(e)) for e in _CAPTIONED(box))
        captions[box] = next((t for t in texts if t and len(t) <= _LONGEST_CAPTION), None)
    # The page that it leads to, unless that is its larger form, or a place of its own page.
    href = next((a.get("href") for a in around if a.tag == "a"), None)
    link = absolute(base, href) if href and len(href) <= _LONGEST_ADDRESS else None
    if link is not None and (link.partition("#")[0] == base.partition("#")[0] or _PICTURE.search(link)):
        link = None
    # The largest size that is stated, in the shape that the attributes have.
    width, height = (pixels(image.get(side)) for side in ("width", "height"))
    largest = max((n for _, n in sizes if n <= _LARGEST), default=0)
    if largest > (width or 0):
        height = min(round(height * largest / width), _LARGEST) if width and height else None
        width = largest
    alt, caption = one_line((image.get("alt") or "")[:_LONGEST_CAPTION]), None if box is None else captions[box]
    return {"url": url, "alt": alt, "caption": caption, "link": link, "width": width, "height": height}


class _Paragraphs(dict[HtmlElement, str]):
    """Openings of paragraphs, empty of what is none: images beside each other have the same neighbours."""

    def __missing__(self, element: HtmlElement) -> str:
        opening = _opening(element) if element.tag in _PARAGRAPHS else ""
        is_paragraph = len(opening) >= _SHORTEST and _NO_PARAGRAPHS.isdisjoint(a.tag for a in element.iterancestors())
        self[element] = opening if is_paragraph else ""
        return self[element]

    def first(self, elements: Iterable[HtmlElement]) -> str | None:
        """Opening of the first of these elements that is a paragraph."""
        return next((opening for element in elements if (opening := self[element])), None)


def _opening(element: HtmlElement) -> str:
    """The first characters of an element's text, on one line."""
    if not len(element):
        return (one_line((element.text or "")[:_LONGEST_CAPTION]) or "")[:_OPENING]
    text = ""
    for piece in element.itertext():
        text += piece[:_LONGEST_CAPTION]
        if len(text) > 2 * _OPENING:
            break
    return (one_line(text) or "")[:_OPENING]
