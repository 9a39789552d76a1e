"""Tables of data as rows that each say all of theirs: cells in every row and column that they span, one header."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from copy import deepcopy
from itertools import groupby, islice
from typing import Final

from lxml.etree import XPath, iterwalk
from lxml.html import HtmlElement

from quern.jobs.documents.html.texts import line_of

_SPANS: Final = XPath("boolean(descendant::*[self::td or self::th][@rowspan or @colspan])")
_LISTS: Final = ("ul", "ol", "dl")
_ENTRIES: Final = ("li", "dt", "dd")
_OPENS: Final = frozenset(":;,(")
# Most rows or columns of a cell, most copies of cells on a page, and the size of a cell that is copied: what is longer
# is a text, which belongs to its rows but need not stand in each.
_MOST_SPANNED: Final = 1_000
_MOST_COPIES: Final = 20_000
_LONGEST_COPY: Final = 200
_MOST_ELEMENTS: Final = 50


def write_tables(tree: HtmlElement) -> list[HtmlElement]:
    """Fill spans, join rows of headers, and write lists in cells as text; returns elements to be unwrapped."""
    copies = _MOST_COPIES
    unwrapped: list[HtmlElement] = []
    for table in list(tree.iter("table")):
        for caption in table.findall("caption"):
            _move_out(caption, table)
        if copies and _SPANS(table):
            copies = _fill_spans(table, copies)
            _join_headers(table)
        for lists in table.iter(*_LISTS):
            unwrapped += [lists, *lists.iterchildren(*_ENTRIES)]
        for row in _rows(table):
            for cell in row:
                _separate_entries(cell)
    return unwrapped


def _move_out(line: HtmlElement, table: HtmlElement) -> None:
    """Put a caption, or a row that is one, before its table: it is no row of it."""
    line.tag, line.tail = "p", None
    line.attrib.clear()
    table.addprevious(line)


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for group in _groups(table):
        yield from group


def _groups(table: HtmlElement) -> list[list[HtmlElement]]:
    """Rows of the table's head, bodies and foot: no cell spans rows of two of them."""
    groups: list[list[HtmlElement]] = []
    for is_row, children in groupby(table.iterchildren("tr", "thead", "tbody", "tfoot"), lambda e: e.tag == "tr"):
        some = list(children)
        groups += [some] if is_row else [part.findall("tr") for part in some]
    return groups


def _cells(row: HtmlElement) -> list[HtmlElement]:
    return list(row.iterchildren("td", "th"))


def _span(cell: HtmlElement, name: str) -> int:
    """Rows or columns that a cell spans; 0 rows are all that follow (HTML, 4.9.11)."""
    value = (cell.get(name) or "").strip()
    number = int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 1
    return min(number, _MOST_SPANNED) if number or name == "colspan" else _MOST_SPANNED


def _fill_spans(table: HtmlElement, copies: int) -> int:
    """Copy cells into every row and column that they span; what is left of `copies` is returned.

    A cell that is all of its row heads the rows below, and stays one.
    """
    for group in _groups(table):
        above: dict[int, tuple[HtmlElement, int]] = {}
        for row in group:
            own = _cells(row)
            if len(own) == 1 and _span(own[0], "colspan") > 1 and not above:
                continue
            cells: list[HtmlElement] = []
            waiting = deque(own)
            while waiting or len(cells) in above:
                if (column := len(cells)) in above:
                    cell, left = above.pop(column)
                    cells.append(_copy(cell))
                    if left > 1:
                        above[column] = (cell, left - 1)
                    copies -= 1
                else:
                    cell = waiting.popleft()
                    wide, high = max(1, _span(cell, "colspan")), _span(cell, "rowspan")
                    for name in ("rowspan", "colspan"):
                        cell.attrib.pop(name, None)
                    cells += [cell, *(_copy(cell) for _ in range(wide - 1))]
                    above |= {n: (cell, high - 1) for n in range(column, column + wide) if high > 1}
                    copies -= wide - 1
                if copies <= 0:
                    return 0
            row[:] = cells
    return copies


def _copy(cell: HtmlElement) -> HtmlElement:
    """A copy of a cell without what follows it; empty where the cell is a long text."""
    is_small = next(islice(cell.iter(), _MOST_ELEMENTS, None), None) is None
    if not is_small or len(line_of(cell)) > _LONGEST_COPY:
        return cell.makeelement(cell.tag)
    copy = deepcopy(cell)
    copy.tail = None
    return copy


def _join_headers(table: HtmlElement) -> None:
    """Make one header of the rows of headers at the top: `2023 Q1` for 2023 above Q1; a title goes before the table."""
    rows = list(_rows(table))
    headers: list[list[HtmlElement]] = []
    for row in rows[:-1]:
        cells = _cells(row)
        if not cells or not (row.getparent().tag == "thead" or all(c.tag == "th" for c in cells)):
            break
        if not headers and len(cells) == 1 and _span(cells[0], "colspan") > 1:
            _move_out(cells[0], table)
            row.drop_tree()
        else:
            headers.append(cells)
    if len(headers) < 2 or len({len(cells) for cells in headers}) > 1:
        return
    for column in zip(*headers, strict=True):
        names = " ".join(filter(None, dict.fromkeys(line_of(cell) for cell in column)))
        column[0].clear(keep_tail=True)
        column[0].tag, column[0].text = "th", names
    for cells in headers[1:]:
        cells[0].getparent().drop_tree()


def _separate_entries(cell: HtmlElement) -> None:
    """Put semicolons between the entries of lists in a cell, a colon behind what a definition is of."""
    if next(cell.iter(*_ENTRIES), None) is None:
        return
    last, term = "", False
    for event, element in iterwalk(cell, events=("start", "end")):
        if event == "start":
            if element.tag in _ENTRIES and last:
                mark = "" if last in _OPENS else ":" if term and element.tag == "dd" else ";"
                element.text = f"{mark} {(element.text or '').lstrip()}"
            term = element.tag == "dt" or (term and element.tag != "dd")
            text = element.text
        else:
            if element.tag in _LISTS and element.tail and element.tail.strip():
                element.tail = f" {element.tail}"
            text = element.tail if element is not cell else None
        last = (text or "").rstrip()[-1:] or last
