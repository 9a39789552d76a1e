"""Text and metadata of a DOCX file (ECMA-376), read from its XML; nothing is unpacked to disk.

Elements are told by their local names, so that the transitional and the strict form of the standard are read alike.
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

from quern.jobs.documents.html.child import FileFault
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


class _Raised(str):
    """Text of a superscript."""

    __slots__ = ()


class _Lowered(str):
    """Text of a subscript."""

    __slots__ = ()


_SCRIPTS: Final = {"superscript": _Raised, "subscript": _Lowered}


def read_docx(body: bytes) -> Header:
    """Text, title, author and times of a DOCX file.

    Raises:
        FileFault: It is encrypted, damaged, a bomb, or declares entities.
    """
    if body.startswith(_OLE):
        raise FileFault("encrypted", "the file asks for a password, or is of a Word older than DOCX")
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            parts = len(archive.infolist())
            if parts > _MOST_PARTS:
                raise FileFault(
                    "too_many_parts", f"the file packs {parts} parts, such as images; {_MOST_PARTS} are read"
                )
            return _Reader(archive).read()
    except _DAMAGED as error:
        raise FileFault("parse_error", f"no DOCX file that can be read: {error}") from None


def _name(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _of(element: _Element | None, name: str) -> str | None:
    """The attribute with a local name."""
    found = (v for n, v in element.attrib.items() if str(n).rpartition("}")[2] == name) if element is not None else ()
    return next((str(value) for value in found), None)


def _child(element: _Element | None, *names: str) -> _Element | None:
    """The first child with a local name, and of that in turn."""
    for name in names:
        element = next((e for e in element if _name(e) == name), None) if element is not None else None
    return element


def _is_on(element: _Element | None) -> bool:
    """Whether a property that may be switched off is on."""
    return element is not None and _of(element, "val") not in ("0", "false", "off", "none")


class _Reader:
    """Reads the parts of one file."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        rels = self._part("_rels/.rels")
        kinds = (
            {(_of(rel, "Type") or "").rpartition("/")[2]: _of(rel, "Target") for rel in rels}
            if rels is not None
            else {}
        )
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
            raise FileFault("too_large", f"{name} unpacks to more than {_LARGEST_PART >> 20} MiB")
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
        )
        root = etree.fromstring(xml, parser)
        if root.getroottree().docinfo.doctype:
            raise FileFault("forbidden_entities", f"{name} declares a document type, which DOCX does not allow")
        return root

    def read(self) -> Header:
        """What the file says and states."""
        body = _child(self._part(self._main), "body")
        if body is None:
            raise FileFault("parse_error", f"no DOCX file that can be read: it has no {self._main}")
        # Word marks where the pages ended that it showed last, the breaks of the author among them.
        self._is_paged = next(body.iter("{*}lastRenderedPageBreak"), None) is not None
        text, starts = _joined("\n".join(self._blocks(body)).split(_PAGE_END))
        core = self._part(self._core)
        said = {_name(e): one_line(e.text) for e in core} if core is not None else {}
        stated = {name: text for name, text in said.items() if text not in _OF_TEMPLATE}
        return {
            "text": text,
            "page_starts": starts if len(starts) > 1 else None,
            "title": stated.get("title") or self._heading(body),
            "author": stated.get("creator"),
            "published_at": stated.get("created"),
            "modified_at": stated.get("modified"),
            "without_text": [],
        }

    def _heading(self, body: _Element) -> str | None:
        """The first paragraph in the style of titles, or else of headings."""
        styles = self._part(f"{self._folder}/styles.xml")
        names = (
            {_of(s, "styleId"): (_of(_child(s, "name"), "val") or "").lower() for s in styles}
            if styles is not None
            else {}
        )
        for wanted in ("title", "heading 1"):
            for paragraph in body:
                if names.get(_of(_child(paragraph, "pPr", "pStyle"), "val")) == wanted and (
                    text := one_line(self._text(paragraph))
                ):
                    return text
        return None

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
        groups = [(kind, "".join(pieces)) for kind, pieces in groupby(self._pieces(element), type)]
        text = ""
        for (kind, piece), (_, after) in pairwise([*groups, (str, "")]):
            if issubclass(kind, _Raised):
                piece = superscript(piece.strip(), text, after)
            elif issubclass(kind, _Lowered):
                piece = subscript(piece.strip(), text)
            text += piece
        return text

    def _pieces(self, element: _Element) -> Iterator[str]:
        """The texts in a paragraph; its text boxes and notes are put by."""
        for part in element:
            name = _name(part)
            if name == "t":
                yield part.text or ""
            elif name in ("tab", "ptab"):
                yield " "
            elif name == "lastRenderedPageBreak":
                yield _PAGE_END
            elif name in ("br", "cr"):
                yield "\n" + _PAGE_END if _of(part, "type") == "page" and not self._is_paged else "\n"
            elif name == "noBreakHyphen":
                yield "-"
            elif name == "txbxContent":
                self._asides.append(part)
            elif name in _NOTES:
                self._asides += self._note(_NOTES[name], _of(part, "id"))
            elif name == "r":
                yield from self._run(part)
            elif name not in _UNSHOWN:
                yield from self._pieces(part)

    def _run(self, run: _Element) -> Iterator[str]:
        style = _child(run, "rPr")
        if any(_is_on(_child(style, name)) for name in ("vanish", "strike", "dstrike")):
            return
        kind = _SCRIPTS.get(_of(_child(style, "vertAlign"), "val") or "", str)
        yield from (kind(piece) if piece.strip() else piece for piece in self._pieces(run))

    def _note(self, part: str, number: str | None) -> list[_Element]:
        if part not in self._notes:
            root = self._part(f"{self._folder}/{part}.xml")
            self._notes[part] = {_of(note, "id") or "": note for note in root} if root is not None else {}
        note = self._notes[part].pop(number or "", None)
        return [] if note is None else [note]

    def _rows(self, table: _Element) -> Iterator[str]:
        """The rows of a table. A cell over several rows is in each; one over several columns is the first of them."""
        above: dict[int, str] = {}
        for row in _inner(table, "tr"):
            cells: list[str] = []
            pages = 0
            skipped = int(_of(_child(row, "trPr", "gridBefore"), "val") or 0)
            cells += [""] * min(skipped, _MOST_COLUMNS)
            for cell in _inner(row, "tc"):
                properties = _child(cell, "tcPr")
                merged = _child(properties, "vMerge")
                text = " ".join(self._blocks(cell))
                pages = max(pages, text.count(_PAGE_END))
                text = " ".join(text.replace("|", "/").split())
                if merged is not None and _of(merged, "val") != "restart":
                    text = above.get(len(cells), text)
                above[len(cells)] = text
                wide = int(_of(_child(properties, "gridSpan"), "val") or 1)
                cells += [text, *[""] * (min(wide, _MOST_COLUMNS) - 1)]
            if any(cells):
                yield _PAGE_END * pages + SEPARATOR.join(cells[:_MOST_COLUMNS])


def _joined(pages: list[str]) -> tuple[str, list[int]]:
    """The paragraphs of all pages, and where each page begins; a paragraph may go on over a page's end."""
    text, starts, goes_on = "", list[int](), False
    for page in pages:
        part = paragraphs(page)
        between = (" " if goes_on and not page.startswith("\n") else "\n") if text and part else ""
        starts.append(len(text) + len(between))
        text += between + part
        goes_on = not page.endswith("\n") if part else goes_on and not page
    return text, starts


def _inner(holder: _Element, name: str) -> Iterator[_Element]:
    """Rows or cells, those in controls and marks of changes among them."""
    for element in holder:
        if _name(element) == name:
            yield element
        elif _name(element) in ("sdt", "sdtContent", "customXml", "ins"):
            yield from _inner(element, name)
