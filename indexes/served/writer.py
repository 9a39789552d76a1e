"""Writes new versions of served tables, with their indexes."""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from quern.indexes.checksums import checksum_of
from quern.indexes.served import ServedTables, files_in
from quern.indexes.stages import Stage

# Raised when what is indexed, or how, changes: unchanged tables are then written again.
LAYOUT = 2
_FOLDER: Final = re.compile(r"(.+)-(\d+)\.lance")


@dataclass(frozen=True)
class Written:
    """A version of a served table that was written."""

    version: int  # Its number.
    indexes: dict[str, Any] = field(default_factory=dict)  # State of its indexes.
    checksums: dict[str, str] = field(default_factory=dict)  # Checksums of its files, by their paths in its directory.


class ServedWriter(ServedTables):
    """The LanceDB database of a warehouse, open for writing."""

    def __init__(self, directory: Path, *, shared: bool = False) -> None:
        super().__init__(directory)
        self._new: list[Path] = []
        self._shared = shared  # Whether other machines write versions too, which are not in this directory.

    def write(self, stage: Stage) -> Written:
        """Write and index `stage` as a new version."""
        table = stage.table
        self.directory.mkdir(parents=True, exist_ok=True)
        version = 1 + max((number for name, number in self.versions() if name == table.name), default=0)
        if self._shared:
            version = max(version, time.time_ns() // 1_000_000)
        folder = self.folder(table.name, version)
        self._new.append(folder)
        reader = pa.RecordBatchReader.from_batches(table.schema, stage.batches())
        lance = self.database.create_table(f"{table.name}-{version}", data=reader, schema=table.schema)
        if stage.rows:
            from lancedb.index import BTree

            for column in table.indexes:
                lance.create_index(column, config=BTree())
        checksums = {path.relative_to(folder).as_posix(): checksum_of(path) for path in files_in(folder)}
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
        return sorted((match[1], int(match[2])) for match in folders if match)


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
