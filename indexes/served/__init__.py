"""Served tables: one LanceDB table each, of which a snapshot pins a version.

A build writes a new version of a table in one stream and indexes it; readers of older versions go on
undisturbed. A published version carries a tag per snapshot, so that cleaning never takes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from quern.indexes.served.lancedb_import import import_lancedb
from quern.indexes.stages import Stage
from quern.schemas.tables import Table

# Lance warns on standard error of a data set that it is about to create.
os.environ.setdefault("LANCEDB_LOG", "error")

# Raised when what is indexed, or how, changes: unchanged tables are then written again.
LAYOUT = 2
_READ_ROWS = 8192


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

    def batches(self, columns: Sequence[str], rows: int = _READ_ROWS) -> Iterator[pa.RecordBatch]:
        """The named columns, batch by batch, in the order of the table."""
        reader = self.lance.search().select(list(columns)).limit(self.rows).to_batches(rows)
        for batch in reader:
            yield batch.select(list(columns))

    def lookup(self, column: str, values: Sequence[str], columns: Sequence[str] | None = None) -> pa.Table:
        """Rows whose `column` is one of `values`, in no particular order."""
        names = list(columns or self.table.schema.names)
        if not values:
            return pa.schema([self.lance.schema.field(n) for n in names]).empty_table()
        found = [self._lookup(column, values[at : at + 1000], names) for at in range(0, len(values), 1000)]
        return pa.concat_tables(found)

    def _lookup(self, column: str, values: Sequence[str], columns: list[str]) -> pa.Table:
        where = f"{column} IN ({', '.join(quote(v) for v in values)})"
        return self.lance.search().where(where).select(columns).limit(self.rows).to_arrow().select(columns)


class ServedTables:
    """The LanceDB database of a warehouse."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._before: dict[str, frozenset[Path]] = {}
        self._connect()

    def _connect(self) -> None:
        # Loaded only here: commands that read no table have no need of it.
        self._database = import_lancedb().connect(str(self._directory))

    def open(self, table: Table, version: int, hold: object = None) -> ServedTable:
        """The table as it was at `version`; `hold` lives as long as what is returned."""
        lance = self._database.open_table(table.name)
        lance.checkout(version)
        return ServedTable(lance, table, hold)

    def has(self, name: str, version: int) -> bool:
        """Whether the table has this version."""
        if name not in self._database.list_tables().tables:
            return False
        return any(v["version"] == version for v in self._database.open_table(name).list_versions())

    def write(self, stage: Stage) -> tuple[int, dict[str, Any]]:
        """Write and index `stage` as a new version; returns the version and the state of its indexes."""
        table = stage.table
        self._before.setdefault(table.name, self._files(table.name))
        reader = pa.RecordBatchReader.from_batches(table.schema, stage.batches())
        lance = self._database.create_table(table.name, data=reader, schema=table.schema, mode="overwrite")
        if stage.rows:
            _index(lance, table)
        return int(lance.version), index_state(lance)

    def keep(self) -> None:
        """What was written stays."""
        self._before = {}

    def undo(self) -> None:
        """Delete what was written since the tables were opened, or last kept: of a build that came to nothing.

        Nobody but the writer knows of it. Lance itself would delete it only with versions older than it.
        """
        before, self._before = self._before, {}
        for name, files in before.items():
            for path in self._files(name) - files:
                path.unlink(missing_ok=True)
        if before:
            self._connect()  # The library remembers versions that are no more.

    def _files(self, name: str) -> frozenset[Path]:
        return frozenset(p for p in (self._directory / f"{name}.lance").rglob("*") if p.is_file())

    def tag(self, table: str, version: int, tag: str) -> None:
        """Protect `version` of `table` under the name `tag`."""
        lance = self._database.open_table(table)
        if tag not in lance.tags.list():
            lance.tags.create(tag, version)

    def prune(self, table: str, kept: Mapping[str, int]) -> None:
        """Remove tags that are not in `kept` (tag to version), and versions older than all of these.

        LanceDB refuses to clean past a tagged version, so a failed build's versions between two kept ones
        go when the older of these goes.
        """
        lance = self._database.open_table(table)
        for tag in set(lance.tags.list()) - set(kept):
            lance.tags.delete(tag)
        written = {v["version"]: v["timestamp"] for v in lance.list_versions()}
        oldest = min((_utc(written[v]) for v in kept.values() if v in written), default=None)
        if oldest is None:
            return
        age = datetime.now(UTC) - oldest + timedelta(seconds=1)
        lance.optimize(cleanup_older_than=age, delete_unverified=True)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


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
