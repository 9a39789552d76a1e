"""Rules by which an image is no picture of anything: too small, a drawing, or furniture of its site (Xinyu, 3.6.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from quern.jobs.text.stems import content_words

# Width and height as addresses name them: `fog-640x480.jpg`, `/180x100/fog.jpg`; a side of 0 is free.
_SIDES: Final = re.compile(r"(?<![^\W_])(\d{1,5})x(\d{1,5})(?![^\W_])", re.I)
_WIDTHS: Final = frozenset({"w", "width"})
_HEIGHTS: Final = frozenset({"h", "height"})
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TRACKERS: Final = frozenset({"beacon", "impression", "pixel", "tracker", "tracking"})
_ICONS: Final = frozenset(
    "avatar avatars badge badges blank btn button buttons emoji favicon gravatar icon icons loader loading logo logos "
    "placeholder smiley spacer spinner sprite sprites transparent".split()
)
_ICON_NAMES: Final = re.compile(r"\b(?:avatar|icon|logo)\b|图标|头像|标志", re.I)


@dataclass(frozen=True)
class Picture:
    """An image as a page names it."""

    url: str  # Its absolute address.
    alt: str | None  # Alternative text.
    caption: str | None  # Caption.
    width: int | None  # Pixels, where the page tells them.
    height: int | None  # Pixels, where the page tells them.
    link: str | None = None  # Page that it leads to.
    site: str | None = None  # Site of its page.

    @cached_property
    def size(self) -> tuple[int | None, int | None]:
        """Width and height: the largest that page or address tells; null where neither does."""
        path, query = _parts(self.url)
        widths, heights = [self.width or 0], [self.height or 0]
        for width, height in (map(int, sides) for sides in _SIDES.findall(path)):
            # Pixels below which two numbers joined by an x are the shape of an image, such as 16x9, and not its size.
            if max(width, height) >= 20:
                widths.append(width)
                heights.append(height)
        for name, value in query:
            if value.isascii() and value.isdigit() and len(value) < 6:
                widths += [int(value)] * (name in _WIDTHS)
                heights += [int(value)] * (name in _HEIGHTS)
        return tuple(max(n for n in sides if n <= 65_535) or None for sides in (widths, heights))  # type: ignore[return-value]

    @cached_property
    def described(self) -> bool:
        """Whether somebody wrote what it shows."""
        # Words of an alternative text from which on it describes a picture; furniture is named, not described.
        return bool(self.caption) or len((self.alt or "").split()) >= 4

    @property
    def is_teaser(self) -> bool:
        """Whether it announces another page, and so shows what that one is about: of its site, or an advertisement."""
        if not self.link:
            return False
        host = (urlsplit(self.link).hostname or "").removeprefix("www.")
        return not self.caption or not (self.site and (host == self.site or host.endswith(f".{self.site}")))


def out_by(picture: Picture, least_side: int, *, repeated: bool) -> str | None:
    """The rule by which an image is left out, one of `OUT_BY` of the table; null for one that may stand.

    Names in an address speak of an image that nobody described: `logo.png` under a caption may be what a text is on.
    """
    path, _ = _parts(picture.url)
    words = {word.lower() for word in _WORD.findall("/".join(path.split("/")[-3:]))}
    if any(side is not None and side < least_side for side in picture.size):
        return "small"
    if path.lower().endswith((".svg", ".svgz", ".ico")):
        return "drawing"
    if not picture.described:
        if words & _TRACKERS:
            return "tracker"
        if words & _ICONS or _ICON_NAMES.search(picture.alt or ""):
            return "icon"
    return "teaser" if picture.is_teaser else "repeated" if repeated else None


def _parts(url: str) -> tuple[str, list[tuple[str, str]]]:
    """Path and query of an address."""
    parts = urlsplit(url)
    return unquote(parts.path), parse_qsl(parts.query)[:20]


# Who took or owns a picture, at the end of its caption: `(Photo: A. Name)`, `Image credit: NASA`, `Photo by A. Name`.
_CREDIT: Final = re.compile(
    r"[\s(\[]*\b(?:photo(?:graph)?|picture|image|illustration|graphic|credit|source)s?"
    r"(?:\s+(?:credit|courtesy|illustration))*\s*(?:[:/]|\bby\b).*$|[\s(\[（【]*(?:图片来源|图源|摄影|图/|图：).*$",
    re.I | re.S,
)


def description(alt: str | None, caption: str | None) -> str:
    """The words that describe an image, each text once; empty where nobody described it."""
    caption, alt = caption or "", alt or ""
    # A caption may begin with such a word and go on to describe: what follows so many characters is a credit.
    if credit := _CREDIT.search(caption, 15):
        caption = caption[: credit.start()].rstrip()
    of_alt, of_caption = content_words(alt), content_words(caption)
    if of_alt <= of_caption:
        return caption
    return alt if of_caption <= of_alt else f"{caption}. {alt}"
