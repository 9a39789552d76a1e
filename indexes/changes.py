"""Which rows of a table were added, changed and removed between two versions of it.

Both are read once, by key and by what their digest is made of, and of each row 24 bytes are kept: two hashes and its
number. Of more rows than a bucket holds, these go to files by the hash of the key, and are compared bucket by bucket:
that takes some 250 MB at most, however large the tables are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
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


def changed_rows(before: Stage | None, after: Stage | None, most: int = 0, bucket_rows: int = 2_000_000) -> ChangedRows:
    """What differs between two versions of a table; None is one without rows.

    Args:
        before: The earlier version.
        after: The later version.
        most: How many rows of each kind are named, the first of the version that has them.
        bucket_rows: Rows of a bucket, of both versions together.
    """
    none = np.empty(0, dtype=np.int64)
    if before is not None and after is not None and before.digest == after.digest:
        return ChangedRows(RowChanges(), none, none.reshape(0, 2), none)
    rows = sum(stage.rows for stage in (before, after) if stage)
    counts = RowChanges()
    added, changed, removed = [none], [none.reshape(0, 2)], [none]
    with tempfile.TemporaryDirectory(prefix="quern-changes-") as folder:
        earlier, later = (
            _Buckets.of(stage, 1 + rows // bucket_rows, Path(folder) / name)
            for stage, name in ((before, "before"), (after, "after"))
        )
        for one, other in zip(earlier, later, strict=True):
            differences = _compared(one, other)
            counts.added += len(differences.added)
            counts.changed += len(differences.changed)
            counts.removed += len(differences.removed)
            added.append(np.sort(differences.added)[:most])
            changed.append(differences.changed[np.argsort(differences.changed[:, 1])][:most])
            removed.append(np.sort(differences.removed)[:most])
    pairs = np.concatenate(changed)
    return ChangedRows(
        counts,
        np.sort(np.concatenate(added))[:most],
        pairs[np.argsort(pairs[:, 1])][:most],
        np.sort(np.concatenate(removed))[:most],
    )


def rows_at(stage: Stage, numbers: Sequence[int] | Numbers, columns: Sequence[str]) -> pa.Table:
    """The rows of a table that have these numbers, ascending; reads only row groups that hold one of them."""
    positions, at = np.unique(np.asarray(numbers, dtype=np.int64)), 0
    schema = pa.schema([stage.table.schema.field(name).with_nullable(True) for name in columns])
    tables = [schema.empty_table()]
    for path, _ in stage.files:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                inside = positions[(positions >= at) & (positions < at + rows)] - at
                at += rows
                if len(inside):
                    taken = file.read_row_group(group, columns=list(columns)).take(pa.array(inside))
                    taken = pa.Table.from_arrays(columns_in(taken, schema), names=schema.names)
                    tables.append(taken.cast(schema))
    return pa.concat_tables(tables)


def _batches(stage: Stage, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The columns as they were written, which may have been by an earlier version of Quern."""
    wanted = stage.table.fields(columns)
    for path, _ in stage.files:
        with pq.ParquetFile(path) as file:
            for groups in row_group_runs(file.metadata, _BATCH_ROWS, _BATCH_BYTES):
                for batch in file.iter_batches(_BATCH_ROWS, groups, list(columns), use_threads=False):
                    yield pa.RecordBatch.from_arrays(columns_in(batch, wanted), names=wanted.names)


@dataclass(frozen=True)
class _Buckets:
    """The hashes of a table's rows, in buckets by the hash of the key: in memory if it is one, else in files."""

    buckets: Sequence[npt.NDArray[np.void] | Path]

    @classmethod
    def of(cls, stage: Stage | None, count: int, folder: Path) -> _Buckets:
        """The rows of `stage`."""
        if count == 1:
            return cls([np.concatenate([np.empty(0, _ROW), *_hashed(stage)])])
        folder.mkdir()
        paths = [folder / f"{number:06d}" for number in range(count)]
        for path in paths:
            path.touch()
        for rows in _hashed(stage):
            of = (rows["key"] % np.uint64(count)).astype(np.int64)
            for number in np.unique(of).tolist():
                with paths[number].open("ab") as file:
                    file.write(rows[of == number].tobytes())
        return cls(paths)

    def __iter__(self) -> Iterator[npt.NDArray[np.void]]:
        for bucket in self.buckets:
            yield np.fromfile(bucket, _ROW) if isinstance(bucket, Path) else bucket


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
    """Half of the fingerprint of each row: what tells rows apart."""
    return row_fingerprints(rows, columns).view(np.uint64)[::2]


def _compared(before: npt.NDArray[np.void], after: npt.NDArray[np.void]) -> ChangedRows:
    """What differs between the rows of a bucket; counts are left to who asks."""
    keys_before, keys_after = _each_once(before["key"]), _each_once(after["key"])
    _, at_before, at_after = np.intersect1d(keys_before, keys_after, assume_unique=True, return_indices=True)
    stays_before, stays_after = np.zeros(len(before), np.bool_), np.zeros(len(after), np.bool_)
    stays_before[at_before] = stays_after[at_after] = True
    differs = before["content"][at_before] != after["content"][at_after]
    pairs = np.stack([before["number"][at_before][differs], after["number"][at_after][differs]], axis=1)
    return ChangedRows(RowChanges(), after["number"][~stays_after], pairs, before["number"][~stays_before])


def _each_once(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The keys, of equal ones the second, third and so on as keys of their own."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    nth = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    distinct = np.empty_like(keys)
    distinct[order] = ordered + nth.astype(np.uint64) * _ODD
    return distinct
