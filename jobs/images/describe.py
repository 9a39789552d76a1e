"""What is said of an image: its caption and its alternative text, without who took it."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.text.stems import content_words

# Who took or owns a picture, at the end of its caption: `(Photo: A. Name)`, `Image credit: NASA`, `Photo by A. Name`.
_CREDIT: Final = re.compile(
    r"[\s(\[]*\b(?:photo(?:graph)?|picture|image|illustration|graphic|credit|source)s?"
    r"(?:\s+(?:credit|courtesy|illustration))*\s*(?:[:/]|\bby\b).*$|[\s(\[（【]*(?:图片来源|图源|摄影|图/|图：).*$",
    re.I | re.S,
)
# A caption may begin with such a word and go on to describe: what follows so many characters is a credit.
_DESCRIBES: Final = 15


def description(alt: str | None, caption: str | None) -> str:
    """The words that describe an image, each text once; empty where nobody described it."""
    caption, alt = _without_credit(caption or ""), alt or ""
    named, told = content_words(alt), content_words(caption)
    if named <= told:
        return caption
    return alt if told <= named else f"{caption}. {alt}"


def _without_credit(caption: str) -> str:
    credit = _CREDIT.search(caption, _DESCRIBES)
    return caption[: credit.start()].rstrip() if credit else caption
