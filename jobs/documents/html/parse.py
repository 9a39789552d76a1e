"""The tree of a page: its bytes decoded, cleared of what XML cannot hold, and parsed once."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.html import HtmlComment, HtmlElement, HtmlEntity, HTMLParser, HtmlProcessingInstruction

from quern.jobs.documents.html.markup import unlinked, unwrap
from quern.jobs.documents.html.texts import is_prose, is_sentence, line_of, text_of
from quern.jobs.text.charsets import as_utf8

# What holds no main text by its element's meaning; metadata and images are read before it goes.
_NO_TEXT: Final = (
    *("head", "style", "noscript", "template", "link", "meta"),
    *("nav", "footer", "aside", "dialog", "button", "select", "textarea"),
    *("svg", "iframe", "object", "embed", "audio", "video", "canvas", "map", "picture"),
    *("amp-ad", "amp-embed", "amp-social-share", "amp-sidebar", "amp-consent", "amp-user-notification"),
)
# Elements of these that hold main text were not closed.
_NEVER_AROUND: Final = ("nav", "footer", "dialog", "button", "select", "svg", "object", "audio", "video", "map")
_UNSHOWN: Final = etree.XPath("descendant::*[@hidden != 'until-found']")
_CONTROLLED: Final = etree.XPath("descendant::*/@aria-controls")
# Least share of the text in the page's paragraphs of an aside, or of a form, that is around the main text.
_MAIN_BOX: Final = 0.4
# Control characters, NUL among them, save tab and line breaks; a form feed is a line break.
_CONTROL: Final = bytes([*range(0x09), 0x0B, *range(0x0E, 0x20), 0x7F])
_FORM_FEED: Final = bytes.maketrans(b"\x0c", b"\n")
_SEPARATORS: Final = ("\x85", "\u2028", "\u2029", "\ufffe", "\uffff")
# A character reference to what XML cannot hold: it would pass the parser and stop all that builds a tree anew.
_REFERENCE: Final = re.compile(rb"&#(?:0*(\d{1,7})|x0*([0-9a-f]{1,6}));?", re.I)
_SPACES: Final = frozenset({0x09, 0x0A, 0x0D})
_NO_CHARACTER: Final = frozenset({0x7F, 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)})
# libxml2 loses what follows some document types, and takes `<html/>` for a whole document.
_DOCTYPE: Final = re.compile(rb"<!doctype[^<>]*>", re.I)
# A page of frames says its text to readers without them, and libxml2 takes that for no markup.
_FRAMES: Final = re.compile(rb"</?(?:noframes|frameset|frame)\b[^<>]*>", re.I)
_CLOSED_ROOT: Final = re.compile(rb"(<html\b[^<>]*?)/>", re.I)


class PageError(ValueError):
    """A page that cannot be read as HTML."""


# lxml's own choice of a class by tag asks Python for each element: this parser makes all of them an `HtmlElement`.
_PARSER: Final = HTMLParser(
    collect_ids=False, default_doctype=False, encoding="utf-8", remove_comments=True, remove_pis=True
)
_PARSER.set_element_class_lookup(
    etree.ElementDefaultClassLookup(
        element=HtmlElement, comment=HtmlComment, pi=HtmlProcessingInstruction, entity=HtmlEntity
    )
)


def _held(reference: re.Match[bytes]) -> bytes:
    """The reference, or nothing where what it names is no character of XML."""
    decimal, digits = reference.groups()
    code = int(decimal) if decimal is not None else int(digits, 16)
    return b"" if (code < 0x20 and code not in _SPACES) or code in _NO_CHARACTER else reference[0]


def parse_page(body: bytes, charset: str | None) -> HtmlElement:
    """The `html` element of a page, whose HTTP header declares `charset`; PageError if it is no HTML."""
    # As UTF-8 without lone surrogates, control characters and what stops the parser.
    markup = as_utf8(body, charset, _SEPARATORS).translate(_FORM_FEED, _CONTROL)
    markup = _REFERENCE.sub(_held, markup)
    head = _CLOSED_ROOT.sub(rb"\1>", _DOCTYPE.sub(b"", markup[:4096], count=1), count=1)
    markup = head + markup[4096:]
    if b"<" not in markup:
        raise PageError("no markup: this is not an HTML page")
    tree = _tree(markup)
    return tree if next(tree.iter("frameset"), None) is None else _tree(_FRAMES.sub(b"", markup))


def _tree(markup: bytes) -> HtmlElement:
    try:
        tree = etree.fromstring(markup, parser=_PARSER)
    except etree.XMLSyntaxError as error:
        raise PageError(f"no element could be parsed: {error}") from None
    if tree is None:
        raise PageError("no element could be parsed")
    return tree


def drop_unread(tree: HtmlElement) -> None:
    """Take out the head, scripts, navigation, controls and embedded objects."""
    _free_unclosed(tree)
    # What is marked as hidden is another version of the text, a wall, a message; panels that open stay.
    hidden = [e for e in _UNSHOWN(tree) if all(above.get("hidden") is None for above in e.iterancestors())]
    panels = {one for ids in _CONTROLLED(tree) for one in ids.split()}
    unshown = [
        e
        for e in hidden
        if e.get("role") not in ("tabpanel", "region") and not e.get("aria-labelledby") and e.get("id") not in panels
    ]
    # Where more than a third of the text is hidden, a script shows it.
    if 3 * sum(len(text_of(e)) for e in unshown) <= len(text_of(tree)):
        for element in unshown:
            element.drop_tree()
    # Headings that are buttons are text. So are dates in cells and sentences; other dates are lines about the page,
    # which trafilatura leaves out save where its rescues read a short page. A line is measured once, however many times
    # it holds.
    unwrap(tree, [b for b in tree.iter("button") if next(b.iterancestors("h2", "h3", "h4", "dt"), None) is not None])
    in_sentences: list[HtmlElement] = []
    for line in dict.fromkeys(time.getparent() for time in tree.iter("time")):
        if line is not None:
            blocks = next(line.iterdescendants("p", "div", "ul", "ol", "table"), None)
            if line.tag == "td" or (blocks is None and is_sentence(line_of(line))):
                in_sentences += line.iterchildren("time")
    unwrap(tree, in_sentences)
    for time in list(tree.iter("time")):
        time.drop_tree()
    boxes = [box for box in tree.iter("aside", "form") if len(text_of(box)) > 200]
    least = _MAIN_BOX * _in_paragraphs(tree) if boxes else 0
    for box in [box for box in boxes if _in_paragraphs(box) > least]:
        box.tag = "div"
    etree.strip_elements(tree, "script", *_NO_TEXT, with_tail=False)


def _free_unclosed(tree: HtmlElement) -> None:
    """Move the page's text out of elements that hold none: a `nav` that was not closed holds all that follows."""
    least = 0.0
    for element in tree.iter(*_NEVER_AROUND):
        first = next(element.iterdescendants("main", "article"), None)
        if first is None:
            first = next(element.iterdescendants("h1"), None)
        if first is None and element.tag == "nav":
            first = next((p for p in element.iterdescendants("p") if is_prose(line_of(p))), None)
        if first is None or element.getparent() is None:
            continue
        least = least or _MAIN_BOX * unlinked(tree)
        if unlinked(element) > least:
            rest = element.makeelement("div")
            for here in (first, *first.iterancestors()):
                if here is element:
                    break
                rest.extend([here, *here.itersiblings()] if here is first else list(here.itersiblings()))
            rest.tail, element.tail = element.tail, None
            element.addnext(rest)


def _in_paragraphs(tree: HtmlElement) -> int:
    """Length of the text in paragraphs, outside links."""
    return sum(len(line_of(p)) - sum(len(text_of(a)) for a in p.iter("a")) for p in tree.iter("p"))
