"""Served tables: of each of them a LanceDB table for every version that a snapshot pins, `chunks-3.lance`.

A build writes a new version in one stream and indexes it; then it is never written to again. So the checksums of its
files are taken once, damage to one version is damage to no other, and one that nothing needs goes with its directory.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from quern.indexes.checksums import VERIFIED, DamagedError, checksum_of
from quern.indexes.served.lancedb_import import import_lancedb
from quern.indexes.stages import Stage, columns_in
from quern.schemas.tables import Table

# Lance warns on standard error of a data set that it is about to create.
os.environ.setdefault("LANCEDB_LOG", "error")

# Raised when what is indexed, or how, changes: unchanged tables are then written again.
LAYOUT = 2
_FOLDER: Final = re.compile(r"(.+)-(\d+)\.lance")


def quote(value: str) -> str:
    """`value` as a string literal of LanceDB's filter language (SQL of DataFusion)."""
    return "'" + value.replace("'", "''") + "'"


class ServedTable:
    """One version of a served table, open for reading; `hold` is what keeps it from being pruned."""

    def __init__(self, lance: Any, table: Table, hold: object = None) -> None:
        self.lance = lance
        self.table = table
        self._hold = hold

    @property
    def rows(self) -> int:
        """Rows of this version."""
        return int(self.lance.count_rows())

    def batches(self, columns: Sequence[str], rows: int = 8192) -> Iterator[pa.RecordBatch]:
        """The named columns, batch by batch, in the order of the table."""
        with self._held():
            for batch in self.lance.search().select(self._there(columns)).limit(self.rows).to_batches(rows):
                yield pa.RecordBatch.from_arrays(columns_in(batch, self.table.fields(columns)), names=list(columns))

    def lookup(self, column: str, values: Sequence[str], columns: Sequence[str] | None = None) -> pa.Table:
        """Rows whose `column` is one of `values`, in no particular order."""
        names = list(columns or self.table.schema.names)
        if not values:
            there = self._there(names)
            return pa.schema([(self.lance if n in there else self.table).schema.field(n) for n in names]).empty_table()
        found = [self._lookup(column, values[at : at + 1000], names) for at in range(0, len(values), 1000)]
        return pa.concat_tables(found)

    def _lookup(self, column: str, values: Sequence[str], columns: list[str]) -> pa.Table:
        where = f"{column} IN ({', '.join(quote(v) for v in values)})"
        with self._held():
            found = self.lance.search().where(where).select(self._there(columns)).limit(self.rows).to_arrow()
        return pa.Table.from_arrays(columns_in(found, self.table.fields(columns)), names=columns)

    def _there(self, columns: Sequence[str]) -> list[str]:
        """Those of the columns that it was written with."""
        known = set(self.lance.schema.names)
        return [name for name in columns if name in known]

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Tell of files that went since the table was opened: whoever has no lease may lose them, or to a hand."""
        try:
            yield
        except RuntimeError as error:
            if "not found" not in str(error).lower():
                raise
            raise DamagedError(Path(self.lance.uri), "files of it went while it was read") from None


@dataclass(frozen=True)
class Written:
    """A version of a served table that was written."""

    version: int  # Its number.
    indexes: dict[str, Any] = field(default_factory=dict)  # State of its indexes.
    checksums: dict[str, str] = field(default_factory=dict)  # Checksums of its files, by their paths in its directory.


class ServedTables:
    """The LanceDB database of a warehouse."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._connection: Any = None
        self._new: list[Path] = []

    @property
    def _database(self) -> Any:
        if self._connection is None:
            # Loaded only here: commands that read no table have no need of it.
            self._connection = import_lancedb().connect(str(self.directory))
        return self._connection

    def folder(self, table: str, version: int) -> Path:
        """The directory of a version."""
        return self.directory / f"{table}-{version}.lance"

    def files(self, table: str, version: int, checksums: Mapping[str, str]) -> dict[Path, str]:
        """The files of a version that has these `checksums`, by their paths."""
        folder = self.folder(table, version)
        return {folder / name: expected for name, expected in checksums.items()}

    def check(self, table: str, version: int, checksums: Mapping[str, str]) -> None:
        """Read all files of a version, unless this process did.

        Raises:
            DamagedError: One is not as it was written, or gone, or another stands beside them.
        """
        expected = self.files(table, version, checksums)
        for path, of_file in expected.items():
            if why := VERIFIED.damage(path, of_file):
                raise DamagedError(path, why)
        for path in _files(self.folder(table, version)):
            if path not in expected:
                raise DamagedError(path, "it is no file of the table")

    def open(self, table: Table, version: int, checksums: Mapping[str, str], hold: object = None) -> ServedTable:
        """The table as it was at `version`; `hold` lives as long as what is returned.

        Raises:
            DamagedError: It is not as it was written; none of its files is given to LanceDB then.
        """
        self.check(table.name, version, checksums)
        return ServedTable(self._database.open_table(f"{table.name}-{version}"), table, hold)

    def write(self, stage: Stage) -> Written:
        """Write and index `stage` as a new version."""
        table = stage.table
        self.directory.mkdir(parents=True, exist_ok=True)
        version = 1 + max((number for name, number in self.versions() if name == table.name), default=0)
        folder = self.folder(table.name, version)
        self._new.append(folder)
        reader = pa.RecordBatchReader.from_batches(table.schema, stage.batches())
        lance = self._database.create_table(f"{table.name}-{version}", data=reader, schema=table.schema)
        if stage.rows:
            _index(lance, table)
        checksums = {path.relative_to(folder).as_posix(): checksum_of(path) for path in _files(folder)}
        return Written(version, index_state(lance), checksums)

    def keep(self) -> None:
        """What was written stays."""
        self._new.clear()

    def undo(self) -> None:
        """Delete what was written since the tables were opened, or last kept: of a build that came to nothing."""
        for folder in self._new:
            shutil.rmtree(folder, ignore_errors=True)
        self._new.clear()

    def versions(self) -> list[tuple[str, int]]:
        """(table, version) of all that are there, also of builds that failed."""
        folders = (_FOLDER.fullmatch(path.name) for path in self.directory.glob("*.lance"))
        return sorted((found[1], int(found[2])) for found in folders if found)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _index(lance: Any, table: Table) -> None:
    from lancedb.index import BTree

    for column in table.indexes:
        lance.create_index(column, config=BTree())


def index_state(lance: Any) -> dict[str, Any]:
    """State of a table's indexes for the manifest: name to type and rows not yet indexed."""
    return {
        i.name: {
            "type": i.index_type,
            "unindexed_rows": int(i.num_unindexed_rows or 0),
            "bytes": int(i.size_bytes or 0),
        }
        for i in lance.list_indices()
    }
