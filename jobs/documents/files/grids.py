"""Tables with rules: the cells between level and upright lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from quern.jobs.documents.files.layout import Word

_NEAR: Final = 3.0
"""Points between the ends of rules that meet, and between rules that are one."""
_FEW_ROWS: Final = 2
_SEVERAL_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line."""

    level: bool  # Whether it is level; otherwise it is upright.
    at: float  # Its y where it is level, otherwise its x.
    start: float  # Its left or upper end.
    end: float  # Its right or lower end.

    def crosses(self, edges: tuple[float, float]) -> bool:
        """Whether it goes over most of what is between two edges."""
        return min(self.end, edges[1]) - max(self.start, edges[0]) > 0.5 * (edges[1] - edges[0])


class Grid:
    """Rules that meet, and the cells between them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        level, upright = [r for r in rules if r.level], [r for r in rules if not r.level]
        # The outer lines of a table may be left out: the ends of the others say where it ends.
        self._ys = _places([r.at for r in level], [edge for r in upright for edge in (r.start, r.end)])
        self._xs = _places([r.at for r in upright], [edge for r in level for edge in (r.start, r.end)])
        self._level, self._upright = level, upright
        self.x0, self.x1 = self._xs[0], self._xs[-1]
        self.top, self.bottom = self._ys[0], self._ys[-1]

    def holds(self, word: Word) -> bool:
        """Whether a word stands inside."""
        return self.x0 <= (word.x0 + word.x1) / 2 <= self.x1 and self.top <= (word.top + word.bottom) / 2 <= self.bottom

    def is_table(self, words: Sequence[Word]) -> bool:
        """Whether what is inside stands in cells: in several columns, and below each other."""
        if len(self._xs) < 3 or len(self._ys) < 3:
            return False
        slots = {self._slot(word) for word in words}
        return len({column for _, column in slots}) > 1 and len(slots) > 2

    def rows(
        self, words: Sequence[Word], split: Callable[[Sequence[Sequence[Word]]], list[list[list[Word]]]]
    ) -> list[list[list[Word]]]:
        """The words of each cell by rows. A cell over several rows is in each; one over several columns is the first.

        `split` takes a row apart that has the lines of several, without rules between them.
        """
        height, width = len(self._ys) - 1, len(self._xs) - 1
        owner: dict[tuple[int, int], tuple[int, int]] = {}  # For each slot the first of the cell that it belongs to.
        for y, x in product(range(height), range(width)):
            if x and not _has(self._upright, self._xs[x], (self._ys[y] + self._ys[y + 1]) / 2):
                owner[y, x] = owner[y, x - 1]
            elif y and not _has(self._level, self._ys[y], (self._xs[x] + self._xs[x + 1]) / 2):
                owner[y, x] = owner[y - 1, x]
            else:
                owner[y, x] = (y, x)
        cells: dict[tuple[int, int], list[Word]] = {}
        for word in words:
            cells.setdefault(owner[self._slot(word)], []).append(word)
        rows: list[list[list[Word]]] = []
        for y in range(height):
            owners = [owner[y, x] for x in range(width)]
            row = [cells.get(own, []) if own[1] == x else [] for x, own in enumerate(owners)]
            lines = min((len({round(w.base) for w in cell}) for cell in row), default=0)
            rows += split(row) if height <= _FEW_ROWS and lines >= _SEVERAL_LINES else [row]
        columns = [x for x in range(width) if any(row[x] for row in rows)]
        return [[row[x] for x in columns] for row in rows if any(row)]

    def _slot(self, word: Word) -> tuple[int, int]:
        y = int(np.searchsorted(self._ys, (word.top + word.bottom) / 2)) - 1
        x = int(np.searchsorted(self._xs, (word.x0 + word.x1) / 2)) - 1
        return min(max(y, 0), len(self._ys) - 2), min(max(x, 0), len(self._xs) - 2)


def _has(rules: Sequence[Rule], at: float, over: float) -> bool:
    """Whether there is a rule at a place that goes over another."""
    return any(abs(r.at - at) <= _NEAR and r.start - _NEAR <= over <= r.end + _NEAR for r in rules)


def _places(rules: Sequence[float], ends: Sequence[float]) -> list[float]:
    """Places of rules, those that are near as one, and of the outermost ends."""
    places: list[float] = []
    for place in sorted([*rules, min(ends), max(ends)] if ends else rules):
        if not places or place - places[-1] > _NEAR:
            places.append(place)
    return places


def joined(rules: Sequence[Rule]) -> list[Rule]:
    """Rules of which those that go on with each other are one."""
    lines: list[Rule] = []
    for rule in sorted(rules, key=lambda r: (r.level, round(r.at), r.start)):
        last = lines[-1] if lines else None
        if last and last.level == rule.level and round(last.at) == round(rule.at) and rule.start <= last.end + _NEAR:
            lines[-1] = Rule(rule.level, last.at, last.start, max(last.end, rule.end))
        else:
            lines.append(rule)
    return lines


def grids_of(rules: Sequence[Rule]) -> list[Grid]:
    """The grids that rules make, the smallest first, so that a word is given to the innermost."""
    level, upright = [r for r in rules if r.level], [r for r in rules if not r.level]
    if not level or not upright:
        return []
    across, down = (np.array([(r.at, r.start, r.end) for r in some]) for some in (level, upright))
    meet = (
        (down[None, :, 0] >= across[:, None, 1] - _NEAR)
        & (down[None, :, 0] <= across[:, None, 2] + _NEAR)
        & (across[:, None, 0] >= down[None, :, 1] - _NEAR)
        & (across[:, None, 0] <= down[None, :, 2] + _NEAR)
    )
    touching = sparse.block_array([[None, sparse.csr_array(meet)], [sparse.csr_array(meet.T), None]])
    _, labels = connected_components(touching, directed=False)
    groups: dict[int, list[Rule]] = {}
    for label, rule in zip(labels.tolist(), [*level, *upright], strict=True):
        groups.setdefault(label, []).append(rule)
    met = (group for group in groups.values() if len({rule.level for rule in group}) > 1)
    return sorted((Grid(group) for group in met), key=lambda g: (g.x1 - g.x0) * (g.bottom - g.top))
