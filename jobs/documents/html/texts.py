"""Texts of elements, whether they read as prose, and addresses of links."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from lxml.html import HtmlElement

# The end of a sentence, sought in so many last characters: a search from every word on takes seconds for a long text.
_SENTENCE_END: Final = re.compile(r"[.!?…:؟।۔。！？][\"'”’»«“)\]]*$")
_END_LENGTH: Final = 20
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NO_LETTER: Final = re.compile(r"[\W_]+")


def text_of(element: HtmlElement) -> str:
    """All text in an element. Where it holds nothing else, as most do, no search below it is needed."""
    text: str = element.text_content() if len(element) else element.text or ""
    return text


def line_of(element: HtmlElement) -> str:
    """All text in an element, on one line with single spaces."""
    return " ".join(text_of(element).split())


def letters(text: str | None) -> str:
    """Letters and digits of a text in lower case, to compare names."""
    return _NO_LETTER.sub("", (text or "").casefold())


def is_prose(text: str) -> bool:
    """Whether a text reads as running text: it is a sentence, or a line of print (80 characters) long."""
    return is_sentence(text, long=80)


def is_sentence(text: str, long: int | None = None) -> bool:
    """Whether a text of several words ends as a sentence does or, where `long` is given, has so many characters.

    The least sentence, 25 characters, is readability's `min_text_length`.
    """
    length = len(text)
    if _CJK.search(text):
        length *= 2  # a Chinese character says as much as several letters
    elif text.count(" ") < 3:
        return False
    if long is not None and length >= long:
        return True
    ends = _SENTENCE_END.search(text.rstrip()[-_END_LENGTH:]) is not None
    return ends and length >= 25 and any(map(str.isalnum, text))


def absolute(base: str, link: str) -> str | None:
    """`link` as an absolute http(s) address; null where it is none."""
    try:
        url = urljoin(base, link.strip())
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None
