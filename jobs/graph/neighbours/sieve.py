"""A sieve of blocks: few pairs reach floors that are known, and the others are told from products of codes alone.

After a night nearly all floors are those of lists that are kept. A block then costs its products and one look at them;
nothing is kept of it, and no floor rises, but for the few pairs that pass.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt
import torch

from quern.indexes.vectors import Floats, Positions
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
_Hits = tuple[Positions, Positions, _Integers]


class Sieve:
    """Compares vectors with 8-bit codes, some of them more than once."""

    def __init__(self, nearest: NearestLists, codes: Codes, depth: int, sought: Flags, keep: Keep) -> None:
        """A sieve with the floors that `nearest` has.

        Args:
            nearest: Takes the pairs, repeated.
            codes: Its codes.
            depth: Neighbours wanted of each.
            sought: Which vectors have no floors yet, shape (n,).
            keep: Which pairs count.
        """
        self._nearest, self._codes, self._depth, self._sought, self._keep = nearest, codes, depth, sought, keep
        self._unit, self._margin = codes.scale**-2, codes.margin.numpy()
        self._least = self._thresholds(nearest.floor.numpy(), self._margin)
        self._hits: list[_Hits] = []
        self._count = 0
        self._lock = threading.Lock()
        self._rooms = threading.local()

    def _thresholds(self, floor: Floats, margin: Floats) -> _Integers:
        """The least products of codes that may reach these floors."""
        least = (floor.astype(np.float64) - margin) / self._unit
        return np.floor(least).clip(min=_LOWEST).astype(np.int32)

    def compare(self, rows: Guests, columns: Guests) -> None:
        """Compare the vectors of a partition that are new in it with others of it; no vector with itself.

        Two that only visit it are not compared.
        """
        left, right = torch.cat(rows), torch.cat(columns)
        high, wide = left.shape[0], right.shape[0]
        room = self._rooms.__dict__.setdefault("room", Room())
        numbers = (room.rows(name, self._codes.numbers, _padded(p)) for name, p in (("left", left), ("right", right)))
        made = room.products(*numbers).numpy()[:high, :wide]
        made[len(rows.at_home) :, len(columns.at_home) :] = _NEVER
        one, other = left.numpy(), right.numpy()
        self._seed(one, made)
        least, least_of_columns = self._least[one], self._least[other]
        passed, reached = (room.of(name, made.shape, torch.bool).numpy() for name in ("passed", "reached"))
        np.greater_equal(made, least[:, None], out=passed)
        passed |= np.greater_equal(made, least_of_columns, out=reached)
        flat = np.flatnonzero(passed)
        if len(flat) > max(crowd(made.size), self._depth * (high + wide)):
            self._nearest.compare(left.sort().values, columns.at_home, both=True, keep=self._keep)
            self._nearest.compare(rows.at_home, columns.away, both=True, keep=self._keep)
            return
        row, column = np.divmod(flat, wide)
        product, owner, target = made[row, column], one[row], other[column]
        forth, back = product >= least[row], product >= least_of_columns[column]
        self._hold(owner[forth], target[forth], product[forth])
        self._hold(target[back], owner[back], product[back])

    def _seed(self, rows: Positions, made: _Integers) -> None:
        """Give those of `rows` that are searched for the floors that their products give them."""
        new = np.flatnonzero(self._sought[rows])
        if len(new) == 0 or made.shape[1] <= self._depth:
            return
        # One more than are wanted, for each is near itself.
        born, best = rows[new], _no_less_have(made[new], self._depth + 1)
        margin = self._margin[born]
        floor = (best * self._unit).astype(np.float32) - margin
        self._nearest.raise_floor(torch.from_numpy(born), torch.from_numpy(floor))
        self._least[born] = np.maximum(self._least[born], self._thresholds(floor, margin))

    def _hold(self, owner: Positions, target: Positions, product: _Integers) -> None:
        with self._lock:
            self._hits.append((owner, target, product))
            self._count += len(owner)
            hits = self._taken() if self._count > _HELD else []
        self._pass_on(hits)

    def _taken(self) -> list[_Hits]:
        hits, self._hits, self._count = self._hits, [], 0
        return hits

    def close(self) -> None:
        """Pass on what is held still."""
        self._pass_on(self._taken())

    def _pass_on(self, hits: list[_Hits]) -> None:
        if not hits:
            return
        owner, target, product = (torch.from_numpy(np.concatenate(columns)) for columns in zip(*hits, strict=True))
        kept = ((owner != target) & self._keep(owner, target)).nonzero().squeeze(1)
        owner, target = owner[kept], target[kept]
        self._nearest.await_score(owner, target, product[kept].float() * self._unit + self._codes.margin[owner])


def _no_less_have(made: _Integers, count: int) -> _Integers:
    """A product that so many of each row reach, nearly the `count`-th highest: that of columns by their highest in 16.

    Few of the highest are of the same 16 columns, where there are many, and a 16th is sorted.
    """
    groups = made.shape[1] // _GROUP
    many = groups >= 4 * count
    peaks = made[:, : groups * _GROUP].reshape(len(made), _GROUP, groups).max(axis=1) if many else made
    least: _Integers = np.partition(peaks, -count, axis=1)[:, -count]
    return least


def _padded(positions: torch.Tensor) -> torch.Tensor:
    """`positions`, and any others up to a multiple of 16."""
    padding = -positions.shape[0] % FOLD
    return torch.cat([positions, positions[:1].expand(padding)]) if padding else positions
