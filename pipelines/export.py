"""Publishing a table on an Elasticsearch or OpenSearch server: an index a snapshot, and an alias that leads to one.

A new index begins as a copy that the server makes of the last one, and takes what differs between the two snapshots.
The alias moves when the index is complete, in one step.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Final

import numpy as np

from quern.indexes.catalog import Snapshot, Warehouse
from quern.indexes.served.search_layout import ExportedTable, Mask
from quern.indexes.served.search_server import About, Index, SearchServer, SearchServerError
from quern.jobs.core.progress import watched

log = logging.getLogger(__name__)

# What servers answer that copy no index, as those without machines of one's own.
_NO_COPY: Final = (400, 403, 404, 405, 501)
_REQUEST_BYTES: Final = 5 << 20
_REQUEST_DOCUMENTS: Final = 2000


@dataclass
class Exported:
    """What an export did."""

    alias: str  # Name by which the index is searched.
    index: str  # Index that it leads to.
    snapshot: str  # Snapshot that the index holds.
    rows: int  # Documents of the index.
    sent: int = 0  # Documents that were sent.
    deleted: int = 0  # Documents that were deleted from the copy.
    base: str | None = None  # Snapshot whose index was copied; None where all documents were sent.
    notes: list[str] = field(default_factory=list)  # What a reader should know.
    pruned: list[str] = field(default_factory=list)  # Indexes that were deleted.
    seconds: float = 0.0  # Time of the export.


def export(warehouse: Warehouse, snapshot: Snapshot, table: str, server: SearchServer, alias: str) -> Exported:
    """Publish `table` of the snapshot as `alias`; an export that was interrupted goes on from where it stopped.

    The index before stays: an export of its snapshot moves the alias back.

    Args:
        warehouse: The warehouse.
        snapshot: One of its snapshots.
        table: A served table with a key of one column.
        server: Where it goes.
        alias: Name by which the index is searched.

    Raises:
        SearchServerError: The server cannot be used or refuses a document, or an index is of another program. The alias
            leads to what it led to before.
        WarehouseError: There is no such table.
    """
    started = time.monotonic()
    later = ExportedTable(snapshot, table)
    indexes = server.indexes(alias)
    published = server.published(alias, indexes)
    about = About(
        alias=alias,
        table=table,
        snapshot=snapshot.manifest.build_id,
        digests=later.digests,
        layout=later.layout(server.kind),
        rows=later.stage.rows,
        checksum=later.stage.checksum,
    )
    name = about.index
    done = Exported(alias, name, about.snapshot, about.rows)
    if there := _resumed(warehouse, server, indexes.get(name), published):
        about = there
    else:
        why = _copied(warehouse, server, about, *published) if published else ""
        done.notes = [f"all documents are sent: {why}"] if why else []
        if not about.base:
            body = later.body(server.kind)
            body["mappings"]["_meta"] = about.meta()
            server.call("PUT", f"/{name}", body)
    done.base = about.base
    if not about.complete:
        _send(warehouse, later, server, about, done)
        # What is published changes no more; a server copies only such an index.
        server.call("PUT", f"/{name}/_settings", {"index.blocks.write": True})
    before = published[0].name if published else None
    if before != name:
        server.tell(about.model_copy(update={"complete": True, "replaced": before}))
        actions = [{"remove": {"index": before, "alias": alias}}] if before else []
        server.call("POST", "/_aliases", {"actions": [*actions, {"add": {"index": name, "alias": alias}}]})
    own = {n: i.about for n, i in server.indexes(alias).items() if i.about and i.about.alias == alias}
    pruned = sorted(set(own) - {name, own[name].replaced})
    for index in pruned:
        server.call("DELETE", f"/{index}")
    done.pruned = pruned
    done.seconds = round(time.monotonic() - started, 1)
    log.info("export %s", " ".join(f"{k}={v}" for k, v in asdict(done).items() if not isinstance(v, list)))
    return done


def _resumed(
    warehouse: Warehouse, server: SearchServer, index: Index | None, published: tuple[Index, About] | None
) -> About | None:
    """What there is of the snapshot's index; None where it is begun anew, and what there was is deleted.

    Raises:
        SearchServerError: Another program made it, or it is published and was changed since.
    """
    if index is None:
        return None
    about = server.own(index)
    if about.complete:
        whole = about.index == index.name and server.count(index.name) == about.rows
    else:  # A copy calls itself what it is a copy of until it is told what it is.
        whole = about.index == index.name and about.base in (None, *warehouse.snapshot_ids())
    if whole:
        return about
    if published and published[0].name == index.name:
        raise server.error(f"{index.name} was changed since it was exported: delete it, and run the same command again")
    server.call("DELETE", f"/{index.name}")
    return None


def _copied(warehouse: Warehouse, server: SearchServer, about: About, index: Index, its: About) -> str:
    """Have the server make the index as a copy of the published one, its base; why not, where that cannot be."""
    if (its.table, its.layout) != (about.table, about.layout):
        return f"{index.name} has another table or layout"
    if its.snapshot not in warehouse.snapshot_ids():
        return f"snapshot {its.snapshot}, which {index.name} holds, is not in the warehouse"
    if ExportedTable(warehouse.snapshot(its.snapshot), its.table).digests != its.digests:
        return f"{index.name} is of another warehouse"
    if (count := server.count(index.name)) != its.rows:
        return f"{index.name} has {count:,} documents, and {its.rows:,} were exported"
    server.call("PUT", f"/{index.name}/_settings", {"index.blocks.write": True})
    try:
        server.call("POST", f"/{index.name}/_clone/{about.index}")
    except SearchServerError as error:
        if error.status not in _NO_COPY:
            raise
        return f"the server makes no copy (HTTP {error.status})"
    half = int(server.settings.timeout / 2)  # An answer that it is not ready yet should come in time.
    server.call("GET", f"/_cluster/health/{about.index}?wait_for_status=yellow&timeout={half}s")
    server.call("PUT", f"/{about.index}/_settings", {"index.blocks.write": None})
    about.base = its.snapshot
    server.tell(about)
    return ""


def _send(warehouse: Warehouse, later: ExportedTable, server: SearchServer, about: About, done: Exported) -> None:
    """Send what the index lacks, and count what it then holds.

    Raises:
        SearchServerError: A document is refused, or the index does not hold as many as the table.
    """
    name = about.index
    before = ExportedTable(warehouse.snapshot(about.base), later.table.name) if about.base else None
    mask, gone = later.changed_since(before)
    if about.checksum != later.stage.checksum:
        about.checksum, about.sent = later.stage.checksum, 0
    skipped, total = about.sent, int(mask.sum()) + len(gone)
    if skipped:
        done.notes.append(f"an interrupted export goes on: {skipped:,} of {total:,} changes were confirmed before")
        mask[np.flatnonzero(mask)[:skipped]] = False
        gone = gone[max(0, skipped - (total - len(gone))) :]
    done.sent, done.deleted = int(mask.sum()), len(gone)
    with watched("export", total, lambda: about.sent):
        for changes in _requests(later, mask, gone):
            server.bulk(name, changes)
            about.sent += len(changes)
            server.tell(about)
    if (count := server.count(name)) != about.rows:
        server.call("DELETE", f"/{name}")
        raise server.error(
            f"{name} held {count:,} documents where the snapshot has {about.rows:,}, so another program wrote to it; "
            "it is deleted: run the same command again"
        )


def _requests(later: ExportedTable, mask: Mask, gone: list[str]) -> Iterator[list[tuple[str, bytes]]]:
    """The changes in their order, in requests of bounded size."""
    changes: list[tuple[str, bytes]] = []
    size = 0
    for key, source in chain(later.documents(mask), ((key, b"") for key in gone)):
        if changes and (size + len(source) > _REQUEST_BYTES or len(changes) == _REQUEST_DOCUMENTS):
            yield changes
            changes, size = [], 0
        changes.append((key, source))
        size += len(source)
    if changes:
        yield changes


def summary(done: Exported) -> Iterator[str]:
    """What an export did, line by line."""
    yield from done.notes
    yield f"{done.alias} leads to {done.index}: {done.rows:,} documents of snapshot {done.snapshot}"
    since = f" that differ from snapshot {done.base}" if done.base else ""
    yield f"sent {done.sent:,} documents{since}, deleted {done.deleted:,}, {done.seconds} s"
    if done.pruned:
        yield f"deleted earlier indexes: {', '.join(done.pruned)}"
