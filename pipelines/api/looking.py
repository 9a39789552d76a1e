"""Looking at what a snapshot holds, by Python: tables, rows and what they came from, the graph, what changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from quern.jobs.pages.originals import Original
from quern.pipelines.api.given import Place, opened_of
from quern.pipelines.inspect import show as rows
from quern.pipelines.inspect.difference import CURRENT, PREVIOUS, difference, snapshot_named
from quern.pipelines.inspect.entities import entities_named
from quern.pipelines.inspect.graph.describe import GraphDescription, describe_graph
from quern.pipelines.inspect.graph.drawing import draw_path
from quern.schemas.answers import Answer
from quern.schemas.differences import SnapshotDifference
from quern.schemas.errors import QuernError
from quern.schemas.words.meant import no_such


def diff(
    warehouse: Place,
    before: str = PREVIOUS,
    after: str = CURRENT,
    *,
    tables: Sequence[str] = (),
    limit: int | None = 20,
) -> SnapshotDifference:
    """How many rows of each table differ between two snapshots, and which: at most `limit` of each kind.

    A snapshot is named by its build id; `current` is the published one, `previous` that which it was built upon.

    Raises:
        QuernError: There is no such warehouse, snapshot or table.
    """
    opened = opened_of(warehouse)
    return difference(snapshot_named(opened, before), snapshot_named(opened, after), tables, limit)


def table(
    name: str, warehouse: Place, *, columns: Sequence[str] | None = None, snapshot: str | None = None
) -> pa.Table:
    """A table of a snapshot, whole, as Arrow has it: `.to_pandas()` makes a frame of it.

    `docs/reference/tables.md` says what each column means. Name the `columns` that you want where it is large: all of
    them are read into memory.

    Raises:
        QuernError: There is no such warehouse, snapshot, table or column.
    """
    opened = opened_of(warehouse).snapshot(snapshot)
    if name not in opened.manifest.tables:
        raise QuernError(no_such("table", name, opened.manifest.tables))
    stage = opened.stage(name)
    known = stage.table.schema.names
    if unknown := [column for column in columns or () if column not in known]:
        raise QuernError(no_such(f"column of {name}", unknown[0], known))
    wanted = list(columns) if columns is not None else known
    schema = pa.schema([stage.table.schema.field(column) for column in wanted])
    return pa.Table.from_batches([batch.select(wanted) for batch in stage.batches(wanted)], schema)


def show(kind: str, key: str, warehouse: Place, *, snapshot: str | None = None) -> dict[str, Any]:
    """A row and its lineage, as `quern show --json` tells them: `{"row": ..., "from": ..., "to": ...}`.

    A `kind` is what a row is called (page, document, chunk, query, node...), with its id as the key; or `citation`,
    with the key DOC_ID:START-END; or `entity`, with a name, which gives `{"entities": [...]}`.

    Raises:
        QuernError: There is no such warehouse, snapshot, kind or row; of a row that was rejected it says why.
    """
    opened = opened_of(warehouse).snapshot(snapshot)
    if kind == rows.ENTITY:
        return {"entities": entities_named(opened, key)}
    return rows.show(opened, kind, key)


def original(url: str, warehouse: Place, *, snapshot: str | None = None) -> Original:
    """The archived record that the page `url` was made from, byte for byte: its header and its content.

    Raises:
        QuernError: There is no such page, it was read from no archive, or the archive is gone or was changed.
    """
    return rows.original_of(opened_of(warehouse).snapshot(snapshot), url)


def graph(warehouse: Place, *, most: int = 5, snapshot: str | None = None) -> GraphDescription:
    """The query-centric graph: its structure as arrays, its communities, and figures with the `most` greatest hubs.

    Raises:
        QuernError: There is no such warehouse or snapshot.
    """
    return describe_graph(opened_of(warehouse).snapshot(snapshot), most)


def picture(answer: Answer) -> str:
    """The way from a question through the graph to its chunks, as SVG; one answer gives one picture.

    Raises:
        QuernError: No chunk was found for the question.
    """
    return draw_path(answer)
