"""Writers of staged tables: as one Parquet file, or as a folder of them."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.checksums import ChecksummedFile, checksum_of, write_sealed
from quern.indexes.stages import BATCH_ROWS, INDEX, FolderFile, Stage
from quern.indexes.storage import abandon
from quern.schemas.contract.validate import validate
from quern.schemas.row_digests import TableDigest
from quern.schemas.tables import Table

BATCH_BYTES = 32 << 20


def slices(batch: pa.RecordBatch, rows: int, size: int) -> Iterator[pa.RecordBatch]:
    """`batch` in slices of at most `rows` rows and, but for a single row, about `size` bytes."""
    if batch.num_rows:
        rows = max(1, min(rows, batch.num_rows * size // max(1, batch.nbytes)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def digest_columns(table: Table) -> list[str]:
    """The columns that a table's digest is made of."""
    left_out = {*table.provenance, *table.digested}
    return [name for name in table.schema.names if name not in left_out]


def parquet_options(schema: pa.Schema) -> dict[str, Any]:
    """How a table is written: bodies, which neither repeat nor are sought, without dictionary and statistics."""
    sought = [field.name for field in schema if not pa.types.is_binary(field.type)]
    return {"compression": "zstd", "use_dictionary": sought, "write_statistics": sought}


@dataclass(frozen=True)
class WrittenFile:
    """A file of a table, written for itself."""

    path: Path  # The file.
    digest: TableDigest  # Of its rows.
    checksum: str  # Of the file.


class StageWriter:
    """Writes one staged table; the file appears under its name only when it is complete.

    Use as a context manager, then call `stage()`. An exception inside leaves no file.
    """

    def __init__(self, path: Path, table: Table) -> None:
        self._path = path
        self._table = table
        self._digest = TableDigest()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._temporary = path.with_name(f".tmp-{path.name}")
        remove(self._temporary)  # Another try may have left a folder there.
        self._digested = digest_columns(table)
        self._rows: list[Mapping[str, Any]] = []
        self._file = ChecksummedFile(self._temporary)
        self._writer = pq.ParquetWriter(self._file, table.schema, **parquet_options(table.schema))

    def write(self, batch: pa.RecordBatch) -> None:
        """Add `batch`, which must fit the table. Raises SchemaError: it does not."""
        self._flush()
        batch = validate(batch, self._table)
        for piece in slices(batch, BATCH_ROWS, BATCH_BYTES):
            if piece.num_rows:
                self._digest.update(piece.select(self._digested))
                self._writer.write_batch(piece)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row, which must fit the table; rows are written some thousand at once.

        Raises SchemaError: one of them does not.
        """
        self._rows.append(row)
        if len(self._rows) == BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self.write(pa.RecordBatch.from_pylist(rows, schema=self._table.schema))

    def write_all(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Add all of `batches`."""
        for batch in batches:
            self.write(batch)

    def close(self) -> None:
        """Complete the file; a second call does nothing."""
        if self._temporary.exists():
            self._flush()
            self._writer.close()
            self._file.close()
            if self._path.is_dir():
                remove(self._path)
            self._temporary.replace(self._path)

    def __enter__(self) -> StageWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        try:
            if kind is None:
                self.close()
        finally:  # After `close` there is nothing left to abandon, unless that failed.
            abandon([self._writer, self._file], [self._temporary])

    @property
    def file(self) -> WrittenFile:
        """What was written, as a file of a table that has several."""
        return WrittenFile(self._path, self._digest, self._file.checksum)

    def stage(self) -> Stage:
        """What was written."""
        return Stage(self._table, self._path, self._digest.rows, self._digest.hexdigest(), self._file.checksum)


class FolderWriter:
    """Writes one staged table as a folder, which appears under its name only when it is complete.

    Use as a context manager, then call `stage()`. An exception inside leaves no folder.
    """

    def __init__(self, path: Path, table: Table) -> None:
        self._path = path
        self._table = table
        self._digest = TableDigest()
        self._files: dict[str, FolderFile] = {}
        self._temporary = path.with_name(f".tmp-{path.name}")
        self._others = self._temporary / "_others"
        remove(self._temporary)
        self._temporary.mkdir(parents=True, exist_ok=True)  # A task of another try may have made it again.

    @property
    def digest_columns(self) -> list[str]:
        """The columns that the table's digest is made of."""
        return digest_columns(self._table)

    def link(self, file: Path, checksum: str, batches: Iterable[pa.RecordBatch]) -> None:
        """Add all rows of `file`, a Parquet file with the table's schema.

        The file may go afterwards: what is linked stays. Where it cannot be linked it is copied.

        Args:
            file: The file.
            checksum: Its checksum.
            batches: Its columns `digest_columns`.
        """
        before = self._digest.rows
        for batch in batches:
            self._digest.update(batch.select(self.digest_columns))
        target = self._next()
        try:
            os.link(file, target)
        except OSError:  # another file system, or one without links
            shutil.copyfile(file, target)
        with target.open("rb") as written:
            os.fsync(written.fileno())
        self._files[target.name] = FolderFile(self._digest.rows - before, checksum)

    def write_all(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Add `batches` as a new file."""
        with StageWriter(self._next(), self._table) as writer:
            writer.write_all(batches)
        self.adopt(writer.file)

    def open_to_others(self) -> Path:
        """A folder in which others may write files of the table, under any names; what is not adopted of them goes."""
        self._others.mkdir(exist_ok=True)
        return self._others

    def adopt(self, file: WrittenFile) -> None:
        """Add a file that was written on this file system."""
        target = self._next()
        file.path.replace(target)
        self._digest.add(file.digest)
        self._files[target.name] = FolderFile(file.digest.rows, file.checksum)

    def _next(self) -> Path:
        return self._temporary / f"{len(self._files):06d}.parquet"

    def __enter__(self) -> FolderWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        try:
            if kind is None:
                # Complete the folder.
                if not self._files:
                    self.write_all([])  # A folder without a file has no schema.
                self._close_to_others()
                write_sealed(
                    self._temporary / INDEX, {"files": {name: vars(file) for name, file in self._files.items()}}
                )
                remove(self._path)
                self._temporary.replace(self._path)
        finally:
            self._close_to_others()
            remove(self._temporary)

    def _close_to_others(self) -> None:
        """Delete what was not adopted; a task that still writes there finds its folder gone, and may leave a rest."""
        if self._others.is_dir():
            folder = self._temporary.with_name(f"{self._temporary.name}-left")
            self._others.replace(folder)
            shutil.rmtree(folder, ignore_errors=True)

    def stage(self) -> Stage:
        """What was written."""
        checksum = checksum_of(self._path / INDEX)
        return Stage(self._table, self._path, self._digest.rows, self._digest.hexdigest(), checksum)


def writer_among(folder: Path, table: Table) -> StageWriter:
    """A writer of a file in what `FolderWriter.open_to_others` gives, under a name of its own: a task may run twice.

    Raises FileNotFoundError: the table is complete.
    """
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the table that this task is for is written already", str(folder))
    return StageWriter(folder / f"{uuid.uuid4().hex}.parquet", table)


def remove(path: Path) -> None:
    """Delete the file or folder of a staged table, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
