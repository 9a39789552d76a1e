"""Text whose meaning is in its markup: deletions, superscripts, subscripts, fractions and formulas.

A reader of plain text would take a superscript for a digit more and a struck-out price for the price. Here what is
struck out is dropped, and the rest is written on one line: 10^6, H2O, 3 1/2, x^(n+1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from lxml.etree import XPath, strip_tags
from lxml.html import HtmlElement

from quern.jobs.documents.html.texts import line_of, text_of

_WRITTEN: Final = "quern-written"
_STRUCK_LOOKS: Final = XPath(
    "descendant::*[contains(@style, 'line-through') or contains(@class, 'through') or contains(@class, 'strike')]"
)
_STRUCK_LOOK: Final = re.compile(r"(?:^|[\s:;])(?:line-through|strike(?:-?through)?)(?=[\s;!]|$)")

_SLASHES: Final = frozenset("/\u2044\u2215")
_BLOCKS: Final = ("p", "li", "td", "th", "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6")
_NAMED_NOTE: Final = re.compile(r"note|ref|cit", re.I)
# A mark of a footnote, and one that is no exponent of a word either.
_SYMBOLS: Final = r"[*\u2020\u2021\u00a7\u00b6#]+"
_MARK: Final = re.compile(rf"\d{{1,3}}(?:\s*[,\u2013-]\s*\d{{1,3}})*|[a-z]|{_SYMBOLS}|[\[(].*[\])]")
_NO_EXPONENT: Final = re.compile(rf"{_SYMBOLS}|\[.*\]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
# A word of so many letters has no power, unless a number stands before it, as before a unit.
_MARKED_WORD: Final = re.compile(r"(?<!\d)(?<!\d\s)\b[^\W\d_]{4,}$")
# What a single letter makes an ordinal of, in the Romance languages: a number, also a Roman one, and `no`.
_ORDINAL: Final = re.compile(r"(?:\d|\b[IVXLCDM]+|\b[nN])$")
_ORDINAL_LETTERS: Final = frozenset("aeo")
# What is raised for want of a sign for degrees, and the scales of temperature.
_DEGREE: Final = ("o", "0")
_SCALES: Final = ("C", "F")
# Longest text that is a script rather than small print, and of the text before one that is looked at.
_LONGEST: Final = 30
_BEFORE: Final = 40


def write_notation(tree: HtmlElement) -> None:
    """Drop what is struck out, and write superscripts, subscripts, fractions and formulas as plain text."""
    looks = (e for e in _STRUCK_LOOKS(tree) if _STRUCK_LOOK.search(f"{e.get('class', '')} {e.get('style', '')}"))
    struck = [*tree.iter("del", "s", "strike"), *looks]
    # An element that strikes out more than this share of the page was not closed.
    most = 0.5 * len(text_of(tree)) if struck else 0
    for element in struck:
        if len(text_of(element)) > most:
            element.tag = "div"
        elif element.getparent() is not None:
            _write(element, "")
    # MathML is text once: what a script drew beside it for the eye goes. Without MathML, TeX stays as it is.
    formulas = [e for e in tree.iter("math") if next(e.iterancestors("math"), None) is None]
    for element in formulas:
        for beside in [s for e in (element, element.getparent()) for s in e.itersiblings()]:
            if beside.get("aria-hidden") == "true":
                _write(beside, "")
        block = element.get("display") == "block" and next(element.iterancestors(*_BLOCKS), None) is None
        _write(element, formula(element) or element.get("alttext") or "")
        if block:
            element.tag = "p"
    if not formulas:
        for script in [s for s in tree.iter("script") if (s.get("type") or "").startswith("math/tex")]:
            _write(script, script.text or "")
    for raised in list(tree.iter("sup")):
        _write_fraction(raised)
    # The inner ones first: e^(x^2).
    for element in reversed(list(tree.iter("sup", "sub"))):
        _write_script(element)
    strip_tags(tree, _WRITTEN)


def _write(element: HtmlElement, text: str) -> None:
    element.clear(keep_tail=True)
    element.tag, element.text = _WRITTEN, text


def _write_fraction(numerator: HtmlElement) -> None:
    """Write a superscript, a slash and a subscript or a number as a fraction."""
    slash, denominator = (numerator.tail or "").strip(), numerator.getnext()
    if not slash and denominator is not None and denominator.tag == "span":
        slash, around, denominator = line_of(denominator), denominator, denominator.getnext()
    else:
        around = numerator
    if slash[:1] not in _SLASHES or not slash:
        return
    before, number = _before(numerator), line_of(numerator)
    if len(slash) == 1 and denominator is not None and denominator.tag in ("sub", "sup"):
        _write(denominator, grouped(line_of(denominator)))
        around.tail = None
        if around is not numerator:
            _write(around, "")
        number = f"{grouped(number)}/"
    elif not (number.isdigit() and slash[1:2].isdigit() and not before[-1:].isalpha()):
        return
    _write(numerator, f" {number}" if before[-1:].isdigit() else number)


def _write_script(element: HtmlElement) -> None:
    text, is_raised = line_of(element), element.tag == "sup"
    if is_raised:
        # One that is a link or is named as a note refers to it, with the link around it.
        around = next(element.iterancestors("a"), None)
        if around is not None and line_of(around) == text:
            _write(around, "")
            return
        link_letters = _letters("".join(text_of(link) for link in element.iter("a")))
        match = _NAMED_NOTE.search(f"{element.get('class', '')} {element.get('role', '')}")
        if match or (link_letters and link_letters == _letters(text)):
            _write(element, "")
            return
    if len(text) > _LONGEST:
        element.tag = _WRITTEN
    elif is_raised:
        _write(element, superscript(text, _before(element), element.tail or ""))
    else:
        _write(element, subscript(text, _before(element)))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _before(element: HtmlElement) -> str:
    """The end of the text right before an element, in the same line."""
    previous, above = element.getprevious(), element.getparent()
    if previous is not None:
        return (previous.tail or text_of(previous))[-_BEFORE:]
    return (above.text or "")[-_BEFORE:] if above is not None else ""


def superscript(text: str, before: str, after: str) -> str:
    """What a superscript becomes: a power, the end of an ordinal, a sign, or nothing where it marks a footnote."""
    base = before[-1:].strip()
    if text in _DEGREE and after[:1] in _SCALES and not base.isalpha():
        return "\u00b0"
    if _MARK.fullmatch(text):  # It marks a footnote behind a sentence or a word, or begins the note itself.
        if not base:
            is_mark = not after[:1].isalpha()
        elif _NO_EXPONENT.fullmatch(text) and not _is_variable(before):
            is_mark = True
        else:
            is_mark = base in '.,;:!?"\u201d\u2019\u00bb\u3002' or _MARKED_WORD.search(before) is not None
        if is_mark:
            return ""
    if not base:
        return f"^{text}" if after[:1].isalpha() else text  # an isotope, or small print
    # Letters end a word: 1st, XXe, Mlle, the sign of a trade mark. Those of e^(ix) do not.
    if not _LETTERS.fullmatch(text):
        ends_word = not any(c.isalnum() or c in "+-\u2212\u2013\u00b1*" for c in text)
    elif len(text) == 1:
        ends_word = text in _ORDINAL_LETTERS and _ORDINAL.search(before) is not None
    else:
        ends_word = not (_is_variable(before) and before[-1].islower())
    return text if ends_word else f"^{grouped(text)}"


def _is_variable(before: str) -> bool:
    """Whether a text ends with a letter that stands alone."""
    return before[-1:].isalpha() and not before[-2:-1].isalpha()


def subscript(text: str, before: str) -> str:
    """What a subscript becomes: joined to its base, or behind `_` where it would be read as a part of it."""
    apart = before[-1:].isdigit() and text[:1].isdigit()
    apart = apart or (len(text) == 1 and text.isalpha() and _is_variable(before))
    group = grouped(text)
    return f"_{group}" if apart or (group != text and " " not in text) else text


# ---- MathML: x^2, (a + b)/(2c), √(x + 1) ----

# Deepest nesting that is read as a formula; below it text is text.
_DEEPEST: Final = 50
_UNREAD: Final = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
# Characters that stand for an operator which is not printed: a function's application, a product.
_INVISIBLE: Final = str.maketrans({"\u2061": " ", "\u2062": "", "\u2063": "", "\u2064": ""})
_PLUS_MINUS: Final = "+\u2212\u2013\u00b1-"
# Text that needs no brackets as an exponent or an index, and as what is divided by.
_SIMPLE: Final = re.compile(rf"[{_PLUS_MINUS}]?[\w.,]*[{_PLUS_MINUS}]?|.")
_DIVISOR: Final = re.compile(r"[\d.,]+|.")
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
    row = ""
    for child, part in zip(node, parts, strict=True):
        between = row and row[-1] not in _OPENS
        if child.tag == "mo" and between and child.getnext() is not None and not _CLOSE.fullmatch(part):
            part = f" {part} "
        elif between and child.tag == "mfrac":  # A number and a fraction would run together; so would two words.
            part = f" {part}" if row[-1].isdigit() else part
        elif between and row[-1].isalpha() and part[:1].isalpha():
            part = f" {part}" if row[-2:-1].isalpha() or part[1:2].isalpha() else part
        row += part
    return f"\u221a({row})" if node.tag == "msqrt" else row


def grouped(text: str) -> str:
    """`text`, in brackets where it is more than a number or a name."""
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _script(mark: str, text: str) -> str:
    """An exponent behind `^` or an index behind `_`; a prime or an accent as it is."""
    return f"{mark}{grouped(text)}" if any(c.isalnum() or c in _PLUS_MINUS for c in text) else text


_LAYOUTS: Final[Mapping[str, tuple[int, Callable[[Sequence[str]], str]]]] = {
    **dict.fromkeys(("msup", "mover"), (2, lambda p: f"{grouped(p[0])}{_script('^', p[1])}")),
    **dict.fromkeys(("msub", "munder"), (2, lambda p: f"{grouped(p[0])}{_script('_', p[1])}")),
    "msubsup": (3, lambda p: f"{grouped(p[0])}{_script('_', p[1])}{_script('^', p[2])}"),
    "munderover": (3, lambda p: f"{grouped(p[0])}{_script('_', p[1])}{_script('^', p[2])} "),
    "mfrac": (2, lambda p: f"{grouped(p[0])}/{p[1] if _DIVISOR.fullmatch(p[1]) else f'({p[1]})'}"),
    "mroot": (2, lambda p: f"{grouped(p[0])}^(1/{grouped(p[1])})"),
    "mfenced": (1, lambda p: f"({', '.join(p)})"),
    "mtr": (1, ", ".join),
    "mtable": (1, "; ".join),
    "semantics": (1, lambda p: p[0]),
}
