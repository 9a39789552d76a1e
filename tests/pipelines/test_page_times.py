"""Days of pages: relative times are counted from the day that the page's own offset gives."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.served.writer import ServedWriter
from quern.indexes.stages import Stage
from quern.pipelines.build.whole import build
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import Settings
from quern.schemas.tables import CHUNKS

ROWS = [
    ("west", "2024-05-03T23:30:00-07:00", "The Tollen bridge was closed yesterday after a barge hit its third pier."),
    ("east", "2024-05-04T01:00+09:00", "The Marlow library was opened this evening by the mayor of the old town."),
    ("india", "Sat, 04 May 2024 02:15:00 +0530", "The Vik ferry was sold today to a company from the other shore."),
    ("zulu", "2024-05-03T23:30:00Z", "The Ostrand mill was bought yesterday by the council of the valley."),
]
PAGE = """<html><head><title>Harbour</title><meta property="article:published_time" content="2024-05-03T22:10:00-07:00">
</head><body><article><h1>Harbour</h1><p>The harbour office was flooded yesterday when the storm broke the wall of the
quay, and the clerks carried the books up to the attic of the customs house.</p></article></body></html>"""
DAYS = {"west": "2024-05-02", "east": "2024-05-04", "india": "2024-05-04", "zulu": "2024-05-02", "page": "2024-05-02"}
SETTINGS = Settings.model_validate({"engine": {"engine": "local"}})


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("page-times")
    pages = folder / "pages"
    pages.mkdir()
    rows = [{"doc_id": key, "title": key, "text": text, "published_at": time} for key, time, text in ROWS]
    (pages / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    (pages / "page.html").write_text(PAGE, "utf-8")
    build(pages, Warehouse.create(folder / "wh"), SETTINGS)
    return Searcher(Warehouse.open(folder / "wh").snapshot(), SETTINGS)


def _rows(searcher: Searcher, table: str, columns: list[str]) -> list[dict[str, object]]:
    return [row for b in searcher.snapshot.table(table).batches(columns) for row in b.to_pylist()]


def test_a_time_is_stored_in_utc_with_the_offset_of_its_page(searcher: Searcher) -> None:
    rows = _rows(searcher, "documents", ["title", "published_at", "utc_offset"])
    found = {row["title"]: (row["published_at"], row["utc_offset"]) for row in rows}
    assert found["west"] == (datetime(2024, 5, 4, 6, 30, tzinfo=UTC), -420)
    assert found["east"] == (datetime(2024, 5, 3, 16, 0, tzinfo=UTC), 540)
    assert found["india"] == (datetime(2024, 5, 3, 20, 45, tzinfo=UTC), 330)
    assert found["zulu"] == (datetime(2024, 5, 3, 23, 30, tzinfo=UTC), None)
    assert found["Harbour"] == (datetime(2024, 5, 4, 5, 10, tzinfo=UTC), -420)


def test_relative_days_are_days_of_the_page(searcher: Searcher) -> None:
    title = {row["doc_id"]: row["title"] for row in _rows(searcher, "documents", ["doc_id", "title"])}
    events = _rows(searcher, "events", ["doc_id", "timex"])
    found = {str(title[row["doc_id"]]).replace("Harbour", "page"): row["timex"] for row in events}
    assert {key: str(day)[:10] for key, day in found.items()} == DAYS


def test_a_table_that_was_written_without_a_column_has_nulls_in_it(tmp_path: Path) -> None:
    old = CHUNKS.with_dimension(2).without("utc_offset")
    row = {"chunk_id": "a-0", "doc_id": "a", "text": "x", "start": 0, "end": 1, "token_count": 1, "terms": "x"}
    rows = pa.RecordBatch.from_pylist([row | {"vector": [1.0, 0.0]}], schema=old.schema)
    pq.write_table(pa.Table.from_batches([rows]), tmp_path / "chunks.parquet")
    stage = Stage(old, tmp_path / "chunks.parquet", 1, "")
    served = ServedWriter(tmp_path / "served")
    written = served.write(stage)
    table = served.open(CHUNKS.with_dimension(2), written.version, written.checksums)
    now = Stage(CHUNKS.with_dimension(2), stage.path, 1, "")
    for reader in (table, now):
        assert reader.lookup("chunk_id", ["a-0"], ["utc_offset", "doc_id"]).to_pylist() == [
            {"utc_offset": None, "doc_id": "a"}
        ]
        assert [b.to_pylist() for b in reader.batches(["doc_id", "utc_offset"])] == [
            [{"doc_id": "a", "utc_offset": None}]
        ]
    assert table.lookup("chunk_id", [], ["utc_offset", "doc_id"]).num_rows == 0
