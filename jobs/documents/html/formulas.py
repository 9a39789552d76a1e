"""Formulas in MathML as text on one line: x^2, (a + b)/(2c), √(x + 1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from lxml.html import HtmlElement

from quern.jobs.documents.html.texts import line_of

# Deepest nesting that is read as a formula; below it text is text.
_DEEPEST: Final = 50
_UNREAD: Final = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
# Characters that stand for an operator which is not printed: a function's application, a product.
_INVISIBLE: Final = str.maketrans({"\u2061": " ", "\u2062": "", "\u2063": "", "\u2064": ""})
_SIGNS: Final = "+\u2212\u2013\u00b1-"
# Text that needs no brackets as an exponent or an index, and as what is divided by.
_SIMPLE: Final = re.compile(rf"[{_SIGNS}]?[\w.,]*[{_SIGNS}]?|.")
_NUMBER: Final = re.compile(r"[\d.,]+|.")
# Operators that stand close to what they apply to.
_CLOSE: Final = re.compile(r"[\w()\[\]{}|\u2016.,;:!/'\u2032\u2026^~\s]*")
_OPENS: Final = frozenset(" ([{|")


def formula(node: HtmlElement, depth: int = 0) -> str:
    """An element of MathML (W3C, MathML Core) as text; empty where it prints nothing."""
    if node.tag in _UNREAD:
        return ""
    if depth > _DEEPEST:
        return line_of(node)
    if node.tag == "mspace":
        return " "
    if not len(node):
        text = node.text or ""
        return (text if node.tag == "mtext" else text.strip()).translate(_INVISIBLE)
    parts = [formula(child, depth + 1) for child in node]
    arguments, layout = _LAYOUTS.get(node.tag, (0, None))
    if layout is not None and len(parts) >= arguments:
        return layout(parts)
    row = _row(node, parts)
    return f"\u221a({row})" if node.tag == "msqrt" else row


def _row(node: HtmlElement, parts: Sequence[str]) -> str:
    """Parts side by side, with spaces around operators that stand between two others."""
    line = ""
    for child, part in zip(node, parts, strict=True):
        between = line and line[-1] not in _OPENS
        if child.tag == "mo" and between and child.getnext() is not None and not _CLOSE.fullmatch(part):
            line += f" {part} "
        elif between and _are_apart(line, part, child.tag):
            line += f" {part}"
        else:
            line += part
    return line


def _are_apart(line: str, part: str, tag: str) -> bool:
    """Whether a number and a fraction, or two words, would run together."""
    if tag == "mfrac":
        return line[-1].isdigit()
    long = (len(line) > 1 and line[-2:].isalpha()) or part[1:2].isalpha()
    return long and line[-1].isalpha() and part[:1].isalpha()


def grouped(text: str) -> str:
    """`text`, in brackets where it is more than a number or a name."""
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _script(mark: str, text: str) -> str:
    """An exponent behind `^` or an index behind `_`; a prime or an accent as it is."""
    return f"{mark}{grouped(text)}" if any(c.isalnum() or c in _SIGNS for c in text) else text


_LAYOUTS: Final[Mapping[str, tuple[int, Callable[[Sequence[str]], str]]]] = {
    "msup": (2, lambda p: f"{grouped(p[0])}{_script('^', p[1])}"),
    "mover": (2, lambda p: f"{grouped(p[0])}{_script('^', p[1])}"),
    "msub": (2, lambda p: f"{grouped(p[0])}{_script('_', p[1])}"),
    "munder": (2, lambda p: f"{grouped(p[0])}{_script('_', p[1])}"),
    "msubsup": (3, lambda p: f"{grouped(p[0])}{_script('_', p[1])}{_script('^', p[2])}"),
    "munderover": (3, lambda p: f"{grouped(p[0])}{_script('_', p[1])}{_script('^', p[2])} "),
    "mfrac": (2, lambda p: f"{grouped(p[0])}/{p[1] if _NUMBER.fullmatch(p[1]) else f'({p[1]})'}"),
    "mroot": (2, lambda p: f"{grouped(p[0])}^(1/{grouped(p[1])})"),
    "mfenced": (1, lambda p: f"({', '.join(p)})"),
    "mtr": (1, ", ".join),
    "mtable": (1, "; ".join),
    "semantics": (1, lambda p: p[0]),
}
