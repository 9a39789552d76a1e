"""Rows that the memo lacks, on their way from a table to the workers: files of about one task each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.stage_writers import slices
from quern.jobs.core.contract import Job
from quern.schemas.digests import FINGERPRINT_BYTES, Fingerprints

INPUT: Final = "_input"
_FILE_BYTES = 32 << 20


def read_batches(files: Sequence[Path], rows: int) -> Iterator[pa.RecordBatch]:
    """Batches of at most `rows` rows of Parquet files, one after the other."""
    for path in files:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=rows)


class MissingRows:
    """Writes the rows that the memo lacks to files of about one task each, every content once.

    Holds the fingerprints of the missing rows, about 100 bytes each, to see what repeats. Files begin small,
    so that a small build uses all cores, and grow with their number, so that a large one has few.
    """

    def __init__(self, directory: Path, job: Job) -> None:
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self._directory = directory
        self._job = job
        self._seen: set[bytes] = set()
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._pending_bytes = 0
        self._first_rows = job.task_rows or 64
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
        for piece in slices(rows, self._first_rows, _FILE_BYTES // 4):
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
        return min(self._first_rows << min(len(self.files) // 8, 20), 1 << 16)

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
