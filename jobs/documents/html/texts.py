"""Texts of elements."""

from __future__ import annotations

from lxml.html import HtmlElement


def text_of(element: HtmlElement) -> str:
    """All text in an element. Where it holds nothing else, as most do, no search below it is needed."""
    text: str = element.text_content() if len(element) else element.text or ""
    return text


def line_of(element: HtmlElement) -> str:
    """All text in an element, on one line with single spaces."""
    return " ".join(text_of(element).split())
