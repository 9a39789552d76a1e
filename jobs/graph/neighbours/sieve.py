"""A sieve of blocks: few pairs reach floors that are known, and the others are told from products of codes alone.

After a night nearly all floors are those of lists that are kept. A block then costs its products and one look at them;
nothing is kept of it, and no floor rises, but for the few pairs that pass.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.blocks import FOLD
from quern.jobs.graph.neighbours.codes import Codes
from quern.jobs.graph.neighbours.members import Flags, Guests
from quern.jobs.graph.neighbours.nearest_lists import Keep, NearestLists, crowd
from quern.jobs.graph.neighbours.room import Room

_LOWEST = -(1 << 30)  # Below all products...
_NEVER = -(1 << 31)  # ...and below this.
_HELD = 1 << 17  # Pairs that are held before a thread asks which of them count.
_GROUP = 16  # Columns of which one is looked at where few of the highest are sought.

_Integers = npt.NDArray[np.int32]


class _Hits(NamedTuple):
    """Pairs whose product reaches the floor of one of the two."""

    one: Positions
    other: Positions
    product: _Integers


class Sieve:
    """Compares vectors with 8-bit codes, some of them more than once.

    A block is few steps: threads wait for each other where a step begins, as long as many of them take.
    """

    def __init__(self, nearest: NearestLists, codes: Codes, depth: int, sought: Flags, keep: Keep) -> None:
        """A sieve with the floors that `nearest` has.

        Args:
            nearest: Takes the pairs, repeated.
            codes: Its codes.
            depth: Neighbours wanted of each.
            sought: Which vectors have no floors yet, shape (n,).
            keep: Which pairs count, whichever of the two is the owner.
        """
        self._nearest, self._codes, self._depth, self._sought, self._keep = nearest, codes, depth, sought, keep
        self._unit = codes.scale**-2
        margin, floor = (v.astype(np.float64) / self._unit for v in (codes.margin, nearest.floor))
        # The least products that may reach each floor, and how far below a product those are that may be as near.
        self._least: _Integers = np.floor(floor - margin).clip(min=_LOWEST).astype(np.int32)
        self._twice: _Integers = np.ceil(2 * margin).astype(np.int32) + 1
        self._hits: list[_Hits] = []
        self._count = 0
        self._lock = threading.Lock()
        self._rooms = threading.local()

    def compare(self, rows: Guests, columns: Guests) -> None:
        """Compare the vectors of a partition that are new in it with others of it; no vector with itself.

        Two that only visit it are not compared.
        """
        one, other = rows.positions, columns.positions
        room = self._rooms.__dict__.setdefault("room", Room())
        left = room.rows("left", self._codes.numbers, one, FOLD)
        right = room.rows("right", self._codes.numbers, other, FOLD)
        made = room.products(left, right)[: len(one), : len(other)]
        made[rows.residents :, columns.residents :] = _NEVER
        self._seed(one, made)
        passed, reached = (room.of(name, made.shape, np.bool_) for name in ("passed", "reached"))
        np.greater_equal(made, self._least[one][:, None], out=passed)
        passed |= np.greater_equal(made, self._least[other], out=reached)
        flat = np.flatnonzero(passed)
        if len(flat) > max(crowd(made.size), _HELD):
            self._closely(rows, columns)
            return
        row, column = np.divmod(flat, len(other))
        self._hold(_Hits(one[row], other[column], made[row, column]))

    def _closely(self, rows: Guests, columns: Guests) -> None:
        """The same in float32: too many are within the margin of each other."""
        at_home, away = np.split(columns.positions, [columns.residents])
        self._nearest.compare(np.sort(rows.positions), at_home, both=True, keep=self._keep)
        self._nearest.compare(rows.positions[: rows.residents], away, both=True, keep=self._keep)

    def _seed(self, rows: Positions, made: _Integers) -> None:
        """Give those of `rows` that are searched for the floors that their products give them."""
        new = np.flatnonzero(self._sought[rows])
        if len(new) == 0 or made.shape[1] <= self._depth:
            return
        # One more than are wanted, for each is near itself.
        best = _no_less_have(made[new], self._depth + 1).clip(min=_LOWEST)
        born = rows[new]
        self._least[born] = np.maximum(self._least[born], best - self._twice[born])

    def _hold(self, hits: _Hits) -> None:
        with self._lock:
            self._hits.append(hits)
            self._count += len(hits.one)
            held = self._taken() if self._count > _HELD else []
        self._pass_on(held)

    def _taken(self) -> list[_Hits]:
        hits, self._hits, self._count = self._hits, [], 0
        return hits

    def close(self) -> None:
        """Pass on what is held still, and the floors of those that are searched for."""
        self._pass_on(self._taken())
        born = np.flatnonzero(self._sought & (self._least > _LOWEST))
        floor = (self._least[born] + self._twice[born]) * self._unit - self._codes.margin[born]
        self._nearest.raise_floor(born, floor.astype(np.float32))

    def _pass_on(self, held: list[_Hits]) -> None:
        if not held:
            return
        one, other, product = (np.concatenate(columns) for columns in zip(*held, strict=True))
        forth, back = product >= self._least[one], product >= self._least[other]
        kept = np.flatnonzero((one != other) & (forth | back))
        kept = kept[self._keep(one[kept], other[kept])]
        for owner, target, near in ((one, other, forth), (other, one, back)):
            at = kept[near[kept]]
            upper = product[at].astype(np.float32) * np.float32(self._unit) + self._codes.margin[owner[at]]
            self._nearest.await_score(owner[at], target[at], upper)


def _no_less_have(made: _Integers, count: int) -> _Integers:
    """A product that so many of each row reach, nearly the `count`-th highest: that of columns by their highest in 16.

    Few of the highest are of the same 16 columns, where there are many, and a 16th is sorted.
    """
    groups = made.shape[1] // _GROUP
    many = groups >= 4 * count
    peaks = made[:, : groups * _GROUP].reshape(len(made), _GROUP, groups).max(axis=1) if many else made
    least: _Integers = np.partition(peaks, -count, axis=1)[:, -count]
    return least
