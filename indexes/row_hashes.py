"""Hashes of rows by which two versions of a table are compared: vectorised, and drawn anew for each comparison.

A table's digest hashes row after row with BLAKE2b, which says whether versions differ and costs a microsecond a row.
Which rows differ is asked more cheaply: multilinear hashing (Carter and Wegman 1979; Lemire and Kaser 2014, "Strongly
universal string hashing is fast") of a column's bytes with random 64-bit weights. Two different cells agree with a
probability below 2^-54, whoever wrote them, as the weights are not known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Hashes = npt.NDArray[np.uint64]

_MOST_COLUMNS: Final = 256
_NULL: Final = np.uint64(0x9E3779B97F4A7C15)


class RowHasher:
    """Hashes of rows; those of one hasher can be compared with each other."""

    def __init__(self) -> None:
        self._random = np.random.default_rng()
        self._columns = self._drawn(_MOST_COLUMNS)
        self._weights = self._drawn(1 << 12)

    def _drawn(self, count: int) -> Hashes:
        return self._random.integers(0, 1 << 64, count, dtype=np.uint64) | np.uint64(1)

    def rows(self, batch: pa.RecordBatch, *columns: Sequence[str]) -> tuple[Hashes, ...]:
        """Hashes of the rows of `batch` over each list of columns, of shape (rows,); a column is read once."""
        cells = {name: self._cells(batch.column(name)) for name in dict.fromkeys(chain(*columns))}
        return tuple(self._joined([cells[name] for name in names], batch.num_rows) for names in columns)

    def _joined(self, cells: Sequence[Hashes], rows: int) -> Hashes:
        """One hash of several columns."""
        total = np.zeros(rows, dtype=np.uint64)
        for weight, column in zip(self._columns, cells, strict=False):
            total += _mixed(column) * weight
        return _mixed(total)

    def _cells(self, column: pa.Array) -> Hashes:
        """Hashes of the cells of a column, shape (rows,)."""
        found = self._values(column)
        if column.null_count:
            found = np.where(column.is_null().to_numpy(zero_copy_only=False), _NULL, found)
        return found

    def _values(self, column: pa.Array) -> Hashes:
        kind = column.type
        if pa.types.is_struct(kind):
            return self._joined([self._cells(field) for field in column.flatten()], len(column))
        if pa.types.is_list(kind):
            lengths = pc.fill_null(column.value_lengths(), 0).to_numpy(zero_copy_only=False)
            return self._strings(self._cells(column.flatten()), lengths)
        if pa.types.is_fixed_size_list(kind):
            flat = column.flatten()
            lengths = np.where(column.is_null().to_numpy(zero_copy_only=False), 0, kind.list_size)
            return self._strings(self._cells(flat), lengths)
        if pa.types.is_string(kind) or pa.types.is_binary(kind):
            filled = pc.fill_null(column.cast(pa.binary()), b"")
            lengths = pc.binary_length(filled).to_numpy(zero_copy_only=False)
            _, _, data = filled.buffers()
            start = int(np.frombuffer(filled.buffers()[1], np.int32)[filled.offset])
            whole = np.frombuffer(data or b"", np.uint8)[start : start + int(lengths.sum())]
            return self._strings(whole.astype(np.uint64), lengths)
        return _bits(column)

    def _strings(self, values: Hashes, lengths: npt.NDArray[np.int64]) -> Hashes:
        """Hashes of the runs of `values` that have these lengths."""
        ends = np.cumsum(lengths, dtype=np.int64)
        starts = ends - lengths
        longest = int(lengths.max(initial=0))
        if longest >= len(self._weights):
            self._weights = np.concatenate([self._weights, self._drawn(2 * longest)])
        places = np.arange(len(values)) - np.repeat(starts, lengths)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum((values + np.uint64(1)) * self._weights[places + 1])])
        return np.asarray(sums[ends] - sums[starts] + lengths.astype(np.uint64) * self._weights[0], dtype=np.uint64)


def _bits(column: pa.Array) -> Hashes:
    """The numbers of a column as the bits they are, nulls as 0."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    numbers = np.ascontiguousarray(pc.fill_null(column, 0).to_numpy(zero_copy_only=False))
    return numbers.view(np.dtype(f"u{numbers.dtype.itemsize}")).astype(np.uint64)


def _mixed(hashes: Hashes) -> Hashes:
    """The hashes with all bits depending on all: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    found = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)), dtype=np.uint64)
