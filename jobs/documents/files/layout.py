"""Reading order of a page: lines, columns and tables from the places of words.

A page is cut at white space, as in the recursive X-Y cut (Nagy, Seth, Viswanathan: A prototype document image analysis
system for technical journals, 1992). Other than there, upright gaps are looked for first in the longest run of lines
that they cross, so that paragraphs which end at the same height in two columns do not cut both.

All places are in points, x to the right and y down the page in the direction of reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Final

from quern.jobs.documents.files.grids import Grid, Rule, grids_of, joined

# Shares of the size of letters: what a line takes above and below its base, so that lines set solid stay apart.
_ABOVE: Final = 0.6
_BELOW: Final = 0.1
# Least gap between cells or columns. Spaces of justified lines are seldom as wide, and never line after line.
_GUTTER: Final = 0.65
# Least characters of a line of prose, and least share of a column's characters in such lines.
_PROSE_LINE: Final = 20
_PROSE: Final = 0.6
_FEWEST_LINES: Final = 3
_OF_COLUMNS: Final = 3  # Gaps of two columns: at their left, between them, at their right.
# How much larger than the least step between lines the step to another row, or to another part of the page, is.
_NEW_ROW: Final = 1.25
_NEW_PART: Final = 1.3
# How much wider than the narrowest the widest space of a justified line may be.
_EVEN: Final = 1.2
_MARKER: Final = re.compile(r"[^\w\s]|\(?\w{1,3}[.)]|o")


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place."""

    text: str
    x0: float
    x1: float
    base: float  # Height of the line that it stands on.
    size: float  # Of its letters.
    bold: bool = False

    @property
    def top(self) -> float:
        """Upper edge, without what rises above small letters."""
        return self.base - _ABOVE * self.size

    @property
    def bottom(self) -> float:
        """Lower edge, nearly without what hangs below the base."""
        return self.base + _BELOW * self.size


@dataclass
class Page:
    """What stands on a page."""

    words: list[Word]  # In the order of the file.
    beside: list[str]  # Lines in other directions, such as a mark along the margin.
    rules: list[Rule]  # Straight lines, and the edges of boxes.
    top: float  # Upper edge of the page.
    bottom: float  # Lower edge.
    has_images: bool = False  # Whether it shows pictures.


@dataclass
class Segment:
    """Words side by side without a gap as wide as one between columns; a table with rules is one, too."""

    words: Sequence[Word]
    grid: Grid | None = None

    def __post_init__(self) -> None:
        """Sets its edges."""
        grid, words = self.grid, self.words
        self.x0 = grid.x0 if grid else min(word.x0 for word in words)
        self.x1 = grid.x1 if grid else max(word.x1 for word in words)
        self.top = grid.top if grid else min(word.top for word in words)
        self.bottom = grid.bottom if grid else max(word.bottom for word in words)


@dataclass(frozen=True)
class Line:
    """A line of running text."""

    words: Sequence[Word]

    @cached_property
    def text(self) -> str:
        """Its words with spaces between them."""
        return " ".join(word.text for word in self.words)

    @property
    def x0(self) -> float:
        """Left edge."""
        return min(word.x0 for word in self.words)

    @property
    def x1(self) -> float:
        """Right edge."""
        return max(word.x1 for word in self.words)

    @cached_property
    def size(self) -> float:
        """Size of most of its letters."""
        return median(word.size for word in self.words for _ in word.text)

    @cached_property
    def base(self) -> float:
        """Height of the line that most of its letters stand on."""
        return median(word.base for word in self.words for _ in word.text)

    @cached_property
    def bold(self) -> bool:
        """Whether all of it is bold."""
        return all(word.bold for word in self.words)

    @property
    def is_item(self) -> bool:
        """Whether it begins with the mark or number of a list's item."""
        return len(self.words) > 1 and _MARKER.fullmatch(self.words[0].text) is not None


@dataclass(frozen=True)
class TableBlock:
    """A table: its rows, each a list of cells, and each cell its lines."""

    rows: Sequence[Sequence[Sequence[Line]]]


@dataclass(frozen=True)
class TextBlock:
    """Lines of one column, one below the other."""

    lines: Sequence[Line]


Block = TextBlock | TableBlock
_Slab = list[Segment]
_Cells = list[list[Word]]
_Gaps = list[tuple[float, float]]


def page_blocks(page: Page) -> list[Block]:
    """What stands on a page, in reading order."""
    rules = joined(page.rules)
    segments, grids = [], grids_of(rules)
    words_by_grid: dict[int, list[Word]] = {}
    free: list[Word] = []
    for word in page.words:
        at = next((n for n, grid in enumerate(grids) if grid.holds(word)), None)
        (free if at is None else words_by_grid.setdefault(at, [])).append(word)
    for n, words in words_by_grid.items():
        if grids[n].is_table(words):
            segments.append(Segment(words, grids[n]))
        else:
            free += words
    for line in lines_of(free):
        gaps = [max(b.x0 - a.x1, a.x0 - b.x1) for a, b in pairwise(line)]
        least = _GUTTER * max(word.size for word in line)
        # In a justified line all spaces are wide.
        if spaces := [gap for gap in gaps if gap <= least]:
            # How much wider than a line's spaces a gap between cells or columns is.
            least = max(least, 1.5 * median(spaces))
        ends = [n for n, gap in enumerate(gaps, 1) if gap > least]
        segments += [Segment(line[start:end]) for start, end in pairwise([0, *ends, len(line)])]
    blocks = [*_merged(_ordered(segments, rules))]
    return [*blocks, *(TextBlock([Line([Word(text, 0, 0, 0, 1)])]) for text in page.beside)]


def lines_of(words: Sequence[Word]) -> list[list[Word]]:
    """Words by the lines that they stand on, over the whole width; raised and lowered ones with their line."""
    lines: list[list[Word]] = []
    bottom = 0.0
    for word in sorted(words, key=lambda w: w.top):
        # More than half of the lesser height in common.
        if lines and bottom - word.top > (word.bottom - word.top) / 2:
            lines[-1].append(word)
            bottom = max(bottom, word.bottom) if word.size <= lines[-1][0].size else bottom
        else:
            lines.append([word])
            bottom = word.bottom
    for line in lines:
        # From left to right, or from right to left where most of the words are of such a script.
        leftward = sum(1 if "\u0590" <= word.text[0] <= "\u08ff" else -1 for word in line) > 0
        line.sort(key=lambda w: -w.x1 if leftward else w.x0)
    return lines


# ---- cuts ------------------------------------------------------------------------------------------------


def _gaps(segments: Sequence[Segment]) -> _Gaps:
    """Upright strips that no segment crosses; the first and the last are without end."""
    gaps, edge = [], float("-inf")
    for segment in sorted(segments, key=lambda s: s.x0):
        if segment.x0 > edge:
            gaps.append((edge, segment.x0))
        edge = max(edge, segment.x1)
    return [*gaps, (edge, float("inf"))]


def _common(some: _Gaps, others: _Gaps, width: float) -> _Gaps:
    """The strips that are in both, of at least so much width."""
    both = [(max(a, c), min(b, d)) for a, b in some for c, d in others]
    return [(a, b) for a, b in both if b - a >= width]


def _ordered(segments: Sequence[Segment], rules: Sequence[Rule]) -> Iterator[Block]:
    """Blocks of segments in reading order."""
    slabs: list[_Slab] = []  # Segments by height: those that overlap are together.
    bottom = 0.0
    for segment in sorted(segments, key=lambda s: (s.top, s.x0)):
        if slabs and segment.top < bottom:
            slabs[-1].append(segment)
            bottom = max(bottom, segment.bottom)
        else:
            slabs.append([segment])
            bottom = segment.bottom
    for beside, slab in [*pairwise(slabs), *pairwise(reversed(slabs))]:
        if _is_stretched(slab, beside):
            slab[:] = [Segment(sorted((w for segment in slab for w in segment.words), key=lambda w: w.x0))]
    at = 0
    while at < len(slabs):
        end, gaps = _band(slabs, at)
        # Lines of columns that are at different heights are below each other.
        below = max(segment.top for segment in slabs[at]) > min(segment.bottom for segment in slabs[at])
        if sum(len(slab) > 1 for slab in slabs[at:end]) == 1 and not below:
            end, gaps = at + 1, []
        if gaps:
            yield from _columns(slabs[at:end], gaps, rules)
        else:
            yield from _row(slabs[at], rules)
        at = end


def _is_stretched(slab: _Slab, beside: _Slab) -> bool:
    """Whether a slab is a justified line: all of its spaces are as wide, and its ends are those of a line beside it."""
    if len(slab) == 1 or len(beside) > 1 or any(segment.grid for segment in (*slab, *beside)):
        return False
    words = sorted((word for segment in slab for word in segment.words), key=lambda w: w.x0)
    ends = abs(words[0].x0 - beside[0].x0) + abs(words[-1].x1 - beside[0].x1)
    gaps = [b.x0 - a.x1 for a, b in pairwise(words)]
    # Ends of justified lines differ by a point at most; no space of theirs is wider than three letters.
    return ends < 1.0 and max(gaps) < min(_EVEN * min(gaps), 3 * words[0].size)


def _band(slabs: Sequence[_Slab], at: int) -> tuple[int, _Gaps]:
    """End of the longest run of slabs from `at` that upright gaps cross, and these gaps."""
    end, gaps = _run(slabs, at, strict=True)
    further, fewer = _run(slabs, at, strict=False)
    # Wide spaces of one line of text in columns are gaps, too, which few lines below have.
    if further - at >= 2 * (end - at) and _are_prose(_rows(slabs[at:further], fewer)):
        end, gaps = further, fewer
    if not gaps or end == len(slabs):
        return end, gaps
    # A heading below the band, which stands at the left like the column above it, is not in it.
    last = next(n for n in range(end - 1, at - 1, -1) if n == at or len(slabs[n]) > 1)
    usual = median(_top(b) - _top(a) for a, b in pairwise(slabs[at:end])) if end - at > 1 else 0.0
    tail = (n for n in range(last + 1, end) if _top(slabs[n]) - _top(slabs[n - 1]) > _NEW_PART * usual)
    return next(tail, end), gaps


def _run(slabs: Sequence[_Slab], at: int, *, strict: bool) -> tuple[int, _Gaps]:
    """The same. A line of one segment that stands beside all columns, or if strict crosses a gap, is not in it."""
    first = slabs[at]
    width = _GUTTER * (median(word.size for segment in first for word in segment.words) if first[0].words else 0.0)
    gaps = _common(_gaps(slabs[at]), _gaps(slabs[at]), width)
    if len(gaps) < _OF_COLUMNS:
        return at + 1, []
    end = at + 1
    while end < len(slabs):
        common = _common(gaps, _gaps(slabs[end]), width)
        more = len(common) - len(gaps)
        if len(common) < _OF_COLUMNS or (len(slabs[end]) == 1 and (more > 0 or (strict and more < 0))):
            break
        gaps, end = common, end + 1
    return end, gaps


def _top(slab: _Slab) -> float:
    return min(segment.top for segment in slab)


def _row(slab: _Slab, rules: Sequence[Rule]) -> Iterator[Block]:
    """Segments at one height: tables, and lines."""
    if len(slab) > 1 and any(segment.grid for segment in slab):
        for segment in sorted(slab, key=lambda s: s.x0):
            yield from _row([segment], rules)
    elif grid := slab[0].grid:
        yield TableBlock([[_lines(cell) for cell in row] for row in grid.rows(slab[0].words, split_rows)])
    else:
        yield TextBlock(_lines([word for segment in slab for word in segment.words]))


def _lines(words: Sequence[Word]) -> list[Line]:
    return [Line(line) for line in lines_of(words)]


def _columns(slabs: Sequence[_Slab], gaps: _Gaps, rules: Sequence[Rule]) -> Iterator[Block]:
    """What stands between upright gaps: columns of text, the items of a list, or a table."""
    top, bottom = min(map(_top, slabs)), max(segment.bottom for slab in slabs for segment in slab)
    ruled_gaps: _Gaps = []  # Gaps in which upright rules stand, over most of their height.
    for gap in gaps[1:-1]:
        parts = {(r.start, r.end) for r in rules if not r.level and gap[0] <= r.at <= gap[1]}
        if sum(max(0.0, min(end, bottom) - max(start, top)) for start, end in parts) > (bottom - top) / 2:
            ruled_gaps.append(gap)
    inner = ruled_gaps or gaps[1:-1]
    columns: list[list[Segment]] = [[] for _ in range(len(inner) + 1)]
    for segment in (segment for slab in slabs for segment in slab):
        columns[_column(segment, inner)].append(segment)
    rows = _rows(slabs, [gaps[0], *inner, gaps[-1]])
    prose = _are_prose(rows)
    if prose and max(map(len, columns)) < _FEWEST_LINES:  # Spaces that are below each other by chance.
        for slab in slabs:
            yield from _row(slab, rules)
    elif prose or any(segment.grid for column in columns for segment in column):
        for column in columns:
            yield from _ordered(column, rules)
    elif len(columns) == 2 and all(_MARKER.fullmatch(Line(segment.words).text) for segment in columns[0]):
        yield TextBlock([Line([*marker, *text]) for marker, text in rows])
    else:
        yield TableBlock([[_lines(cell) for cell in row] for row in _merged_rows(rows, rules)])


def _column(segment: Segment, gaps: _Gaps) -> int:
    return sum(a + b < 2 * segment.x0 for a, b in gaps)


def _rows(slabs: Sequence[_Slab], gaps: _Gaps) -> list[_Cells]:
    """The words of each slab by columns."""
    rows: list[_Cells] = []
    for slab in slabs:
        rows.append([[] for _ in gaps[1:]])
        for segment in slab:
            rows[-1][_column(segment, gaps[1:-1])] += segment.words
    return rows


def _are_prose(rows: Sequence[_Cells]) -> bool:
    """Whether most letters of each column are in long lines."""
    for column in zip(*rows, strict=True):
        lengths = [sum(len(word.text) + 1 for word in line) for line in column]
        if sum(n for n in lengths if n >= _PROSE_LINE) < _PROSE * sum(lengths):
            return False
    return True


# ---- rows of tables --------------------------------------------------------------------------------------


def split_rows(cells: Sequence[Sequence[Word]]) -> list[_Cells]:
    """The lines that go through cells side by side, where each has several: rows without rules between them."""
    words = [(word, n) for n, cell in enumerate(cells) for word in cell]
    numbers = {id(word): n for word, n in words}
    rows: list[_Cells] = []
    for line in lines_of([word for word, _ in words]):
        rows.append([[] for _ in cells])
        for word in line:
            rows[-1][numbers[id(word)]].append(word)
    return _merged_rows(rows, [])


def _merged_rows(lines: Sequence[_Cells], rules: Sequence[Rule]) -> list[_Cells]:
    """Rows of lines side by side: a line that goes on with the cells above it belongs to their row."""
    tops = [min(word.base for cell in line for word in cell) for line in lines]
    steps = [b - a for a, b in pairwise(tops)]
    least = min(steps, default=0.0)
    apart = any(step > _NEW_ROW * least for step in steps)
    level = [rule for rule in rules if rule.level]
    edges = [(min(w.x0 for cell in line for w in cell), max(w.x1 for cell in line for w in cell)) for line in lines]
    ruled = [
        any(a < rule.at < b and rule.crosses(edge) for rule in level)
        for (a, b), edge in zip(pairwise(tops), edges, strict=False)
    ]
    by_rules = sum(ruled) > 1 and 3 * sum(ruled) >= len(lines) - 1
    rows = [[list(cell) for cell in line] for line in lines[:1]]
    for line, step, rule in zip(lines[1:], steps, ruled, strict=True):
        columns = [n for n, cell in enumerate(line) if cell]
        if by_rules:
            goes_on = not rule
        elif apart:
            goes_on = not rule and step <= _NEW_ROW * least and len(columns) < len(line)
        else:
            goes_on = not rule and len(columns) == 1 and columns != [0] and len(line) > 2
        if goes_on:
            for n in columns:
                rows[-1][n] += line[n]
        else:
            rows.append([list(cell) for cell in line])
    return rows


def _merged(blocks: Iterator[Block]) -> Iterator[Block]:
    """Blocks of text side by side in order as one, where they are one below the other."""
    lines: list[Line] = []
    for block in blocks:
        below = isinstance(block, TextBlock) and (not lines or block.lines[0].base > lines[-1].base)
        if lines and not below:
            yield TextBlock(lines)
            lines = []
        if isinstance(block, TextBlock):
            lines += block.lines
        else:
            yield block
    if lines:
        yield TextBlock(lines)
