"""Rows that the memo lacks, on their way from a table to the workers: copies of them, or their numbers.

Rows of a view are copied, because only this process can make them. Rows of a staged table whose fingerprints come of a
digest are named by their numbers: a worker reads them from the table, and their bodies are read and written once less.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.stages import Stage, slices
from quern.jobs.core.contract import Job
from quern.schemas.digests import FINGERPRINT_BYTES, Fingerprints

INPUT: Final = "_input"
ROW: Final = "_row"
_FILE_BYTES = 32 << 20
_FILES_OF_A_SIZE = 8
_MOST_FILE_ROWS = 1 << 16
# Numbers say nothing of the size of their rows: so many large pages make a task of a few seconds.
_MOST_NUMBERS = 1024


def row_numbers(start: int, rows: int) -> pa.RecordBatch:
    """Numbers of `rows` rows from `start` on, in a column `ROW`."""
    return pa.record_batch({ROW: pa.array(np.arange(start, start + rows))})


def read_batches(files: Sequence[Path], rows: int) -> Iterator[pa.RecordBatch]:
    """Batches of at most `rows` rows of Parquet files, one after the other."""
    for path in files:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=rows)


def read_numbered(origin: Stage, columns: Sequence[str], orders: Sequence[Path], rows: int) -> Iterator[pa.RecordBatch]:
    """The named columns of those rows of `origin` whose numbers `orders` hold, in ascending order, and `INPUT`.

    A batch has at most `rows` rows. Memory: a row group and about as much again.
    """
    files = origin.files
    begins = np.cumsum([0, *(length for _, length in files)])
    for named in read_batches(orders, _MOST_NUMBERS):
        numbers = named.column(ROW).to_numpy()
        file = np.searchsorted(begins, numbers, side="right") - 1
        for n in np.unique(file):
            at = np.flatnonzero(file == n)
            inputs = named.column(INPUT).take(pa.array(at))
            yield from _rows_of(files[n][0], columns, numbers[at] - begins[n], inputs, rows)


def _rows_of(
    path: Path, columns: Sequence[str], numbers: npt.NDArray[np.int64], inputs: pa.Array, rows: int
) -> Iterator[pa.RecordBatch]:
    """The rows of one Parquet file with these numbers, as `read_numbered` gives them."""
    with pq.ParquetFile(path) as table:
        lengths = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
        starts = np.cumsum([0, *lengths])
        pending: list[pa.RecordBatch] = []
        groups = np.searchsorted(starts, numbers, side="right") - 1
        for group in np.unique(groups):
            at = np.flatnonzero(groups == group)
            read = table.read_row_group(int(group), columns=list(columns)).select(list(columns))
            taken = read.take(pa.array(numbers[at] - starts[group])).append_column(INPUT, inputs.take(pa.array(at)))
            pending += taken.combine_chunks().to_batches()
            if sum(b.num_rows for b in pending) >= rows or sum(b.nbytes for b in pending) >= _FILE_BYTES:
                yield from _joined(pending, rows)
                pending = []
        yield from _joined(pending, rows)


def _joined(pending: Sequence[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    if pending:
        whole = pa.Table.from_batches(pending).combine_chunks()
        for batch in whole.to_batches():
            yield from slices(batch, rows, _FILE_BYTES)


class MissingRows:
    """Writes the rows that the memo lacks, or their numbers, to files of about one task each, every content once.

    Holds the fingerprints of the missing rows, about 100 bytes each, to see what repeats. Files begin small,
    so that a small build uses all cores, and grow with their number, so that a large one has few.
    """

    def __init__(self, directory: Path, job: Job, *, whole: bool = False) -> None:
        """Args: with `whole` the rows of one batch stay in one file."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self._directory = directory
        self._job = job
        self._seen: set[bytes] = set()
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._pending_bytes = 0
        self._first_rows = job.task_rows or 64
        self._whole = whole
        self.files: list[Path] = []
        self.rows = 0
        self.schema = pa.schema([])

    def add(self, batch: pa.RecordBatch, prints: Fingerprints, missing: npt.NDArray[np.bool_]) -> None:
        """Take the rows of `batch` that are `missing` and were not taken before."""
        self.schema = pa.schema([*batch.schema, pa.field(INPUT, pa.binary(FINGERPRINT_BYTES))])
        positions = [int(i) for i in np.flatnonzero(missing) if self._is_new(prints[i].tobytes())]
        if not positions:
            return
        taken = batch.take(pa.array(positions))
        column = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(FINGERPRINT_BYTES), len(positions), [None, pa.py_buffer(prints[positions].tobytes())]
        )
        self.rows += len(positions)
        rows = pa.RecordBatch.from_arrays([*taken.columns, column], schema=self.schema)
        for piece in slices(rows, rows.num_rows if self._whole else self._first_rows, _FILE_BYTES // 4):
            self._pending.append(piece)
            self._pending_rows += piece.num_rows
            self._pending_bytes += piece.nbytes
            if self._pending_rows >= self._file_rows() or self._pending_bytes >= _FILE_BYTES:
                self.close()

    def _is_new(self, fingerprint: bytes) -> bool:
        if fingerprint in self._seen:
            return False
        self._seen.add(fingerprint)
        return True

    def _file_rows(self) -> int:
        doublings = min(len(self.files) // _FILES_OF_A_SIZE, 20)
        most = _MOST_NUMBERS if ROW in self.schema.names else _MOST_FILE_ROWS
        return int(min(self._first_rows << doublings, most))

    def close(self) -> None:
        """Write what is pending."""
        if not self._pending:
            return
        path = self._directory / f"{len(self.files):06d}.parquet"
        # Read once and thrown away: quick beats small, and long texts and bodies make no dictionary.
        rows = pa.Table.from_batches(self._pending)
        pq.write_table(rows, path, compression="lz4", use_dictionary=False, write_statistics=False)
        self.files.append(path)
        self._pending, self._pending_rows, self._pending_bytes = [], 0, 0
