"""Rows with their lineage: whatever a page holds is shown, and what is missing is explained."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from quern.indexes.catalog import Snapshot, Warehouse
from quern.jobs.pages.originals import OriginalError
from quern.pipelines.cli.rows import app
from quern.pipelines.inspect.show import NotInSnapshotError, entities_named, original_of, show
from quern.pipelines.pages.ingest import add_pages
from quern.pipelines.pages.store import PAGE_STORE, page_store
from quern.schemas.settings.reading import load_settings
from quern.schemas.tables import TABLES
from tests.jobs.pages.archived import http, put, warc
from tests.tables import publish

HERE = "http://x.example/a"
Rows = list[dict[str, Any]]
Make = Callable[..., Snapshot]


@pytest.fixture
def snapshot(tmp_path: Path) -> Make:
    """Make a snapshot of the given rows."""

    def make(**rows: Rows) -> Snapshot:
        return snapshot_of(Warehouse.create(tmp_path / "warehouse"), "", **rows)

    return make


@pytest.mark.parametrize("charset", ["hex", "", None, "utf-16"])
def test_a_page_of_any_declared_charset_is_shown(snapshot: Make, charset: str | None) -> None:
    page = {"url": HERE, "charset": charset, "body": "<p>čaj</p>".encode()}
    assert show(snapshot(pages=[page]), "page", HERE)["row"]["body"] == "<p>čaj</p>"


def test_a_missing_page_is_explained_by_its_rejects_and_by_documents_of_its_address(snapshot: Make) -> None:
    reject = {"job": "ingest", "key": "w.warc@0", "reason": "http_status", "detail": f"{HERE}: status 404"}
    documents = [{"doc_id": d, "page_url": f"doc:{d}", "url": "http://x.example"} for d in ("p1", "p2")]
    made = snapshot(rejects=[reject], documents=documents)
    with pytest.raises(NotInSnapshotError, match=rf"http_status \({HERE}: status 404; w.warc@0\)"):
        show(made, "page", HERE)
    with pytest.raises(NotInSnapshotError, match="document p1 has this url; document p2 has this url") as error:
        show(made, "page", "http://x.example")
    assert "rejected" not in str(error.value)


def test_those_that_share_a_name_are_shown_apart_with_what_is_stated_of_each(snapshot: Make) -> None:
    documents = [{"doc_id": d, "page_url": f"doc:{d}", "title": "Sky\x1b[31m"} for d in ("d1", "d2")]
    ends = {f"{part}{end}": 3 for part in ("", "subject_", "relation_", "object_") for end in ("start", "end")}
    words = {"subject": "Mercury", "relation": "has", "object": "no \x1b[2Jmoon"}
    triplets = [{"triplet_id": f"t{n}", "chunk_id": f"d{n}-0", "doc_id": f"d{n}", **words, **ends} for n in (1, 2)]
    entities = [
        {"entity_id": f"e{n}", "name": "Mercury", "apart": apart, "forms": ["Mercury", form], "fact_count": n}
        | {"documents": [f"d{n}"], "facts": [f"t{n}"]}
        for n, apart, form in ((1, "planet", "The Planet"), (2, "element", "Quicksilver"))
    ]
    made = snapshot(documents=documents, triplets=triplets, entities=entities)
    found = entities_named(made, "the Mercury")
    assert [one["row"]["apart"] for one in found] == ["element", "planet"], "the best known first"
    assert [fact["source"] for one in found for fact in one["to"]["facts"]] == ["d2", "d1"]
    assert [one["row"]["apart"] for one in entities_named(made, "e1")] == ["planet"]
    shown = CliRunner().invoke(app, ["show", "entity", "e2", "-w", str(made.warehouse.root)]).output
    assert "Mercury" in shown
    assert "\x1b" not in shown
    with pytest.raises(NotInSnapshotError, match="did you mean Mercury"):
        entities_named(made, "Quicksilvre")


@pytest.mark.parametrize("name", ["w.warc", "w.warc.gz"])
def test_an_archived_page_shows_its_record_byte_for_byte(tmp_path: Path, name: str) -> None:
    block = http(b"<p>High water is at nine.</p>")
    content = b"".join(warc(*((f"http://x.example/{n}", block, "2024-05-06T00:00:00Z") for n in "ab")))
    path = put(tmp_path / "in" / name, gzip.compress(content) if name.endswith(".gz") else content)
    warehouse = Warehouse.create(tmp_path / "warehouse")
    add_pages(warehouse, [path], load_settings(None, ["engine.engine=local"]))
    (part,) = page_store(warehouse).parts()
    rows = [row for batch in part.batches("pages") for row in batch.to_pylist()]
    made = snapshot_of(warehouse, PAGE_STORE, pages=rows)
    found = original_of(made, "http://x.example/b")
    assert found.head + found.block in content
    assert (found.block, b"x.example/b" in found.head) == (block, True)
    lineage = show(made, "page", "http://x.example/b")["from"]
    assert (lineage["archive"], lineage["offset"]) == (str(path), rows[1]["warc_offset"])
    path.unlink()
    with pytest.raises(OriginalError, match=f"{name} cannot be read: No such file"):
        original_of(made, "http://x.example/b")
    assert "cannot be read" in show(made, "page", "http://x.example/b")["from"]["record"]


def test_the_archive_of_a_build_is_found_in_its_source(tmp_path: Path) -> None:
    put(tmp_path / "in" / "w.warc", warc((HERE, http(b"<p>x</p>"), "2024-05-06T00:00:00Z"))[0])
    row = {"url": HERE, "body": b"<p>x</p>", "warc_file": "w.warc", "warc_offset": 0, "content_type": "text/html"}
    other = {"url": "http://x.example/b", "body": b"x", "source_file": "a.html"}
    made = snapshot_of(Warehouse.create(tmp_path / "warehouse"), str(tmp_path / "in" / "w.warc"), pages=[row, other])
    assert original_of(made, HERE).block == http(b"<p>x</p>")
    with pytest.raises(NotInSnapshotError, match=r"was read from a\.html, which is no archive"):
        original_of(made, other["url"])


def test_a_citation_leads_to_its_page_and_the_record_in_the_archive(tmp_path: Path) -> None:
    text = "The tide turned.\nHigh water is at nine. The tide turned."
    page = b"<p>The tide turned.</p><p>High water is <i>at nine</i>. The tide turned.</p>"
    put(tmp_path / "in" / "w.warc", warc((HERE, http(page), "2024-05-06T00:00:00Z"))[0])
    chunk = {"doc_id": "d:1", "token_count": 4, "vector": [0.0] * 384}
    spans = enumerate([(0, 16), (17, 39), (30, 56)])
    rows: dict[str, Rows] = {
        "pages": [{"url": HERE, "body": page, "warc_file": "w.warc", "warc_offset": 0, "content_type": "text/html"}],
        "documents": [{"doc_id": "d:1", "page_url": HERE, "text": text}],
        "chunks": [{"chunk_id": f"d:1-{n}", "start": start, "end": end} | chunk for n, (start, end) in spans],
    }
    made = snapshot_of(Warehouse.create(tmp_path / "warehouse"), str(tmp_path / "in"), **rows)
    found = show(made, "citation", "d:1:17-39")
    assert found["row"]["quote"] == "High water is at nine."
    assert found["row"]["sentences"] == ["High water is at nine."]
    assert (found["from"]["chunk"], found["from"]["page"]) == (["d:1-1", "d:1-2"], HERE)
    assert (found["from"]["archive"], found["from"]["offset"]) == (str(tmp_path / "in" / "w.warc"), 0)
    assert found["from"]["markup"] == "High water is <i>at nine</i>."
    assert show(made, "citation", "d:1:40-56")["from"]["characters"] == "56 to 72"
    for wrong, why in (("d:1:40-99", "has 56 characters"), ("d:1:5-5", "56 characters"), ("d:1", "DOC_ID:START-END")):
        with pytest.raises(NotInSnapshotError, match=why):
            show(made, "citation", wrong)


def test_a_citation_of_a_table_names_its_line_and_no_character_of_the_file(tmp_path: Path) -> None:
    text = "High water is at nine."
    page = {"url": "doc:d:1", "body": b'{"text": "High water is at nine."}', "content_type": "application/json"}
    document = {"doc_id": "d:1", "page_url": "doc:d:1", "text": text}
    for file, said in (("tides.csv", "line"), ("tides.parquet", "row")):
        pages = [page | {"source_file": file, "warc_offset": 7}]
        made = snapshot_of(Warehouse.create(tmp_path / said), "in", pages=pages, documents=[document], chunks=[])
        found = show(made, "citation", "d:1:0-10")["from"]
        assert (found["file"], found[said]) == (file, 7)
        assert found["characters of the row"] == "10 to 20"
        assert "characters" not in found


def snapshot_of(warehouse: Warehouse, source: str, **rows: Rows) -> Snapshot:
    """A snapshot of rows that were made of `source`."""
    names = dict.fromkeys(("pages", "documents", "rejects", *rows))
    return publish(warehouse, "b", {TABLES[name]: rows.get(name, []) for name in names}, source=source)
