"""What differs between two snapshots: how many rows of each table, and which, documents by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from quern.indexes.catalog import Snapshot, Warehouse, WarehouseError
from quern.indexes.changes import changed_rows, rows_at
from quern.indexes.stage_writers import digest_columns
from quern.indexes.stages import Stage
from quern.schemas.differences import RowDifference, SnapshotDifference, TableDifference
from quern.schemas.errors import QuernError
from quern.schemas.tables import DOCUMENTS, TABLES
from quern.schemas.words.meant import meant, no_such

CURRENT: Final = "current"
PREVIOUS: Final = "previous"


class NoTableError(QuernError):
    """A table that neither snapshot has; the message names those that there are."""


def snapshot_named(warehouse: Warehouse, name: str) -> Snapshot:
    """The snapshot with this build id; `current` is the published one, `previous` that which it was built upon.

    Raises:
        WarehouseError: There is none; the message names the nearest.
    """
    if name == CURRENT:
        return warehouse.snapshot()
    ids = warehouse.snapshot_ids()
    if name == PREVIOUS:
        parent = warehouse.manifest().parent
        if parent not in ids:
            raise WarehouseError(
                f"there is no snapshot before the published one in {warehouse.address}; `quern snapshots list` names "
                "those that are kept"
            )
        return warehouse.snapshot(parent)
    if name not in ids:
        near = meant(name, [*reversed(ids), CURRENT, PREVIOUS], 0.4)
        hint = f"; did you mean {near}?" if near else "; `quern snapshots list` names those that are kept"
        raise WarehouseError(f"there is no snapshot {name} in {warehouse.address}{hint}")
    return warehouse.snapshot(name)


def difference(
    before: Snapshot, after: Snapshot, tables: Sequence[str] = (), limit: int | None = 20
) -> SnapshotDifference:
    """What differs between two snapshots, in `tables` or in all.

    A table with equal digests is not read. Of another are read keys and all that its digest is made of, once; of the
    rows that are named, no more than `limit` of each kind, then also their values, to tell which columns differ.

    Raises:
        NoTableError: Neither snapshot has one of `tables`.
        WarehouseError: A file of one of them is gone or damaged.
    """
    there = [name for name in TABLES if name in before.manifest.tables or name in after.manifest.tables]
    order = [*after.manifest.tables, *before.manifest.tables]
    there.sort(key=order.index)
    for name in tables:
        if name not in there:
            raise NoTableError(no_such("table", name, there))
    try:
        differences = {name: _of_table(before, after, name, limit) for name in there if name in tables or not tables}
    except (OSError, pa.ArrowInvalid) as error:
        raise WarehouseError(
            f"{before.manifest.build_id} and {after.manifest.build_id} cannot be compared, a file of "
            f"{after.warehouse.address} is gone or damaged: {error}"
        ) from error
    return SnapshotDifference(before=before.manifest.build_id, after=after.manifest.build_id, tables=differences)


def _of_table(before: Snapshot, after: Snapshot, name: str, limit: int | None) -> TableDifference:
    earlier, later = (one.stage(name) if name in one.manifest.tables else None for one in (before, after))
    rows = sum(stage.rows for stage in (earlier, later) if stage)
    changed = changed_rows(earlier, later, rows if limit is None else limit)
    named: list[RowDifference] = []
    if later is not None:
        named += [RowDifference(change="added", **_named(later, row)) for row in _rows(later, changed.added)]
    if earlier is not None and later is not None:
        pairs = zip(_rows(earlier, changed.changed[:, 0]), _rows(later, changed.changed[:, 1]), strict=True)
        named += [
            RowDifference(change="changed", **_named(later, new), columns=[c for c in new if old[c] != new[c]])
            for old, new in pairs
        ]
    if earlier is not None:
        named += [RowDifference(change="removed", **_named(earlier, row)) for row in _rows(earlier, changed.removed)]
    return TableDifference(
        rows_before=earlier.rows if earlier else 0,
        rows_after=later.rows if later else 0,
        changes=changed.counts,
        rows=named,
    )


def _rows(stage: Stage, numbers: Any) -> Iterator[dict[str, Any]]:
    """The rows with these numbers, in this order, as far as they can change."""
    columns = [*dict.fromkeys((*stage.table.key, *digest_columns(stage.table)))]
    positions = sorted(set(numbers.tolist()))
    rows = dict(zip(positions, rows_at(stage, positions, columns).to_pylist(maps_as_pydicts="strict"), strict=True))
    for number in numbers.tolist():
        yield rows[number]


def _named(stage: Stage, row: dict[str, Any]) -> dict[str, Any]:
    identity: dict[str, Any] = {"key": {column: row[column] for column in stage.table.key}}
    return {**identity, "title": row["title"], "url": row["url"]} if stage.table.name == DOCUMENTS.name else identity
