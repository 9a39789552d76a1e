"""Digests of rows and tables: the keys of the memo, and what says that a table did not change.

A row's fingerprint covers the values of named columns, with their names and types. A table's digest is the sum of its
rows' fingerprints, so it depends neither on row order nor on file layout.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.schemas.digests import FINGERPRINT_BYTES, Fingerprints, bytes_digest

# What `json.dumps` writes as it is, but for the quotes around it.
_ESCAPED: Final = r"[^ !#-\[\]-~]"


def json_cells(column: pa.Array) -> pa.Array:
    """The cells of `column` as JSON text, null where the cell is."""
    cells = _json_texts(column)
    if column.null_count == 0:
        return cells
    return pc.if_else(column.is_valid(), cells, pa.scalar(None, pa.string()))


def _json_texts(column: pa.Array) -> pa.Array:
    """The same with the text `null` for null."""
    kind = column.type
    if pa.types.is_string(kind):
        cells = pc.binary_join_element_wise('"', column, '"', "")
        escaped = pc.fill_null(pc.match_substring_regex(column, _ESCAPED), False)
        if escaped.true_count:
            texts = [json.dumps(text) for text in column.filter(escaped).to_pylist()]
            cells = pc.replace_with_mask(cells, escaped, pa.array(texts, pa.string()))
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        cells = column.cast(pa.string())
    elif pa.types.is_struct(kind):
        parts: list[pa.Array | str] = []
        for field, values in zip(kind, column.flatten(), strict=True):
            parts += [(", " if parts else "{") + json.dumps(field.name) + ": ", _json_texts(values)]
        cells = pc.binary_join_element_wise(*parts, "}", "") if parts else pa.array(["{}"] * len(column), pa.string())
    elif pa.types.is_list(kind):
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]).astype(np.int32)
        members = pa.ListArray.from_arrays(pa.array(offsets), _json_texts(column.flatten()))
        cells = pc.binary_join_element_wise("[", pc.binary_join(members, ", "), "]", "")
    else:
        every = column.to_pylist(maps_as_pydicts="strict")
        cells = pa.array([json.dumps(value, default=str) for value in every], pa.string())
    if cells.null_count == 0 and column.null_count == 0:
        return cells
    return pc.if_else(column.is_valid(), pc.fill_null(cells, "null"), "null")


_FINGERPRINT = np.dtype((np.void, FINGERPRINT_BYTES))


def _cells(column: pa.Array) -> pa.Array:
    """The column's values as binary, one unambiguous encoding per value of its type."""
    kind = column.type
    if pa.types.is_fixed_size_list(kind) and pa.types.is_float32(kind.value_type) and column.null_count == 0:
        values = np.ascontiguousarray(column.flatten().to_numpy(zero_copy_only=False))
        width = 4 * kind.list_size
        return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(column), [None, pa.py_buffer(values)]).cast(
            pa.binary()
        )
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.int64())
    if pa.types.is_nested(column.type):
        return json_cells(column).cast(pa.binary())
    if pa.types.is_binary(column.type):
        return column
    if pa.types.is_floating(column.type):
        # The shortest decimal form that reads back to the same number: equal bits, equal text.
        return pa.array([None if v is None else repr(v).encode() for v in column.to_pylist()], pa.binary())
    return column.cast(pa.string()).cast(pa.binary())


def row_fingerprints(batch: pa.RecordBatch, columns: Sequence[str]) -> Fingerprints:
    """Fingerprints of the rows of `batch` over `columns`, shape (rows,) of 16-byte voids."""
    parts: list[pa.Array] = []
    for name in columns:
        cells = _cells(batch.column(name))
        length = pc.binary_length(cells).cast(pa.string())
        if cells.null_count:
            length, cells = pc.fill_null(length, "-"), pc.fill_null(cells, b"")
        parts += [length.cast(pa.binary()), cells]
    head = json.dumps([[n, str(batch.schema.field(n).type)] for n in columns]).encode()
    encoded = pc.binary_join_element_wise(*parts, pa.scalar(b":", pa.binary()))
    return np.frombuffer(b"".join(_digests(head, encoded)), dtype=_FINGERPRINT)


def _digests(head: bytes, rows: pa.BinaryArray) -> Iterator[bytes]:
    """BLAKE2b of `head` and each row: hashlib takes one message at a time, so this step is not vectorised."""
    seeded = blake2b(head, digest_size=FINGERPRINT_BYTES)
    _, offsets, data = rows.buffers()
    ends = np.frombuffer(offsets, np.int32, len(rows) + 1, rows.offset * 4).tolist()
    content = memoryview(data or b"")
    for start, end in pairwise(ends):
        row = seeded.copy()
        row.update(content[start:end])
        yield row.digest()


def joined_fingerprints(parts: Iterable[Fingerprints]) -> Fingerprints:
    """The fingerprints of several batches, one after the other."""
    return np.concatenate([np.empty(0, _FINGERPRINT), *parts])


def hash_pairs(batch: pa.RecordBatch) -> npt.NDArray[np.uint64]:
    """The fingerprint of each row over all columns as two numbers, shape (rows, 2).

    Columns go by number: a key and a reference to it have different names and have the same hashes.
    """
    numbers = [str(n) for n in range(batch.num_columns)]
    return row_fingerprints(batch.rename_columns(numbers), numbers).view(np.uint64).reshape(-1, 2)


class TableDigest:
    """Order-independent digest of a table, fed batch by batch."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = np.zeros(FINGERPRINT_BYTES // 4, dtype=np.uint64)

    def update(self, batch: pa.RecordBatch) -> None:
        """Add the rows of `batch`; every column counts."""
        if batch.num_rows == 0:
            return
        prints = row_fingerprints(batch, batch.schema.names)
        self.rows += batch.num_rows
        with np.errstate(over="ignore"):
            # 32-bit lanes summed in 64 bits: two fingerprints never cancel, as they would under xor.
            lanes = prints.view(np.uint8).reshape(-1, FINGERPRINT_BYTES).view(np.uint32)
            self._sum += lanes.sum(axis=0, dtype=np.uint64)

    def add(self, other: TableDigest) -> None:
        """Add the rows that another digest saw."""
        self.rows += other.rows
        with np.errstate(over="ignore"):
            self._sum += other._sum

    def hexdigest(self) -> str:
        """The digest of the rows seen so far, 32 hexadecimal digits."""
        return bytes_digest(self.rows.to_bytes(8, "big") + self._sum.tobytes())
