"""Any row of a snapshot, what it came from and what it led to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot
from quern.jobs.documents.html.charsets import decode_page
from quern.jobs.pages.originals import Original, OriginalError, original
from quern.pipelines.ingest import PAGE_STORE
from quern.schemas.errors import QuernError

_SNIPPET = 300
_MOST_REASONS = 5


class NotInSnapshotError(QuernError):
    """A key that the snapshot does not hold; the message says where to look."""


def show(snapshot: Snapshot, kind: str, key: str) -> dict[str, Any]:
    """The row `key` of a `kind` with its lineage: `{"row": ..., "from": ..., "to": ...}`.

    Raises:
        NotInSnapshotError: There is no such row; where it was rejected, the message says why.
    """
    if kind not in _KINDS:
        raise NotInSnapshotError(f"cannot show a {kind}; there are: {', '.join(_KINDS)}")
    return _KINDS[kind](snapshot, key)


def _row(snapshot: Snapshot, table: str, column: str, key: str) -> dict[str, Any]:
    rows = _rows(snapshot, table, column, key)
    if not rows:
        rejected = _rejects(snapshot, key) or (_rejected_captures(snapshot, key) if table == "pages" else [])
        reasons = [f"{r['job']} rejected it: {r['reason']} ({r['detail']})" for r in rejected[:_MOST_REASONS]]
        if table == "pages":
            reasons += [f"document {d['doc_id']} has this url" for d in _rows(snapshot, "documents", "url", key)]
        why = "; ".join(reasons[:_MOST_REASONS])
        raise NotInSnapshotError(
            f"snapshot {snapshot.manifest.build_id} has no {column} {key!r}" + (f"; {why}" if why else "")
        )
    return rows[0]


def _rows(snapshot: Snapshot, table: str, column: str, key: str) -> list[dict[str, Any]]:
    found = snapshot.stage(table).lookup(column, [key])
    plain = found.drop_columns([f.name for f in found.schema if pa.types.is_fixed_size_list(f.type)])
    return [dict(row) for row in plain.to_pylist()]


def _rejects(snapshot: Snapshot, key: str) -> list[dict[str, Any]]:
    if "rejects" not in snapshot.manifest.tables:
        return []
    return [{k: r[k] for k in ("job", "reason", "detail")} for r in _rows(snapshot, "rejects", "key", key)]


def _rejected_captures(snapshot: Snapshot, url: str) -> list[dict[str, Any]]:
    """Rejects of archived captures of `url`: their key is a place in a file, their detail begins with the address."""
    if "rejects" not in snapshot.manifest.tables:
        return []
    found: list[dict[str, Any]] = []
    for batch in snapshot.stage("rejects").batches(["job", "key", "reason", "detail"]):
        found += batch.filter(pc.starts_with(batch.column("detail"), f"{url}: ")).to_pylist()
    return [{"job": r["job"], "reason": r["reason"], "detail": f"{r['detail']}; {r['key']}"} for r in found]


def original_of(snapshot: Snapshot, url: str) -> Original:
    """The archived record that the page `url` was made from.

    Raises:
        NotInSnapshotError: There is no such page, or it was not read from an archive.
        OriginalError: The archive is gone, or was changed.
    """
    row = _row(snapshot, "pages", "url", url)
    if row["warc_file"] is None:
        raise NotInSnapshotError(f"{url} was read from {row['source_file']}, which is no archive")
    return original(_location(snapshot, row["warc_file"]), row["warc_offset"], url)


def _location(snapshot: Snapshot, file: str) -> str:
    """Where the archive `file` of a snapshot's pages is: in its source, in the warehouse, or where it says itself."""
    if file.startswith(("s3://", "/")):
        return file
    source = Path(snapshot.manifest.source)
    if snapshot.manifest.source == PAGE_STORE:
        source = snapshot.warehouse.root
    return str(source / file if source.is_dir() or source.name != file else source)


def _archived(snapshot: Snapshot, row: Mapping[str, Any]) -> dict[str, Any]:
    """Where the archived record of a page is, and its header."""
    location = _location(snapshot, row["warc_file"])
    try:
        head = original(location, row["warc_offset"], row["url"]).head
    except OriginalError as error:
        return {"archive": location, "offset": row["warc_offset"], "record": str(error)}
    lines = head.decode("utf-8", "replace").split("\n")
    return {"archive": location, "offset": row["warc_offset"], "record": [x.strip() for x in lines if x.strip()]}


def _page(snapshot: Snapshot, key: str) -> dict[str, Any]:
    row = _row(snapshot, "pages", "url", key)
    body = row.pop("body")
    row["bytes"] = len(body)
    row["body"] = decode_page(body, row["charset"])[:_SNIPPET]
    documents = [d["doc_id"] for d in _rows(snapshot, "documents", "page_url", key)]
    return {
        "row": row,
        "from": {"file": row["source_file"], **(_archived(snapshot, row) if row["warc_file"] else {})},
        "to": {"documents": documents, "rejects": _rejects(snapshot, key)},
    }


def _document(snapshot: Snapshot, key: str) -> dict[str, Any]:
    row = _row(snapshot, "documents", "doc_id", key)
    chunks = [c["chunk_id"] for c in _rows(snapshot, "chunks", "doc_id", key)]
    return {"row": row, "from": {"page": row["page_url"]}, "to": {"chunks": chunks}}


def _chunk(snapshot: Snapshot, key: str) -> dict[str, Any]:
    row = _row(snapshot, "chunks", "chunk_id", key)
    row.pop("terms")
    columns = ("query_id", "question", "similarity", "kept")
    queries = [{c: q[c] for c in columns} for q in _rows(snapshot, "queries", "chunk_id", key)]
    return {"row": row, "from": {"document": row["doc_id"]}, "to": {"queries": queries}}


def _query(snapshot: Snapshot, key: str) -> dict[str, Any]:
    row = _row(snapshot, "queries", "query_id", key)
    return {"row": row, "from": {"chunk": row["chunk_id"]}, "to": {"node": key if row["kept"] else None}}


def _node(snapshot: Snapshot, key: str) -> dict[str, Any]:
    row = _row(snapshot, "nodes", "query_id", key)
    leaving, arriving = (_rows(snapshot, "edges", column, key) for column in ("source", "target"))
    leaving.sort(key=lambda e: int(e["rank"]))
    neighbours, mentions = (
        [{c: e[c] for c in ("rank", "target", "similarity")} for e in leaving if e["kind"] == kind]
        for kind in ("neighbour", "mention")
    )
    back = [{c: e[c] for c in ("source", "similarity")} for e in arriving if e["kind"] == "neighbour"]
    return {
        "row": row,
        "from": {"query": key, "chunk": row["chunk_id"]},
        "to": {"neighbours": neighbours, "mentions": mentions, "neighbour_of": back},
    }


_KINDS: Mapping[str, Callable[[Snapshot, str], dict[str, Any]]] = {
    "page": _page,
    "document": _document,
    "chunk": _chunk,
    "query": _query,
    "node": _node,
}
KINDS = tuple(_KINDS)
