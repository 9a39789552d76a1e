"""A block of products, and the few of them that reach a threshold.

Of each 16 products the largest, their peak, is taken first: two passes that the processor vectorises, one along rows
and one along columns. Only where a peak reaches the threshold are the 16 looked at singly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from quern.jobs.graph.neighbours.codes import Codes, products

FOLD = 16
_LOWEST = -(1 << 30)  # Below all products of integers...
_LOWEST_FLOAT = -(1 << 15)  # ...and of floats; float16 holds it.


class Reached(NamedTuple):
    """Products that reach their threshold: row and column within the block, and bounds of the cosine."""

    row: torch.Tensor
    column: torch.Tensor
    lower: torch.Tensor
    upper: torch.Tensor


@dataclass(frozen=True)
class Block:
    """Products of some vectors with some others.

    Attributes:
        products: Shape (rows, columns), both rounded up to multiples of 16; padding, and a vector with itself, is
            out of reach. Integers or floats.
        unit: Cosine of a product of 1.
        row_margin: Most that a cosine differs from its product, for each row.
        column_margin: The same for each column.
    """

    products: torch.Tensor
    unit: float
    row_margin: torch.Tensor
    column_margin: torch.Tensor

    @classmethod
    def of_codes(cls, codes: Codes, rows: torch.Tensor, columns: torch.Tensor) -> Block:
        """The block of the codes at positions `rows` and `columns`, both ascending."""
        made = products(_padded(codes.numbers, rows), _padded(codes.numbers, columns))
        _blank(made, rows, columns)
        return cls(made, codes.scale**-2, codes.margin[rows], codes.margin[columns])

    @classmethod
    def of_vectors(cls, left: torch.Tensor, right: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> Block:
        """The same of the vectors themselves, in float32."""
        made = _pad(left) @ _pad(right).t()
        _blank(made, rows, columns)
        longest = float(left.norm(dim=1).max() * right.norm(dim=1).max())
        # Higham, Accuracy and Stability of Numerical Algorithms, 3.1: n u |x||y|, in any order of the sum.
        rounding = torch.tensor(left.shape[1] * 2.0**-23 * longest + 1e-6, device=left.device)
        return cls(made, 1.0, rounding.expand(len(rows)), rounding.expand(len(columns)))

    def row_peaks(self) -> torch.Tensor:
        """The largest of each 16 products of a row, shape (rows, columns / 16)."""
        rows, columns = self.products.shape
        return self.products.view(rows, FOLD, columns // FOLD).amax(1)

    def column_peaks(self) -> torch.Tensor:
        """The largest of each 16 products of a column, shape (rows / 16, columns)."""
        rows, columns = self.products.shape
        return self.products.view(rows // FOLD, FOLD, columns).amax(1)

    def row_floor(self, peaks: torch.Tensor, depth: int) -> torch.Tensor:
        """Lower bound of the `depth`-th best cosine of each row; -inf where there are too few peaks."""
        return self._floor(peaks[: len(self.row_margin)], depth, self.row_margin)

    def column_floor(self, peaks: torch.Tensor, depth: int) -> torch.Tensor:
        """The same of each column."""
        return self._floor(peaks[:, : len(self.column_margin)].t(), depth, self.column_margin)

    def _floor(self, peaks: torch.Tensor, depth: int, margin: torch.Tensor) -> torch.Tensor:
        if peaks.shape[1] < depth:
            return torch.full_like(margin, -torch.inf)
        best = peaks.topk(depth, dim=1).values[:, -1]
        cosine = best.float() * self.unit
        return torch.where(best > _lowest(best) // 2, cosine - margin - cosine.abs() * self._rounding, -torch.inf)

    def rows_reaching(self, peaks: torch.Tensor, floor: torch.Tensor, most: int) -> Reached | None:
        """The products that may reach the floors of their rows; None if more than `most` peaks do."""
        threshold = self._threshold(floor, self.row_margin)
        row, group = torch.nonzero(peaks[: len(floor)] >= threshold[:, None], as_tuple=True)
        if len(row) > most:
            return None
        rows, columns = self.products.shape
        near = self.products.view(rows, FOLD, columns // FOLD)[row, :, group]
        hit, fold = torch.nonzero(near >= threshold[row, None], as_tuple=True)
        row, column = row[hit], fold * (columns // FOLD) + group[hit]
        return self._reached(row, column, near[hit, fold], self.row_margin[row])

    def columns_reaching(self, peaks: torch.Tensor, floor: torch.Tensor, most: int) -> Reached | None:
        """The products that may reach the floors of their columns; None if more than `most` peaks do."""
        threshold = self._threshold(floor, self.column_margin)
        group, column = torch.nonzero(peaks[:, : len(floor)] >= threshold, as_tuple=True)
        if len(column) > most:
            return None
        rows, columns = self.products.shape
        near = self.products.view(rows // FOLD, FOLD, columns)[group, :, column]
        hit, fold = torch.nonzero(near >= threshold[column, None], as_tuple=True)
        row, column = group[hit] * FOLD + fold, column[hit]
        return self._reached(row, column, near[hit, fold], self.column_margin[column])

    def _threshold(self, floor: torch.Tensor, margin: torch.Tensor) -> torch.Tensor:
        threshold = (floor.double() - margin) / self.unit
        if self.products.dtype == torch.int32:
            return threshold.floor().clamp(min=_LOWEST + 1).to(torch.int32)
        # Once for the rounding of the product to its type, once for that of the threshold.
        threshold -= threshold.abs() * 2 * self._rounding
        return threshold.clamp(min=_LOWEST_FLOAT // 2).to(self.products.dtype)

    def _reached(self, row: torch.Tensor, column: torch.Tensor, product: torch.Tensor, margin: torch.Tensor) -> Reached:
        cosine = product.float() * self.unit
        margin = margin + cosine.abs() * self._rounding
        return Reached(row, column, cosine - margin, cosine + margin)

    @property
    def _rounding(self) -> float:
        """Relative error of a product that was rounded to the type of the block."""
        kind = self.products.dtype
        return torch.finfo(kind).eps if kind.is_floating_point else 0.0


def _padded(numbers: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The rows of `numbers` at `positions`, and any others up to a multiple of 16; no copy where they are a range."""
    first, count = int(positions[0]), len(positions)
    padding = -count % FOLD
    if int(positions[-1]) - first + 1 == count:
        stop = first + count + padding
        return numbers[first:stop] if stop <= len(numbers) else _pad(numbers[first : first + count])
    if padding:
        positions = torch.cat([positions, positions[:1].expand(padding)])
    return numbers.index_select(0, positions)


def _pad(rows: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(rows, (0, 0, 0, -len(rows) % FOLD))


def _blank(made: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> None:
    """Put what is no pair out of reach: padding, and a vector with itself."""
    made[len(rows) :] = _lowest(made)
    made[:, len(columns) :] = _lowest(made)
    at = torch.searchsorted(columns, rows)
    inside = (at < len(columns)).nonzero().squeeze(1)
    same = inside[columns[at[inside]] == rows[inside]]
    made[same, at[same]] = _lowest(made)


def _lowest(products: torch.Tensor) -> int:
    return _LOWEST_FLOAT if products.dtype.is_floating_point else _LOWEST
