"""Tables and snapshots of rows that are written by hand: what a row does not tell is null, empty or nought."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from quern.indexes.catalog import Manifest, Snapshot, Warehouse
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.schemas.settings import Settings
from quern.schemas.tables import Table

Row = dict[str, Any]
_NOUGHT: dict[pa.DataType, Any] = {pa.string(): "", pa.binary(): b"", pa.int32(): 0, pa.int64(): 0}


def filled(table: Table, row: Row) -> Row:
    """`row` with every column of the table; an emptiness of another type than these must be told."""

    def nothing(field: pa.Field) -> Any:
        many = pa.types.is_list(field.type) or pa.types.is_map(field.type)
        return None if field.nullable else [] if many else _NOUGHT.get(field.type)

    return {field.name: nothing(field) for field in table.schema} | row


def batch_of(table: Table, rows: list[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([filled(table, row) for row in rows], schema=table.schema)


def stage_of(path: Path, table: Table, rows: list[Row] | pa.RecordBatch) -> Stage:
    """The rows, filled where they are no batch, as a staged table."""
    with StageWriter(path, table) as writer:
        writer.write(rows if isinstance(rows, pa.RecordBatch) else batch_of(table, rows))
    return writer.stage()


def publish(
    warehouse: Warehouse, build_id: str, rows: Mapping[Table, list[Row] | pa.RecordBatch], **about: Any
) -> Snapshot:
    """A build of these tables alone, published after the one before."""
    parent = warehouse.manifest() if warehouse.current_id() else None
    stages = [stage_of(warehouse.stages / t.name / f"{build_id}.parquet", t, told) for t, told in rows.items()]
    manifest = Manifest(
        build_id=build_id,
        parent=parent.build_id if parent else None,
        started_at=datetime.now(UTC),
        tables={stage.table.name: warehouse.pin(stage, parent) for stage in stages},
        settings=Settings().model_dump(),
        **{"source": "test", "jobs": [], "audit": []} | about,
    )
    warehouse.publish(manifest)
    return warehouse.snapshot()
