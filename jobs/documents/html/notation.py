"""Text whose meaning is in its markup: deletions, superscripts, subscripts, fractions and formulas.

A reader of plain text would take a superscript for a digit more and a struck-out price for the price. Here what is
struck out is dropped, and the rest is written on one line: 10^6, H2O, 3 1/2, x^(n+1).
"""

from __future__ import annotations

import re
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
# Text that needs no brackets as an exponent or an index.
_SIMPLE: Final = re.compile(r"[+\u2212\u2013\u00b1-]?[\w.,]*[+\u2212\u2013\u00b1-]?|.")
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
    # What a script drew beside a formula for the eye goes.
    formulas = [e for e in tree.iter("math") if next(e.iterancestors("math"), None) is None]
    for element in formulas:
        for beside in [s for e in (element, element.getparent()) for s in e.itersiblings()]:
            if beside.get("aria-hidden") == "true":
                _write(beside, "")
        block = element.get("display") == "block" and next(element.iterancestors(*_BLOCKS), None) is None
        _write_formula(element)
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


def _write_formula(formula: HtmlElement) -> None:
    """Write MathML as the TeX that it states, else leave its characters, exponents, indices and fractions."""
    notes = (note.text for note in formula.iter("annotation") if "tex" in note.get("encoding", ""))
    if tex := formula.get("alttext") or next(notes, None):
        _write(formula, tex)
        return
    for part in [part for part in formula.iter("msup", "msub", "mfrac") if len(part) == 2]:
        if part.tag == "mfrac":
            divisor = line_of(part[1])
            part[0].tail, part[1].tail = ("/", None) if len(divisor) == 1 or divisor.isdigit() else ("/(", ")")
        else:
            part[1].tag = part.tag.removeprefix("m")
    for part in formula.iter():
        part.tag = part.tag if part.tag in ("sup", "sub") else _WRITTEN


def _write_fraction(raised: HtmlElement) -> None:
    """Write a superscript, a slash and a subscript or a number as a fraction."""
    slash, lowered = (raised.tail or "").strip(), raised.getnext()
    if not slash and lowered is not None and lowered.tag == "span":
        slash, around, lowered = line_of(lowered), lowered, lowered.getnext()
    else:
        around = raised
    if slash[:1] not in _SLASHES or not slash:
        return
    before, number = _before(raised), line_of(raised)
    if len(slash) == 1 and lowered is not None and lowered.tag in ("sub", "sup"):
        _write(lowered, grouped(line_of(lowered)))
        around.tail = None
        if around is not raised:
            _write(around, "")
        number = f"{grouped(number)}/"
    elif not (number.isdigit() and slash[1:2].isdigit() and not before[-1:].isalpha()):
        return
    _write(raised, f" {number}" if before[-1:].isdigit() else number)


def _write_script(element: HtmlElement) -> None:
    text, is_raised = line_of(element), element.tag == "sup"
    if is_raised:
        # One that is a link or is named as a note refers to it, with the link around it.
        around = next(element.iterancestors("a"), None)
        if around is not None and line_of(around) == text:
            _write(around, "")
            return
        linked = _letters("".join(text_of(link) for link in element.iter("a")))
        named = _NAMED_NOTE.search(f"{element.get('class', '')} {element.get('role', '')}")
        if named or (linked and linked == _letters(text)):
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


def grouped(text: str) -> str:
    """`text`, in brackets where it is more than a number or a name."""
    return text if _SIMPLE.fullmatch(text) else f"({text})"
