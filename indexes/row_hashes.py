"""Hashes of rows by which two versions of a table are compared: vectorised, and drawn anew for each comparison.

A table's digest hashes row after row with BLAKE2b, which says whether versions differ and costs a microsecond a row.
Which rows differ is asked more cheaply: multilinear hashing (Carter and Wegman 1979; Lemire and Kaser 2014, "Strongly
universal string hashing is fast") of a column's bytes with random 64-bit weights, and BLAKE2b of long cells with a
random key. Numbers are hashed by halves of 32 bits, twice, and of each sum the upper half is kept: of products mod 2^64
the lower bits depend on the lower bits alone, so that in one sum flipped signs would cancel each other. Two different
cells agree with a probability below 2^-54, whoever wrote them, as weights and key are not known before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Hashes = npt.NDArray[np.uint64]

_MOST_COLUMNS: Final = 256
_LONG: Final = 128
"""Bytes from which on a cell is hashed by itself: there it takes as long as with others."""
_HALF: Final = np.uint64(32)
_LOWER: Final = np.uint64((1 << 32) - 1)


class RowHasher:
    """Hashes of rows; those of one hasher can be compared with each other."""

    def __init__(self) -> None:
        self._random = np.random.default_rng()
        self._columns = self._drawn(_MOST_COLUMNS, 2, 2)
        self._weights = self._drawn(2, 1 << 12)
        self._null = self._drawn(1)[0]
        self._key = self._random.bytes(32)

    def _drawn(self, *shape: int) -> Hashes:
        return self._random.integers(0, 1 << 64, shape, dtype=np.uint64)

    def rows(self, batch: pa.RecordBatch, *columns: Sequence[str]) -> tuple[Hashes, ...]:
        """Hashes of the rows of `batch` over each list of columns, of shape (rows,); a column is read once."""
        cells = {name: self._cells(batch.column(name)) for name in dict.fromkeys(chain(*columns))}
        return tuple(self._joined([cells[name] for name in names], batch.num_rows) for names in columns)

    def _joined(self, cells: Sequence[Hashes], rows: int) -> Hashes:
        """One hash of several columns."""
        first, second = np.zeros((2, rows), dtype=np.uint64)
        for weights, column in zip(self._columns, cells, strict=False):
            for weight, half in zip(weights, (column & _LOWER, column >> _HALF), strict=True):
                first += half * weight[0]
                second += half * weight[1]
        return _upper_halves(first, second)

    def _cells(self, column: pa.Array) -> Hashes:
        """Hashes of the cells of a column, shape (rows,)."""
        found = self._values(column)
        if column.null_count:
            null = _LOWER + np.uint64(1) if _is_narrow(column.type) else self._null
            found = np.where(column.is_null().to_numpy(zero_copy_only=False), null, found)
        return found

    def _values(self, column: pa.Array) -> Hashes:
        kind = column.type
        if pa.types.is_struct(kind):
            return self._joined([self._cells(field) for field in column.flatten()], len(column))
        if pa.types.is_list(kind):
            lengths = pc.fill_null(column.value_lengths(), 0).to_numpy(zero_copy_only=False)
            return self._lists(column.flatten(), lengths)
        if pa.types.is_fixed_size_list(kind):
            lengths = np.where(column.is_null().to_numpy(zero_copy_only=False), 0, kind.list_size)
            return self._lists(column.flatten(), lengths)
        if pa.types.is_string(kind) or pa.types.is_binary(kind):
            return self._texts(pc.fill_null(column.cast(pa.binary()), b""))
        return _bits(column)

    def _texts(self, cells: pa.BinaryArray) -> Hashes:
        """Hashes of binary cells; a long one is hashed by BLAKE2b, which takes a nanosecond a byte and not ten."""
        lengths = pc.binary_length(cells).to_numpy(zero_copy_only=False)
        long = lengths >= _LONG
        found = np.empty(len(cells), dtype=np.uint64)
        short = cells.filter(pa.array(~long)) if long.any() else cells
        _, offsets, data = short.buffers()
        start = int(np.frombuffer(offsets, np.int32)[short.offset]) if len(short) else 0
        whole = np.frombuffer(data or b"", np.uint8)[start : start + int(lengths[~long].sum())]
        found[~long] = next(self._sums(whole, lengths[~long]))
        digests = [
            blake2b(cell, digest_size=8, key=self._key).digest() for cell in cells.filter(pa.array(long)).to_pylist()
        ]
        found[long] = np.frombuffer(b"".join(digests), np.uint64)
        return found

    def _lists(self, flat: pa.Array, lengths: npt.NDArray[np.int64]) -> Hashes:
        """Hashes of the runs of `flat` that have these lengths."""
        cells = self._cells(flat)
        if not _is_narrow(flat.type):
            cells, lengths = np.ascontiguousarray(cells).view(np.uint32).astype(np.uint64), 2 * lengths
        return _upper_halves(*self._sums(cells, lengths))

    def _sums(self, values: npt.NDArray[Any], lengths: npt.NDArray[np.int64]) -> Iterator[Hashes]:
        """Two sums for each of the runs of `values`, which are no negative numbers, that have these lengths."""
        longest, sizes = int(lengths.max(initial=0)), lengths.astype(np.uint64)
        if longest >= self._weights.shape[1]:
            self._weights = np.concatenate([self._weights, self._drawn(2, 2 * longest)], axis=1)
        if longest * len(lengths) == len(values):  # Keys and vectors: runs of one length are a matrix.
            runs = values.reshape(len(lengths), longest).astype(np.uint64, copy=False)
            for weights in self._weights:
                yield runs @ weights[1 : longest + 1] + sizes * weights[0]
            return
        ends = np.cumsum(lengths, dtype=np.int64)
        starts = ends - lengths
        places = np.arange(1, len(values) + 1) - np.repeat(starts, lengths)
        for weights in self._weights:
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values * weights[places], dtype=np.uint64)])
            yield sums[ends] - sums[starts] + sizes * weights[0]


def _is_narrow(kind: pa.DataType) -> bool:
    """Whether cells of this kind are below 2^32, and 2^32 where there is none."""
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return bool(number and kind.bit_width <= 32)


def _upper_halves(first: Hashes, second: Hashes) -> Hashes:
    """The upper halves of two sums, one behind the other."""
    return np.asarray((first & ~_LOWER) | (second >> _HALF), dtype=np.uint64)


def _bits(column: pa.Array) -> Hashes:
    """The numbers of a column as the bits they are, nulls as 0."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    numbers = np.ascontiguousarray(pc.fill_null(column, 0).to_numpy(zero_copy_only=False))
    return numbers.view(np.dtype(f"u{numbers.dtype.itemsize}")).astype(np.uint64)


# Two hashes with weights of their own: what is compared with them is of one process.
_HASHERS: Final = (RowHasher(), RowHasher())


def hash_pairs(batch: pa.RecordBatch) -> Hashes:
    """Two hashes of each row over all columns, shape (rows, 2), which tell rows of one process apart.

    Columns go by number: a key and a reference to it have different names and have the same hashes.
    """
    return np.stack([hasher.rows(batch, batch.schema.names)[0] for hasher in _HASHERS], axis=1)
