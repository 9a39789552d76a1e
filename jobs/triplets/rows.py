"""What rows of tables state: row label, column header, cell; of two cells, label and value of what the page is about.

Cells that a page merges come as empty ones in the text. A cell beside an empty one may stand for both, so that it is
not known of which column it is: it states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from quern.jobs.text.tables import rows
from quern.jobs.triplets.statement import Part, Passage, Statement

_NOTHING: Final = re.compile(r"(?:[\W_]*|n/?a|none|unknown|tbc|tba)", re.I)


def row_statements(passage: Passage) -> Iterator[Statement]:
    """What the rows of the tables in a chunk state."""
    text = passage.text
    if "|" not in text:
        return
    lines = text.split("\n")
    begins = [0, *accumulate(len(line) + 1 for line in lines)]
    for number, row in sorted(rows(lines).items()):
        cells = _places(text, begins[number], row.cells)
        if not row.cells[0]:
            continue
        if row.header_line is not None and row.header:
            heads = _places(text, begins[row.header_line], row.header)
            for n in range(1, len(cells)):
                merged = n + 1 < len(cells) and not row.cells[n + 1]
                if heads[n].of(text) and not merged and _tells(row.cells[n]) and row.cells[0] != row.cells[n]:
                    yield Statement(cells[0], heads[n], cells[n], cells[0].start, cells[-1].end, "row")
        elif len(cells) == 2 and passage.topic not in (None, cells[0]) and _tells(row.cells[1]):
            yield Statement(passage.topic, cells[0], cells[1], cells[0].start, cells[1].end, "row")


def _places(text: str, at: int, cells: Sequence[str]) -> list[Part]:
    """Where the cells of a line that begins at `at` stand."""
    places = []
    for cell in cells:
        start = text.index(cell, at)
        at = start + len(cell)
        places.append(Part(start, at))
    return places


def _tells(cell: str) -> bool:
    """Whether a cell tells a value: not blank, a dash, or prose."""
    # A longer cell is prose, which states more than one thing.
    return len(cell) <= 120 and _NOTHING.fullmatch(cell) is None
