"""A block of products, and the few of them that reach a threshold.

Of each 16 products the largest, their peak, is taken first: two passes that the processor vectorises, one along rows
and one along columns. Only where a peak reaches the threshold are the 16 looked at singly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.neighbours.codes import FOLD, Codes, Numbers, products

_LOWEST = -(1 << 30)  # Below all products of integers...
_LOWEST_FLOAT = -(1 << 15)  # ...and of floats.


class Reached(NamedTuple):
    """Products that reach their threshold: row and column within the block, and bounds of the cosine."""

    row: Positions
    column: Positions
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class Block:
    """Products of some vectors with some others."""

    # Shape (rows, columns), both rounded up to multiples of 16; padding, and a vector with itself, is out of reach.
    # int32 or float32.
    products: Numbers
    unit: float  # Cosine of a product of 1.
    row_margin: Floats  # Most that a cosine differs from its product, for each row.
    column_margin: Floats  # The same for each column.

    @classmethod
    def of_codes(cls, codes: Codes, rows: Positions, columns: Positions) -> Block:
        """The block of the codes at positions `rows` and `columns`, both ascending."""
        made = products(_padded(codes.numbers, rows), _padded(codes.numbers, columns))
        _blank(made, rows, columns)
        return cls(made, codes.scale**-2, codes.margin[rows], codes.margin[columns])

    @classmethod
    def of_vectors(cls, left: Floats, right: Floats, rows: Positions, columns: Positions) -> Block:
        """The same of the vectors themselves, in float32."""
        made = products(_pad(left), _pad(right))
        _blank(made, rows, columns)
        longest = float(np.linalg.norm(left, axis=1).max() * np.linalg.norm(right, axis=1).max())
        # Higham, Accuracy and Stability of Numerical Algorithms, 3.1: n u |x||y|, in any order of the sum.
        rounding = np.float32(left.shape[1] * 2.0**-23 * longest + 1e-6)
        return cls(made, 1.0, np.full(len(rows), rounding), np.full(len(columns), rounding))

    def row_peaks(self) -> Numbers:
        """The largest of each 16 products of a row, shape (rows, columns / 16)."""
        rows, columns = self.products.shape
        peaks: Numbers = self.products.reshape(rows, FOLD, columns // FOLD).max(axis=1)
        return peaks

    def column_peaks(self) -> Numbers:
        """The largest of each 16 products of a column, shape (rows / 16, columns)."""
        rows, columns = self.products.shape
        peaks: Numbers = self.products.reshape(rows // FOLD, FOLD, columns).max(axis=1)
        return peaks

    def row_floor(self, peaks: Numbers, depth: int) -> Floats:
        """Lower bound of the `depth`-th best cosine of each row; -inf where there are too few peaks."""
        return self._floor(peaks[: len(self.row_margin)], depth, self.row_margin)

    def column_floor(self, peaks: Numbers, depth: int) -> Floats:
        """The same of each column."""
        return self._floor(peaks[:, : len(self.column_margin)].T, depth, self.column_margin)

    def _floor(self, peaks: Numbers, depth: int, margin: Floats) -> Floats:
        if peaks.shape[1] < depth:
            return np.full_like(margin, -np.inf)
        best = np.partition(peaks, -depth, axis=1)[:, -depth]
        cosine = best.astype(np.float32) * np.float32(self.unit)
        return np.where(best > _lowest(best) // 2, cosine - margin, np.float32(-np.inf))

    def rows_reaching(self, peaks: Numbers, floor: Floats, most: int) -> Reached | None:
        """The products that may reach the floors of their rows; None if more than `most` peaks do."""
        threshold = self._threshold(floor, self.row_margin)
        rows, columns = self.products.shape
        groups = columns // FOLD
        at = np.flatnonzero(peaks[: len(floor)] >= threshold[:, None])
        if len(at) > most:
            return None
        row, group = np.divmod(at, groups)
        near = self.products.reshape(rows, FOLD, groups)[row, :, group]
        hit, fold = np.nonzero(near >= threshold[row, None])
        row, column = row[hit], fold * groups + group[hit]
        return self._reached(row, column, near[hit, fold], self.row_margin[row])

    def columns_reaching(self, peaks: Numbers, floor: Floats, most: int) -> Reached | None:
        """The products that may reach the floors of their columns; None if more than `most` peaks do."""
        threshold = self._threshold(floor, self.column_margin)
        rows, columns = self.products.shape
        at = np.flatnonzero(peaks[:, : len(floor)] >= threshold)
        if len(at) > most:
            return None
        group, column = np.divmod(at, max(1, len(floor)))
        near = self.products.reshape(rows // FOLD, FOLD, columns)[group, :, column]
        hit, fold = np.nonzero(near >= threshold[column, None])
        row, column = group[hit] * FOLD + fold, column[hit]
        return self._reached(row, column, near[hit, fold], self.column_margin[column])

    def _threshold(self, floor: Floats, margin: Floats) -> Numbers:
        threshold = (floor.astype(np.float64) - margin) / self.unit
        if self.products.dtype == np.int32:
            return np.maximum(np.floor(threshold), _LOWEST + 1).astype(np.int32)
        threshold -= np.abs(threshold) * 2.0**-23  # It is rounded to float32 itself.
        return np.maximum(threshold, _LOWEST_FLOAT // 2).astype(np.float32)

    def _reached(self, row: Positions, column: Positions, product: Numbers, margin: Floats) -> Reached:
        cosine = product.astype(np.float32) * np.float32(self.unit)
        return Reached(row, column, cosine - margin, cosine + margin)


def _padded(numbers: Numbers, positions: Positions) -> Numbers:
    """The rows of `numbers` at `positions`, and any others up to a multiple of 16; no copy where they are a range."""
    first, count = int(positions[0]), len(positions)
    padding = -count % FOLD
    if int(positions[-1]) - first + 1 == count:
        stop = first + count + padding
        return numbers[first:stop] if stop <= len(numbers) else _pad(numbers[first : first + count])
    if padding:
        positions = np.concatenate([positions, np.repeat(positions[:1], padding)])
    return numbers.take(positions, axis=0)


def _pad(rows: Numbers) -> Numbers:
    padding = -len(rows) % FOLD
    return np.concatenate([rows, np.zeros((padding, rows.shape[1]), rows.dtype)]) if padding else rows


def _blank(made: Numbers, rows: Positions, columns: Positions) -> None:
    """Put what is no pair out of reach: padding, and a vector with itself."""
    made[len(rows) :] = _lowest(made)
    made[:, len(columns) :] = _lowest(made)
    at = np.searchsorted(columns, rows)
    inside = np.flatnonzero(at < len(columns))
    same = inside[columns[at[inside]] == rows[inside]]
    made[same, at[same]] = _lowest(made)


def _lowest(products: Numbers) -> int:
    return _LOWEST if products.dtype == np.int32 else _LOWEST_FLOAT
