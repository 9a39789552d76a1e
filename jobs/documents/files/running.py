"""Lines that run along the pages of a file, at their head and foot: titles, marks of copies, page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Final

from quern.jobs.documents.files.layout import Page, Word, lines_of

_DIGITS: Final = re.compile(r"\d+")
# How many lines at each edge of a page may run along, and the share of its height that they are in.
_MOST_LINES: Final = 3
_MARGIN: Final = 0.15
# Least share of the pages that have the line, as it may be on every other page, and least pages.
_SHARE: Final = 0.4
_FEWEST: Final = 2
# Least distance of such lines from the text, in sizes of their letters; and points that their heights differ by.
_APART: Final = 0.7
_LEVEL: Final = 4

_Mark = tuple[str, int]


def without_running_lines(pages: Sequence[Page]) -> list[Page]:
    """Pages without the lines that are repeated, but for numbers, at the same height, and without page numbers."""
    edges = [[list(_at_edge(page, side)) for side in (1, -1)] for page in pages]
    counts = Counter(mark for page in edges for mark in {_mark(line) for side in page for line in side})
    marks = Counter(text for page in pages for text in set(page.beside))
    least = max(_FEWEST, _SHARE * len(pages))
    kept: list[Page] = []
    for number, (page, sides) in enumerate(zip(pages, edges, strict=True), 1):
        gone = {id(word) for side in sides for line in _running(side, number, counts, least) for word in line}
        beside = [text for text in page.beside if marks[text] < least]
        kept.append(replace(page, words=[word for word in page.words if id(word) not in gone], beside=beside))
    return kept


def _at_edge(page: Page, side: int) -> Iterator[list[Word]]:
    """The lines from an edge of the page inwards (`side` 1: the upper), as long as white space is before the next."""
    lines = lines_of(page.words)[::side]
    height = page.bottom - page.top
    found: list[list[Word]] = []
    gaps = [_gap(*((a, b) if side > 0 else (b, a))) for a, b in pairwise(lines)]
    # How much larger than the usual distance within the text it is.
    least = 1.2 * median(gaps[1:-1] or [0.0])
    for n, line in enumerate(lines[:_MOST_LINES]):
        depth = (line[0].base - page.top) if side > 0 else (page.bottom - line[0].base)
        if depth > _MARGIN * height:
            return
        found.append(line)
        # Rows of a table are set apart, but each as much as the next.
        if n < len(gaps) and gaps[n] > max(_APART * line[0].size, least):
            yield from found
            found = []


def _gap(upper: Sequence[Word], lower: Sequence[Word]) -> float:
    return min(word.top for word in lower) - max(word.bottom for word in upper)


def _mark(line: Sequence[Word]) -> _Mark:
    return _DIGITS.sub("#", " ".join(word.text for word in line)), round(line[0].base / _LEVEL)


def _running(lines: Sequence[list[Word]], number: int, counts: Counter[_Mark], least: float) -> list[list[Word]]:
    """Of the lines at an edge those that run along: up to the last that does."""
    ran = [n for n, line in enumerate(lines) if counts[_mark(line)] >= least or _is_number(line, number)]
    return list(lines[: ran[-1] + 1]) if ran else []


def _is_number(line: Sequence[Word], number: int) -> bool:
    """Whether a line is nothing but the number of its page: `7`, `- 7 -`, `Page 7 of 12`, `7 / 12`."""
    text = " ".join(word.text for word in line)
    return re.fullmatch(rf"\W*(?:[^\W\d]+\W+)?{number}(?:\W+(?:[^\W\d]+\W+)?\d+)?\W*", text) is not None
