"""Staged tables: Parquet files of the warehouse, or folders of them, with row count and digest.

Of a folder most files are links to files that exist already; its name ends in `.parquet`, so that pandas, Spark and
pyarrow read it as one table, and `_files.json` in it names the files in their order, with their rows and checksums.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.checksums import VERIFIED, DamagedError, read_sealed
from quern.schemas.tables import Table

log = logging.getLogger(__name__)

# Of a folder: its files in their order, with rows and checksums; readers of Parquet skip the name.
INDEX = "_files.json"
BATCH_ROWS = 1024


@dataclass(frozen=True)
class Stage:
    """One version of a table as a Parquet file, or as a folder of such files."""

    table: Table  # Its contract.
    path: Path  # The file or folder.
    rows: int  # Rows.
    digest: str  # Digest of the content, whatever the order of rows.
    checksum: str = ""  # Checksum of the file, or of a folder's list of files; empty for none.

    def batches(self, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The table as batches of at most `rows` rows, in the order it was written.

        Raises DamagedError: its files are not as they were written; none of them is read then.
        """
        self.check()
        yield from read_parquet(self.path, self.table, columns, rows)

    def slice(
        self, start: int, count: int, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """`count` rows from number `start` on, in batches as of `batches`; only files that have some of them are read.

        Raises DamagedError: one of these is not as it was written.
        """
        at, stop, schema = 0, start + count, self.table.fields(columns or self.table.schema.names)
        files = _indexed(self.path) if self.path.is_dir() else {self.path: FolderFile(self.rows, self.checksum)}
        for path, file in files.items():
            first, at = at, at + file.rows
            if first >= stop or at <= start:
                continue
            if file.checksum:
                _verify(path, file.checksum)
            with pq.ParquetFile(path) as parquet:
                for group in range(parquet.num_row_groups):
                    begin, first = first, first + parquet.metadata.row_group(group).num_rows
                    if begin < stop and first > start:
                        yield from _within(_group(parquet, group, schema, rows), start - begin, stop - begin)

    def check(self) -> None:
        """Read its files whole, unless this process did. Raises DamagedError: one of them is not as it was written."""
        for path, expected in self.checksums().items() if self.checksum else ():
            _verify(path, expected)

    def checksums(self) -> dict[Path, str]:
        """Its files, a folder's list of them first, and their checksums.

        Raises DamagedError: the list is not as it was written.
        """
        if not self.path.is_dir():
            return {self.path: self.checksum}
        _verify(self.path / INDEX, self.checksum)
        return {self.path / INDEX: self.checksum} | {path: file.checksum for path, file in _indexed(self.path).items()}

    def as_written(self) -> bool:
        """Whether all its files are there and hold what was written; where not, that is logged."""
        try:
            self.check()
        except DamagedError as error:
            log.warning("table %s is damaged: %s error=%s", self.table.name, error.path, error.why)
            return False
        return self.path.exists()

    @property
    def files(self) -> list[tuple[Path, int]]:
        """Its files in their order, each with the number of its rows."""
        self.check()
        if not self.path.is_dir():
            return [(self.path, self.rows)]
        return [(path, file.rows) for path, file in _indexed(self.path).items()]

    def lookup(self, column: str, values: Sequence[str] | pa.Array, columns: Sequence[str] | None = None) -> pa.Table:
        """Rows whose `column` is one of `values`, by default whole; reads only row groups that may hold them."""
        import pyarrow.dataset as ds  # It brings pandas with it, which a worker has no need of.

        self.check()
        names = list(columns) if columns is not None else self.table.schema.names
        condition = ds.field(column).isin(pa.array(values, self.table.schema.field(column).type))
        files = [str(path) for path in parquet_files(self.path)]  # Not what else may stand in a folder.
        dataset = ds.dataset(files, format="parquet")
        there = [n for n in names if n in dataset.schema.names]
        arrays = columns_in(dataset.to_table(columns=there, filter=condition), self.table.fields(names))
        return pa.Table.from_arrays(arrays, names=names)


def _verify(path: Path, expected: str) -> None:
    if why := VERIFIED.damage(path, expected):
        raise DamagedError(path, why)


def read_parquet(
    path: Path, table: Table, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Batches of the Parquet file at `path` with exactly the types of `table`."""
    names = list(columns) if columns is not None else table.schema.names
    schema = table.fields(names)
    for part in parquet_files(path):
        with pq.ParquetFile(part) as file:
            # Row group by row group: a batch then holds no more bytes than one that was written.
            for group in range(file.num_row_groups):
                yield from _group(file, group, schema, rows)


def _group(file: pq.ParquetFile, group: int, schema: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
    # A thread a column costs more than it saves of some thousand rows.
    for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=schema.names, use_threads=False):
        yield pa.RecordBatch.from_arrays(columns_in(batch, schema), schema=schema)


def _within(batches: Iterable[pa.RecordBatch], start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """The rows of `batches` from number `start` up to `stop`, of which either may be outside."""
    at = 0
    for batch in batches:
        begin, end = max(start - at, 0), min(stop - at, batch.num_rows)
        if begin < end:
            yield batch.slice(begin, end - begin)
        at += batch.num_rows


def columns_in(rows: pa.Table | pa.RecordBatch, wanted: pa.Schema) -> list[Any]:
    """The columns of `wanted` in `rows`: null where an earlier version of Quern wrote them without.

    It also wrote maps as lists of pairs.
    """
    there = set(rows.schema.names)
    columns = [rows.column(f.name) if f.name in there else pa.nulls(rows.num_rows, f.type) for f in wanted]
    return [
        _as_map(column, field.type) if pa.types.is_map(field.type) and pa.types.is_list(column.type) else column
        for column, field in zip(columns, wanted, strict=True)
    ]


def _as_map(pairs: pa.Array | pa.ChunkedArray, kind: pa.MapType) -> pa.Array | pa.ChunkedArray:
    if isinstance(pairs, pa.ChunkedArray):
        return pa.chunked_array([_as_map(chunk, kind) for chunk in pairs.chunks], kind)
    keys, items = pairs.values.flatten()
    return pa.MapArray.from_arrays(pairs.offsets, keys, items, kind)


def row_group_runs(metadata: pq.FileMetaData, rows: int, size: int) -> Iterator[list[int]]:
    """Row groups in runs of at most `rows` rows and about `size` bytes: what is done by batches costs less a row."""
    run, run_rows, run_size = list[int](), 0, 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if run and (run_rows + group.num_rows > rows or run_size + group.total_byte_size > size):
            yield run
            run, run_rows, run_size = [], 0, 0
        run.append(number)
        run_rows, run_size = run_rows + group.num_rows, run_size + group.total_byte_size
    if run:
        yield run


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files at `path`, in their order: itself, or those of a folder."""
    return list(_indexed(path)) if path.is_dir() else [path]


@dataclass(frozen=True)
class FolderFile:
    """A file of a folder: its rows and its checksum."""

    rows: int
    checksum: str


def _indexed(folder: Path) -> dict[Path, FolderFile]:
    files = read_sealed(folder / INDEX)["files"]
    return {folder / name: FolderFile(**file) for name, file in files.items()}
