"""A sieve of blocks: few pairs reach floors that are known, and the others are told from products of codes alone.

After a night nearly all floors are those of lists that are kept. A block then costs its products and one look at them;
nothing is kept of it, and no floor rises, but for the few pairs that pass.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt
import torch

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.blocks import FOLD
from quern.jobs.graph.neighbours.codes import Codes, products
from quern.jobs.graph.neighbours.members import Flags, Guests
from quern.jobs.graph.neighbours.nearest_lists import Keep, NearestLists, crowd

_LOWEST = -(1 << 30)  # Below all products...
_NEVER = -(1 << 31)  # ...and below this.
_HELD = 1 << 22  # Pairs that are held before it is asked which of them count.

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
        self._unit = codes.scale**-2
        self._least = self._thresholds(torch.arange(len(codes)))
        self._hits: list[_Hits] = []
        self._count = 0
        self._lock = threading.Lock()

    def _thresholds(self, positions: torch.Tensor) -> _Integers:
        """The least products that may reach the floors of the vectors at `positions`."""
        least = (self._nearest.floor[positions].double() - self._codes.margin[positions]) / self._unit
        thresholds: _Integers = least.floor().clamp(min=_LOWEST).int().numpy()
        return thresholds

    def compare(self, rows: Guests, columns: Guests) -> None:
        """Compare the vectors of a partition that are new in it with others of it; no vector with itself.

        Two that only visit it are not compared.
        """
        left, right = torch.cat(rows), torch.cat(columns)
        high, wide = left.shape[0], right.shape[0]
        made = products(self._padded(left), self._padded(right)).numpy()[:high, :wide]
        made[len(rows.at_home) :, len(columns.at_home) :] = _NEVER
        one, other = left.numpy(), right.numpy()
        self._seed(one, made)
        least, least_of_columns = self._least[one], self._least[other]
        passed = made >= least[:, None]
        passed |= made >= least_of_columns
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
        best = np.partition(made[new], -self._depth - 1, axis=1)[:, -self._depth - 1]
        born = torch.from_numpy(rows[new])
        self._nearest.raise_floor(born, torch.from_numpy(best) * self._unit - self._codes.margin[born])
        self._least[rows[new]] = self._thresholds(born)

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

    def _padded(self, positions: torch.Tensor) -> torch.Tensor:
        """The codes at `positions`, and any others up to a multiple of 16."""
        if padding := -positions.shape[0] % FOLD:
            positions = torch.cat([positions, positions[:1].expand(padding)])
        return self._codes.numbers.index_select(0, positions)
