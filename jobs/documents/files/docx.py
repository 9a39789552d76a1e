"""Text and metadata of a DOCX file (ECMA-376), read from its XML; nothing is unpacked to disk.

Elements are compared by local names: the transitional and the strict form of the standard are read alike.
Deleted, moved and hidden text is left out; a text box and a footnote follow the paragraph that they belong to.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element

from quern.jobs.documents.html.child import UnfitError
from quern.jobs.documents.html.notation import subscript, superscript
from quern.jobs.text.plain_text import one_line, paragraphs
from quern.jobs.text.tables import SEPARATOR

Header = dict[str, Any]

_MOST_PARTS: Final = 5_000
_LARGEST_PART: Final = 100 << 20
_MOST_COLUMNS: Final = 1_000
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, etree.XMLSyntaxError)
# Text that is not shown, and what stands twice in a file for older programs.
_UNSHOWN: Final = frozenset(
    {"del", "moveFrom", "Fallback", "rt", "pPr", "rPr", "sdtPr", "tblPr", "instrText", "delText"}
)
_NOTES: Final = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
# What the template of python-docx states, whoever writes a file with it.
_OF_TEMPLATE: Final = frozenset({"python-docx", "2013-12-23T23:15:00Z"})
# Where a page ends; no other character of XML is one of control, but for tabs and line ends.
_PAGE_END: Final = "\f"


Piece = tuple[str, str]  # How a text is set, such as `superscript`, and the text.


def read_docx(body: bytes) -> Header:
    """Text, title, author and times of a DOCX file; UnfitError if it is encrypted, damaged, a bomb, or has entities."""
    if body.startswith(_OLE):
        raise UnfitError("encrypted", "the file asks for a password, or is of a Word older than DOCX")
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            parts = len(archive.infolist())
            if parts > _MOST_PARTS:
                raise UnfitError(
                    "too_many_parts", f"the file packs {parts} parts, such as images; {_MOST_PARTS} are read"
                )
            return _Reader(archive).read()
    except _DAMAGED as error:
        raise UnfitError("parse_error", f"no DOCX file that can be read: {error}") from None


def _name(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _of(element: _Element | None, name: str) -> str | None:
    """The attribute with a local name."""
    values = (v for n, v in element.attrib.items() if str(n).rpartition("}")[2] == name) if element is not None else ()
    return next((str(value) for value in values), None)


def _child(element: _Element | None, *names: str) -> _Element | None:
    """The first child with a local name, and of that in turn."""
    for name in names:
        element = next((e for e in element if _name(e) == name), None) if element is not None else None
    return element


class _Reader:
    """Reads the parts of one file."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        rels = self._children("_rels/.rels")
        kinds = {(_of(rel, "Type") or "").rpartition("/")[2]: _of(rel, "Target") for rel in rels}
        self._main = (kinds.get("officeDocument") or "word/document.xml").lstrip("/")
        self._core = (kinds.get("core-properties") or "docProps/core.xml").lstrip("/")
        self._folder = self._main.rpartition("/")[0]
        self._notes: dict[str, dict[str, _Element]] = {}
        self._asides: list[_Element] = []
        self._is_paged = False

    def _part(self, name: str) -> _Element | None:
        """The root of a part of the file; None where there is none."""
        try:
            size = self._archive.getinfo(name).file_size
        except KeyError:
            return None
        with self._archive.open(name) as stream:
            xml = stream.read(_LARGEST_PART + 1)
        if max(size, len(xml)) > _LARGEST_PART:
            raise UnfitError("too_large", f"{name} unpacks to more than {_LARGEST_PART >> 20} MiB")
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
        )
        root = etree.fromstring(xml, parser)
        if root.getroottree().docinfo.doctype:
            raise UnfitError("forbidden_entities", f"{name} declares a document type, which DOCX does not allow")
        return root

    def read(self) -> Header:
        """What the file says and states."""
        body = _child(self._part(self._main), "body")
        if body is None:
            raise UnfitError("parse_error", f"no DOCX file that can be read: it has no {self._main}")
        # Word marks where the pages ended that it showed last, the breaks of the author among them.
        self._is_paged = next(body.iter("{*}lastRenderedPageBreak"), None) is not None
        text, starts, goes_on = "", list[int](), False
        for page in "\n".join(self._blocks(body)).split(_PAGE_END):
            part = paragraphs(page)
            # A paragraph may go on over a page's end.
            between = (" " if goes_on and not page.startswith("\n") else "\n") if text and part else ""
            starts.append(len(text) + len(between))
            text += between + part
            goes_on = not page.endswith("\n") if part else goes_on and not page
        properties = {_name(e): one_line(e.text) for e in self._children(self._core)}
        metadata = {name: text for name, text in properties.items() if text not in _OF_TEMPLATE}
        title = metadata.get("title")
        if not title:  # The first paragraph in the style of titles, or else of headings.
            styles = self._children(f"{self._folder}/styles.xml")
            names = {_of(s, "styleId"): (_of(_child(s, "name"), "val") or "").lower() for s in styles}
            kinds = [(names.get(_of(_child(p, "pPr", "pStyle"), "val")), p) for p in body]
            headings = (p for style in ("title", "heading 1") for kind, p in kinds if kind == style)
            title = next(filter(None, (one_line(self._text(p)) for p in headings)), None)
        return {
            "text": text,
            "page_starts": starts if len(starts) > 1 else None,
            "title": title,
            "author": metadata.get("creator"),
            "published_at": metadata.get("created"),
            "modified_at": metadata.get("modified"),
            "without_text": [],
        }

    def _children(self, part: str) -> list[_Element]:
        """What is in the root of a part; nothing where there is none."""
        root = self._part(part)
        return [] if root is None else list(root)

    def _blocks(self, holder: _Element) -> Iterator[str]:
        """The paragraphs and rows in an element, each a line."""
        for element in holder:
            name = _name(element)
            if name == "p":
                yield self._text(element)
                asides, self._asides = self._asides, []
                for aside in asides:
                    yield from self._blocks(aside)
            elif name == "tbl":
                yield from self._rows(element)
            elif name not in _UNSHOWN:
                yield from self._blocks(element)

    def _text(self, element: _Element) -> str:
        pieces = groupby(self._pieces(element), lambda piece: piece[0])
        runs = [(kind, "".join(text for _, text in some)) for kind, some in pieces]
        text = ""
        for (kind, piece), (_, after) in pairwise([*runs, ("", "")]):
            if kind == "superscript":
                piece = superscript(piece.strip(), text, after)
            elif kind == "subscript":
                piece = subscript(piece.strip(), text)
            text += piece
        return text

    def _pieces(self, element: _Element, kind: str | None = None) -> Iterator[Piece]:
        """The texts in a paragraph, or in a run of a kind; text boxes and notes are put by."""
        for part in element:
            name = _name(part)
            if (text := self._characters(part, name)) is not None:
                yield (kind or "") if text.strip() else "", text
            elif name == "txbxContent":
                self._asides.append(part)
            elif name in _NOTES:
                if (notes := _NOTES[name]) not in self._notes:
                    some = self._children(f"{self._folder}/{notes}.xml")
                    self._notes[notes] = {_of(note, "id") or "": note for note in some}
                note = self._notes[notes].pop(_of(part, "id") or "", None)
                self._asides += [] if note is None else [note]
            elif name == "r":
                style = _child(part, "rPr")
                hiding = (_child(style, name) for name in ("vanish", "strike", "dstrike"))
                # A property is there, and not switched off.
                if all(p is None or _of(p, "val") in ("0", "false", "off", "none") for p in hiding):
                    own = _of(_child(style, "vertAlign"), "val")
                    own = own if own in ("superscript", "subscript") else ""
                    yield from self._pieces(part, own if kind is None else kind)
            elif name not in _UNSHOWN:
                yield from self._pieces(part, kind)

    def _characters(self, part: _Element, name: str) -> str | None:
        """What an element of a run writes; null for one that holds others."""
        if name == "t":
            return part.text or ""
        if name in ("br", "cr"):
            return "\n" + _PAGE_END if _of(part, "type") == "page" and not self._is_paged else "\n"
        return {"tab": " ", "ptab": " ", "lastRenderedPageBreak": _PAGE_END, "noBreakHyphen": "-"}.get(name)

    def _rows(self, table: _Element) -> Iterator[str]:
        """The rows of a table. A cell over several rows is in each; one over several columns is the first of them."""
        above: dict[int, str] = {}
        for row in _inner(table, "tr"):
            cells: list[str] = []
            pages = 0
            offset = int(_of(_child(row, "trPr", "gridBefore"), "val") or 0)
            cells += [""] * min(offset, _MOST_COLUMNS)
            for cell in _inner(row, "tc"):
                properties = _child(cell, "tcPr")
                merge = _child(properties, "vMerge")
                text = " ".join(self._blocks(cell))
                pages = max(pages, text.count(_PAGE_END))
                text = " ".join(text.replace("|", "/").split())
                if merge is not None and _of(merge, "val") != "restart":
                    text = above.get(len(cells), text)
                above[len(cells)] = text
                wide = int(_of(_child(properties, "gridSpan"), "val") or 1)
                cells += [text, *[""] * (min(wide, _MOST_COLUMNS) - 1)]
            if any(cells):
                yield _PAGE_END * pages + SEPARATOR.join(cells[:_MOST_COLUMNS])


def _inner(holder: _Element, name: str) -> Iterator[_Element]:
    """Rows or cells, those in controls and marks of changes among them."""
    for element in holder:
        if _name(element) == name:
            yield element
        elif _name(element) in ("sdt", "sdtContent", "customXml", "ins"):
            yield from _inner(element, name)
