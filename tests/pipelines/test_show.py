"""Rows with their lineage: whatever a page holds is shown, and what is missing is explained."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from indexes.catalog import Manifest, Snapshot, TableVersion, Warehouse
from indexes.stages import StageWriter
from jobs.ingest import FileReject, read_pages
from pipelines.show import NotInSnapshotError, show
from schemas.groups import IngestSettings
from schemas.tables import TABLES

HERE = "http://x.example/a"
Rows = list[dict[str, Any]]
Make = Callable[..., Snapshot]


@pytest.fixture
def snapshot(tmp_path: Path) -> Make:
    """Make a snapshot of the given rows; strings that are not given are empty, other values null."""

    def make(**rows: Rows) -> Snapshot:
        warehouse = Warehouse.create(tmp_path / "warehouse")
        versions: dict[str, TableVersion] = {}
        for name in ("pages", "documents", "rejects"):
            path, schema = warehouse.stages / f"{name}.parquet", TABLES[name].schema
            empty = {f.name: "" if pa.types.is_string(f.type) and not f.nullable else None for f in schema}
            with StageWriter(path, TABLES[name]) as writer:
                for row in rows.get(name, []):
                    writer.write(pa.RecordBatch.from_pylist([empty | row], schema=schema))
            file = str(path.relative_to(warehouse.root))
            versions[name] = TableVersion(kind="staged", version=1, rows=len(rows.get(name, [])), digest="", file=file)
        started = datetime(2024, 5, 6, tzinfo=UTC)
        manifest = Manifest(
            build_id="b", parent=None, started_at=started, source="", tables=versions, jobs=[], audit=[], settings={}
        )
        return Snapshot(warehouse, manifest)

    return make


@pytest.mark.parametrize("charset", ["utf8mb4", "hex", "none", "", None, "utf-16"])
def test_a_page_of_any_declared_charset_is_shown(snapshot: Make, charset: str | None) -> None:
    page = {"url": HERE, "charset": charset, "body": "<p>čaj</p>".encode()}
    assert show(snapshot(pages=[page]), "page", HERE)["row"]["body"] == "<p>čaj</p>"


def rejects_of(root: Path) -> Rows:
    found = [r for r in read_pages(root, IngestSettings()) if isinstance(r, FileReject)]
    return [{"job": "ingest", "key": r.key, "reason": r.reason, "detail": r.detail} for r in found]


def test_a_rejected_capture_is_found_by_its_address_alone(snapshot: Make, tmp_path: Path) -> None:
    block = b"HTTP/1.1 404 Not Found\r\n\r\n"
    (tmp_path / "w.warc").write_bytes(
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {HERE}\r\nContent-Type: application/http\r\n"
        f"Content-Length: {len(block)}\r\n\r\n".encode()
        + block
        + b"\r\n\r\n"
    )
    made = snapshot(rejects=rejects_of(tmp_path / "w.warc"))
    with pytest.raises(NotInSnapshotError, match=rf"http_status \({HERE}: status 404; w.warc@0\)"):
        show(made, "page", HERE)
    with pytest.raises(NotInSnapshotError) as error:
        show(made, "page", HERE.removesuffix("/a"))
    assert "rejected" not in str(error.value)


def test_the_address_of_a_document_names_the_document(snapshot: Make) -> None:
    documents = [
        {"doc_id": d, "page_url": f"doc:{d}", "url": HERE} | {"images": [], "metadata_from": [], "personal_data": []}
        for d in ("p1", "p2")
    ]
    with pytest.raises(NotInSnapshotError, match="document p1 has this url; document p2 has this url"):
        show(snapshot(documents=documents), "page", HERE)
