"""Which rows of a table were added, changed and removed between two versions of it.

Both are read once, by key and by what their digest is made of. Memory: 24 bytes for each row of both, two hashes and
its number, and some 80 more while they are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.stage_writers import digest_columns, slices
from quern.indexes.stages import Stage, columns_in, row_group_runs
from quern.schemas.differences import RowChanges
from quern.schemas.row_digests import row_fingerprints

Numbers = npt.NDArray[np.int64]

_BATCH_ROWS: Final = 16_384
_BATCH_BYTES: Final = 2 << 20
_ROW: Final = np.dtype([("key", np.uint64), ("content", np.uint64), ("number", np.int64)])
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class ChangedRows:
    """The rows that differ between two versions of a table."""

    counts: RowChanges  # How many.
    added: Numbers  # Numbers of the first that were added, in the later version.
    # Pairs of the numbers of the first that changed, in the earlier and the later version; shape (rows, 2).
    changed: Numbers
    removed: Numbers  # Numbers of the first that were removed, in the earlier version.


def changed_rows(before: Stage | None, after: Stage | None, most: int = 0) -> ChangedRows:
    """What differs between two versions of a table; None is one without rows.

    Args:
        before: The earlier version.
        after: The later version.
        most: How many rows of each kind are named, the first of the version that has them.
    """
    if before is not None and after is not None and before.digest == after.digest:
        none = np.empty(0, dtype=np.int64)
        return ChangedRows(RowChanges(), none, none.reshape(0, 2), none)
    one, other = (np.concatenate([np.empty(0, _ROW), *_hashed(stage)]) for stage in (before, after))
    keys = _each_once(one["key"]), _each_once(other["key"])
    _, at_one, at_other = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    stays_one, stays_other = np.zeros(len(one), np.bool_), np.zeros(len(other), np.bool_)
    stays_one[at_one] = stays_other[at_other] = True
    differs = one["content"][at_one] != other["content"][at_other]
    changed = np.stack([one["number"][at_one][differs], other["number"][at_other][differs]], axis=1)
    changed = changed[np.argsort(changed[:, 1])]
    added, removed = other["number"][~stays_other], one["number"][~stays_one]
    counts = RowChanges(added=len(added), changed=len(changed), removed=len(removed))
    return ChangedRows(counts, added[:most], changed[:most], removed[:most])


def rows_at(stage: Stage, numbers: Sequence[int] | Numbers, columns: Sequence[str]) -> pa.Table:
    """The rows of a table that have these numbers, ascending; reads only row groups that hold one of them."""
    wanted, at = np.unique(np.asarray(numbers, dtype=np.int64)), 0
    schema = pa.schema([stage.table.schema.field(name).with_nullable(True) for name in columns])
    found = [schema.empty_table()]
    for path, _ in stage.files:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                inside = wanted[(wanted >= at) & (wanted < at + rows)] - at
                at += rows
                if len(inside):
                    taken = file.read_row_group(group, columns=list(columns)).take(pa.array(inside))
                    taken = pa.Table.from_arrays(columns_in(taken, schema), names=schema.names)
                    found.append(taken.cast(schema))
    return pa.concat_tables(found)


def _batches(stage: Stage, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The columns as they were written, which may have been by an earlier version of Quern."""
    wanted = stage.table.fields(columns)
    for path, _ in stage.files:
        with pq.ParquetFile(path) as file:
            for groups in row_group_runs(file.metadata, _BATCH_ROWS, _BATCH_BYTES):
                for batch in file.iter_batches(_BATCH_ROWS, groups, list(columns), use_threads=False):
                    yield pa.RecordBatch.from_arrays(columns_in(batch, wanted), names=wanted.names)


def _hashed(stage: Stage | None) -> Iterator[npt.NDArray[np.void]]:
    """Key, content and number of the rows, batch by batch; of a table whose keys repeat a row is known by all of it."""
    if stage is None:
        return
    content, at = digest_columns(stage.table), 0
    key = content if stage.table.repeats else list(stage.table.key)
    columns = [*dict.fromkeys((*key, *content))]
    for batch in _batches(stage, columns):
        for piece in slices(batch, _BATCH_ROWS, _BATCH_BYTES):
            rows = np.empty(piece.num_rows, _ROW)
            rows["content"] = _halves(piece, content)
            rows["key"] = rows["content"] if key == content else _halves(piece, key)
            rows["number"] = np.arange(at, at + piece.num_rows)
            at += piece.num_rows
            yield rows


def _halves(rows: pa.RecordBatch, columns: Sequence[str]) -> npt.NDArray[np.uint64]:
    return row_fingerprints(rows, columns).view(np.uint64)[::2]


def _each_once(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The keys, of equal ones the second, third and so on as keys of their own."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    nth = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    found = np.empty_like(keys)
    found[order] = ordered + nth.astype(np.uint64) * _ODD
    return found
