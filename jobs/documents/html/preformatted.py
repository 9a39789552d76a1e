"""Preformatted text, such as code, whose spaces mean something.

Everything that reads a page squeezes white space. Spaces of preformatted lines are kept through it as characters that
no reader takes for white space, one for a space and one for a tab, and become spaces again at the end.
"""

from __future__ import annotations

import re
from typing import Final

from lxml.html import HtmlElement

from quern.jobs.documents.html.texts import Holders, text_of

_SPACE: Final = "\u2800"
_TAB: Final = "\u3164"
_KEPT: Final = str.maketrans({" ": _SPACE, "\t": _TAB, "\xa0": _SPACE})
_FREED: Final = str.maketrans({_SPACE: " ", _TAB: "\t"})
_RUN: Final = re.compile(r"^[ \xa0]+|[ \t\xa0]{2,}|\t")
_NUMBERS: Final = Holders("class[contains(., 'lineno') or contains(., 'line-number') or contains(., 'linenumber')]")
_LINES: Final = ("br", "div", "p", "li", "tr")


def keep_spaces(tree: HtmlElement) -> bool:
    """Make of each preformatted element one text of code, its spaces kept; whether there is any."""
    elements = [e for e in tree.iter("pre") if next(e.iterancestors("pre"), None) is None]
    for element in elements:
        for number in _NUMBERS(element):
            number.clear(keep_tail=True)
        for end in element.iter(*_LINES):
            if not text_of(end).endswith("\n"):
                end.tail = f"\n{end.tail or ''}"
        lines = [line.rstrip() for line in text_of(element).split("\n")]
        del element[:]
        element.text = None
        code = element.makeelement("code")
        code.text = "\n".join(_RUN.sub(lambda run: run[0].translate(_KEPT), line) for line in lines if line)
        element.append(code)
    return bool(elements)


def with_spaces(text: str) -> str:
    """A text with the spaces that were kept."""
    lines = (line.translate(_FREED).rstrip() for line in text.split("\n"))
    return "\n".join(filter(None, lines))
