from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.served.search_server import SearchServer, SearchServerError
from quern.pipelines import export as exporting
from quern.pipelines.export import Exported, export
from quern.schemas.tables import CHUNKS, DOCUMENTS
from tests.conftest import Quern
from tests.proxies import Answer, Proxy, as_json
from tests.tables import publish as publish_rows

ALIAS = "quern-tests"
TEXTS = {f"d{n}": f"The lighthouse number {n} burns oil." for n in range(200)}


def publish(warehouse: Warehouse, build_id: str, texts: Mapping[str, str], site: str = "a.example") -> None:
    """A snapshot of documents with one chunk each."""
    rows = {
        DOCUMENTS: [
            {"doc_id": d, "page_url": d, "url": d, "site": site, "text": t, "digest": t} for d, t in texts.items()
        ],
        CHUNKS.with_dimension(4): [
            {"chunk_id": f"{d}-0", "doc_id": d, "text": t, "terms": t.lower(), "vector": vector(t)}
            for d, t in texts.items()
        ],
    }
    publish_rows(warehouse, build_id, rows)


def vector(text: str) -> list[float]:
    drawn = np.random.default_rng(len(text) + sum(text.encode())).normal(size=4)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32).tolist()


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    made = Warehouse.create(tmp_path / "wh")
    publish(made, "1", TEXTS)
    return made


def exported(warehouse: Warehouse, server: SearchServer) -> Exported:
    return export(warehouse, warehouse.snapshot(), "chunks", server, ALIAS)


def held(server: SearchServer) -> dict[str, dict[str, Any]]:
    """The documents that the alias leads to."""
    found = server.call("POST", f"/{ALIAS}/_search", {"size": 1000, "query": {"match_all": {}}})
    return {hit["_id"]: hit["_source"] for hit in found["hits"]["hits"]}


def test_an_export_publishes_every_row_as_it_is_and_a_second_sends_nothing(
    warehouse: Warehouse, server: SearchServer, proxy: Proxy
) -> None:
    done = exported(warehouse, server)
    assert (done.sent, done.base) == (200, None)
    rows = held(server)
    assert {key: row["text"] for key, row in rows.items()} == {f"{d}-0": t for d, t in TEXTS.items()}
    assert rows["d7-0"]["site"] == "a.example"
    assert np.float32(rows["d7-0"]["vector"]).tolist() == vector(TEXTS["d7"]), "to the last bit"
    proxy.asked.clear()
    again = exported(warehouse, server)
    assert (again.sent, again.deleted, again.index, proxy.documents()) == (0, 0, done.index, 0)


def test_of_a_later_snapshot_only_what_changed_is_sent_to_a_copy(
    warehouse: Warehouse, server: SearchServer, proxy: Proxy, copying: None
) -> None:
    first = exported(warehouse, server)
    proxy.asked.clear()
    publish(warehouse, "2", {**TEXTS, "d7": "The lighthouse number 7 is electric.", "new": "A buoy."})
    publish(warehouse, "3", {k: v for k, v in {**TEXTS, "d7": "Electric now.", "new": "A buoy."}.items() if k != "d9"})
    done = exported(warehouse, server)
    assert (done.sent, done.deleted, done.base, proxy.documents()) == (2, 1, "1", 3)
    rows = held(server)
    assert len(rows) == 200
    assert (rows["d7-0"]["text"], rows["new-0"]["text"], "d9-0" in rows) == ("Electric now.", "A buoy.", False)
    proxy.asked.clear()
    assert export(warehouse, warehouse.snapshot("1"), "chunks", server, ALIAS).index == first.index
    assert held(server)["d7-0"]["text"] == TEXTS["d7"], "back to the snapshot before"
    assert exported(warehouse, server).index == done.index, "and forward again"
    assert proxy.documents() == 0


def test_a_change_of_a_document_that_its_chunks_tell_is_sent(warehouse: Warehouse, server: SearchServer) -> None:
    exported(warehouse, server)
    publish(warehouse, "2", TEXTS, site="b.example")
    assert exported(warehouse, server).sent == 200
    assert held(server)["d7-0"]["site"] == "b.example"


def test_the_index_before_is_kept_and_those_before_it_are_deleted(warehouse: Warehouse, server: SearchServer) -> None:
    names = [exported(warehouse, server).index]
    for build_id in ("2", "3"):
        publish(warehouse, build_id, {**TEXTS, "d1": build_id})
        names.append(exported(warehouse, server).index)
    assert sorted(server.indexes(ALIAS)) == names[1:]


def test_an_interrupted_export_goes_on_and_until_then_the_alias_stays(
    warehouse: Warehouse, server: SearchServer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_REQUEST_DOCUMENTS", 50)
    exported(warehouse, server)
    publish(warehouse, "2", {d: f"{t} Still." for d, t in TEXTS.items()})
    proxy.asked.clear()
    proxy.rule = lambda method, path, body: as_json({}, 500) if b'"d100-0"' in body else None
    with pytest.raises(SearchServerError, match="HTTP 500"):
        exported(warehouse, server)
    assert held(server)["d7-0"]["text"] == TEXTS["d7"]
    sent = proxy.documents() - 50  # One request was not answered.
    proxy.rule = lambda *_: None
    done = exported(warehouse, server)
    assert done.sent == 200 - sent
    assert sent > 0
    assert f"{sent} of 200 changes were confirmed before" in done.notes[0]
    assert held(server)["d100-0"]["text"].endswith("Still.")


@pytest.mark.parametrize("at", ["/_clone/", "_cluster/health", "/_mapping", "/_settings", "/_aliases", "/_refresh"])
def test_wherever_an_export_ends_the_next_one_completes_it(
    at: str, warehouse: Warehouse, server: SearchServer, proxy: Proxy, copying: None
) -> None:
    exported(warehouse, server)
    publish(warehouse, "2", {**TEXTS, "d7": "Electric now."})

    def after(method: str, path: str, body: bytes) -> Answer:
        last = next((p for _, p, _ in reversed(proxy.asked[:-1])), "")
        return as_json({}, 500) if at in last else None

    proxy.asked.clear()
    proxy.rule = after
    with pytest.raises(SearchServerError, match="HTTP 500"):
        exported(warehouse, server)
    proxy.rule = lambda *_: None
    exported(warehouse, server)
    assert held(server)["d7-0"]["text"] == "Electric now."


def test_a_refused_document_is_told_and_nothing_is_published(
    warehouse: Warehouse, server: SearchServer, proxy: Proxy, copying: None
) -> None:
    exported(warehouse, server)
    publish(warehouse, "2", {**TEXTS, "d" * 600: "Its id is longer than the server takes."})
    items = [{"index": {"_id": "d", "status": 400, "error": {"reason": "id is too long"}}}]
    proxy.rule = lambda method, path, body: as_json({"items": items}) if path.endswith("_bulk") else None
    with pytest.raises(SearchServerError, match="1 of 1 documents sent are refused, the first, d: id is too long"):
        exported(warehouse, server)
    assert len(held(server)) == 200


def test_all_is_sent_where_there_is_nothing_to_compare_with(
    warehouse: Warehouse, server: SearchServer, tmp_path: Path, copying: None
) -> None:
    exported(warehouse, server)
    other = Warehouse.create(tmp_path / "other")
    publish(other, "2", TEXTS)
    done = exported(other, server)
    assert done.sent == 200
    assert "snapshot 1, which" in done.notes[0]
    server.call("PUT", f"/{done.index}/_settings", {"index.blocks.write": None})
    server.bulk(done.index, [("d7-0", b"")])
    publish(other, "3", TEXTS)
    again = exported(other, server)
    assert again.sent == 200
    assert "has 199 documents, and 200 were exported" in again.notes[0]


def test_a_server_that_copies_no_index_is_sent_all(warehouse: Warehouse, server: SearchServer, proxy: Proxy) -> None:
    exported(warehouse, server)
    publish(warehouse, "2", {**TEXTS, "d7": "Electric now."})
    proxy.rule = lambda method, path, body: as_json({"error": "no handler"}, 405) if "_clone" in path else None
    done = exported(warehouse, server)
    assert (done.sent, done.base) == (200, None)
    assert "all documents are sent: the server makes no copy (HTTP 405)" in done.notes
    assert held(server)["d7-0"]["text"] == "Electric now."


def test_an_index_of_another_program_is_left_alone(
    warehouse: Warehouse, server: SearchServer, quern_here: Quern
) -> None:
    server.call("PUT", f"/{ALIAS}", {"mappings": {"properties": {"mine": {"type": "keyword"}}}})
    told = quern_here(
        *("export", "--to", server.kind, "--url", server.settings.url, "-w", warehouse.root, "--index", ALIAS)
    )
    assert told.returncode == 2
    assert "another program made the index quern-tests, which is left as it is" in told.stderr
    assert "mine" in json.dumps(server.call("GET", f"/{ALIAS}/_mapping"))


def test_the_command_says_what_it_did(warehouse: Warehouse, server: SearchServer, quern_here: Quern) -> None:
    asked = ("export", "--to", server.kind, "--url", server.settings.url, "-w", warehouse.root, "--index", ALIAS)
    told = quern_here(*asked)
    assert told.returncode == 0, told.stderr
    assert "200 documents of snapshot 1" in told.stdout
    assert json.loads(quern_here(*asked, "--json").stdout)["sent"] == 0
    assert "there is no exportable table 'edges'" in quern_here(*asked, "--table", "edges").stderr
    assert quern_here(*asked, "--table", "documents").returncode == 0
