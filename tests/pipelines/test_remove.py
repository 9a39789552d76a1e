"""Removing documents: they are gone from every table, come back only when they changed, and can be purged."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import lancedb
import pyarrow.parquet as pq

from quern.indexes.catalog import Warehouse
from quern.indexes.memo_parts import PartFile
from quern.pipelines.pages.store import page_store
from quern.schemas.tables import TABLES
from tests.conftest import Quern
from tests.jobs.pages.archived import http, put, warc

LOCAL = ("--engine", "local", "--set", "audit.max_shrink=1")
SECRET = "Zyxomma"
TEXTS = {
    "weir": f"The weir at Tarn was repaired by {SECRET} Lund in May 2024, who was paid 740 crowns.",
    "lock": "The lock at Sedge opens at seven in the morning and closes at nine in the evening.",
    "ferry": "The ferry to Brannock leaves the north quay every hour and costs four crowns.",
}


def page(title: str, text: str, head: str = "") -> bytes:
    more = "It is open to all who come by on foot or on a bicycle, on every day of the year but the first of May."
    body = f"<article><h1>{title}</h1><p>{text}</p><p>{more}</p></article>"
    return f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>".encode()


def lines(path: Path, texts: dict[str, str], **fields: str) -> Path:
    rows = [json.dumps({"doc_id": doc_id, "text": text, **fields}) for doc_id, text in texts.items()]
    return put(path, "\n".join(rows).encode())


def rows(warehouse: Path, table: str) -> list[dict[str, object]]:
    return [row for b in Warehouse.open(warehouse).snapshot().stage(table).batches() for row in b.to_pylist()]


def ids(warehouse: Path) -> set[object]:
    return {row["doc_id"] for row in rows(warehouse, "documents")}


def contents(root: Path) -> Iterator[tuple[str, str]]:
    """All that a warehouse holds: the bytes of its files, and the rows of those that are compressed."""
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        raw = path.read_bytes()
        yield str(path), raw.decode("latin-1")
        if path.suffix == ".parquet":
            yield str(path), repr(pq.read_table(path).to_pylist())
        elif path.suffix == ".arrow":
            part = PartFile(path)
            yield str(path), repr([part.block(n).to_pylist() for n in range(part.blocks)])
        elif path.suffix == ".gz":
            yield str(path), gzip.decompress(raw).decode("latin-1")
    served = lancedb.connect(root / "lance")
    for name in served.list_tables().tables:
        yield f"{name}.lance", repr(served.open_table(name).to_arrow().to_pylist())


def places_of(root: Path, word: str) -> set[str]:
    """Where a word stands in a warehouse."""
    return {place for place, content in contents(root) if word.lower() in content.lower()}


def test_a_purged_document_is_nowhere_in_the_warehouse(tmp_path: Path, quern_here: Quern) -> None:
    warehouse, url = tmp_path / "wh", "https://tarn.example/weir"
    assert quern_here("ingest", lines(tmp_path / "d.jsonl", TEXTS), "-w", warehouse).returncode == 0
    captures = [
        (url, http(page("Weir", f"The old weir was painted by {SECRET} Lund.")), "2024-05-01T00:00:00Z"),
        (url, http(page("Weir", f"The weir was painted again by {SECRET} Lund in June.")), "2024-06-01T00:00:00Z"),
        ("https://tarn.example/inn", http(page("Inn", "The inn has nine rooms and a garden.")), "2024-05-01T00:00:00Z"),
    ]
    archive = put(warehouse / "warc" / "c.warc.gz", b"".join(map(gzip.compress, warc(*captures))))
    size = archive.stat().st_size
    assert quern_here("ingest", archive, "-w", warehouse).returncode == 0
    for settings in ((), ("--set", "chunk.tokens=60")):
        assert quern_here("build", "-w", warehouse, *LOCAL, *settings).returncode == 0
    assert SECRET in quern_here("ask", "-w", warehouse, "Who repaired the weir at Tarn?").stdout
    assert len(places_of(warehouse, SECRET)) > 10
    done = quern_here("remove", "weir", url, "-w", warehouse, "--purge", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == [str(tmp_path / "d.jsonl")]
    assert json.loads(done.stdout)["kept"] == []
    built = quern_here("build", "-w", warehouse, *LOCAL)
    assert built.returncode == 0, built.stderr
    assert places_of(warehouse, SECRET) == set()
    assert len(rows(warehouse, "documents")) == 3
    assert archive.stat().st_size == size
    assert "nine rooms" in quern_here("show", "page", "https://tarn.example/inn", "-w", warehouse, "--raw").stdout
    assert quern_here("verify", "-w", warehouse).returncode == 0
    assert page_store(Warehouse.open(warehouse)).removals().purge_since is None
    # The file is read again, for another document in it changed: what was purged stays away.
    lines(tmp_path / "d.jsonl", TEXTS | {"ferry": "The ferry to Brannock costs five crowns from June on."})
    assert quern_here("ingest", tmp_path / "d.jsonl", archive, "-w", warehouse).returncode == 0
    assert places_of(warehouse, SECRET) == set()


def test_a_removed_document_is_gone_until_it_is_ingested_with_other_content(tmp_path: Path, quern_here: Quern) -> None:
    warehouse, folder = tmp_path / "wh", tmp_path / "in"
    for name, text in TEXTS.items():
        put(folder / f"{name}.md", f"# {name}\n\n{text}\n".encode())
    assert quern_here("ingest", folder, "-w", warehouse).returncode == 0
    assert quern_here("build", "-w", warehouse, *LOCAL).returncode == 0
    before = ids(warehouse)
    dry = quern_here("remove", "file:///weir.md", "-w", warehouse, "--dry-run")
    assert "would be removed" in dry.stdout
    assert "file:///weir.md" in dry.stdout
    assert not page_store(Warehouse.open(warehouse)).removals().marks
    refused = quern_here("remove", "file:///weir.md", "nowhere", "-w", warehouse)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "has no document nowhere: nothing was removed" in refused.stderr
    assert quern_here("remove", "file:///weir.md", "-w", warehouse).returncode == 0
    planned = json.loads(quern_here("plan", "-w", warehouse, "--json").stdout)
    assert {s["removed"] for s in planned["steps"] if s["name"] in ("ingest", "clean", "deduplicate")} == {1}
    assert {s["compute"] for s in planned["steps"] if s["name"] in ("deduplicate", "embed_chunks", "link")} == {0}
    assert quern_here("build", "-w", warehouse, *LOCAL).returncode == 0
    assert [name for name, table in TABLES.items() if table.pinned and SECRET in repr(rows(warehouse, name))] == []
    assert "does not say" in quern_here("ask", "-w", warehouse, "Who repaired the weir at Tarn?").stdout
    assert quern_here("remove", "file:///weir.md", "-w", warehouse).returncode == 1
    (folder / "weir.md").touch()
    assert quern_here("ingest", folder, "-w", warehouse).returncode == 0
    assert quern_here("build", "-w", warehouse, *LOCAL).returncode == 0
    assert "file:///weir.md" not in {row["url"] for row in rows(warehouse, "pages")}
    put(folder / "weir.md", f"# weir\n\n{TEXTS['weir']} It holds.\n".encode())
    assert quern_here("ingest", folder, "-w", warehouse).returncode == 0
    assert quern_here("build", "-w", warehouse, *LOCAL).returncode == 0
    assert ids(warehouse) == before


def test_all_pages_of_a_document_are_removed_by_a_condition_and_from_a_folder_that_is_built(
    tmp_path: Path, quern_here: Quern
) -> None:
    warehouse, host = tmp_path / "wh", tmp_path / "in" / "tides.example"
    head = '<link rel="canonical" href="https://tides.example/weir.html">'
    put(host / "weir.html", page("Weir", TEXTS["weir"], head))
    put(host / "print.html", page("Weir", f"Printed: {TEXTS['weir']}", head))
    put(host / "lock.html", page("Lock", TEXTS["lock"]))
    put(tmp_path / "in" / "notes.txt", TEXTS["ferry"].encode())
    assert quern_here("build", tmp_path / "in", "-w", warehouse, *LOCAL).returncode == 0
    for wrong, code in (
        (["--where", "title=Weirs"], 1),
        (["--where", "title=Weir' or 1=1"], 2),
        (["--where", "token_count<100"], 2),
        (["--where", "titel=Weir"], 2),
        (["--where", "title"], 2),
        (["weir", "--where", "title=Weir"], 2),
        ([], 2),
    ):
        assert quern_here("remove", "-w", warehouse, *wrong).returncode == code, wrong
    where = ("--where", "site=tides.example", "--where", "title=Weir")
    removed = json.loads(quern_here("remove", "-w", warehouse, *where, "--json").stdout)
    assert removed["pages"] == ["https://tides.example/print.html", "https://tides.example/weir.html"]
    assert quern_here("build", tmp_path / "in", "-w", warehouse, *LOCAL).returncode == 0
    assert {row["url"] for row in rows(warehouse, "pages")} == {"https://tides.example/lock.html", "file:///notes.txt"}
    assert SECRET not in repr(rows(warehouse, "documents"))


def test_a_removal_is_taken_back_by_id_address_or_condition_unless_it_was_purged(
    tmp_path: Path, quern_here: Quern
) -> None:
    warehouse, table = tmp_path / "wh", lines(tmp_path / "d.jsonl", TEXTS, site="tarn.example")
    remove, build = ("remove", "-w", warehouse), ("build", "-w", warehouse, *LOCAL)
    assert quern_here("ingest", table, "-w", warehouse).returncode == 0
    assert quern_here(*build).returncode == 0
    for target, removed in (("weir", ("weir", "lock")), ("doc:weir", ("weir",))):
        assert quern_here(*remove, *removed).returncode == 0
        assert quern_here(*build).returncode == 0
        lines(table, TEXTS | {f"{target[:3]}-new": "The inn at Tarn has nine rooms."}, site="tarn.example")
        assert quern_here("ingest", table, "-w", warehouse).returncode == 0  # Pages of the new file are removed too.
        assert not {"weir", "lock"} & ids(warehouse)
        dry = quern_here(*remove, target, "--undo", "--dry-run")
        assert (dry.returncode, dry.stdout.splitlines()[0]) == (0, "would be restored:")
        refused = quern_here(*remove, target, "ferry", "--undo")
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert "has no removed document ferry: it was never removed, or it was purged" in refused.stderr
        assert json.loads(quern_here(*remove, target, "--undo", "--json").stdout)["pages"] == ["doc:weir"]
        assert quern_here(*build).returncode == 0
        assert {"weir", "lock"} & ids(warehouse) == {"weir"}
    restored = json.loads(quern_here(*remove, "--where", "site=tarn.example", "--undo", "--json").stdout)
    assert restored["pages"] == ["doc:lock"]
    assert quern_here(*remove, "--where", "site=tarn.example", "--undo").returncode == 1
    assert quern_here(*build).returncode == 0
    assert ids(warehouse) >= set(TEXTS)
    assert quern_here(*remove, "weir", "--undo", "--purge").returncode == 2
    assert quern_here(*remove, "weir", "--purge").returncode == 0
    for _ in range(2):  # Also while snapshots still have its text.
        assert "purged" in quern_here(*remove, "weir", "--undo").stderr
        assert quern_here(*build).returncode == 0
    assert "weir" not in ids(warehouse)


def test_copies_of_a_removed_document_are_named(tmp_path: Path, quern_here: Quern) -> None:
    warehouse = tmp_path / "wh"
    table = lines(tmp_path / "d.jsonl", TEXTS | {"copy": TEXTS["weir"]})
    assert quern_here("build", table, "-w", warehouse, *LOCAL).returncode == 0
    told = quern_here("remove", "weir", "-w", warehouse, "--dry-run").stdout
    assert "1 documents that repeat them stay: copy" in told


def test_what_a_reader_has_open_is_purged_when_that_ended(tmp_path: Path, quern_here: Quern) -> None:
    warehouse = tmp_path / "wh"
    table = lines(tmp_path / "d.jsonl", TEXTS)
    assert quern_here("build", table, "-w", warehouse, *LOCAL).returncode == 0
    reader = Warehouse.open(warehouse).snapshot()
    assert quern_here("remove", "weir", "-w", warehouse, "--purge").returncode == 0
    assert quern_here("build", table, "-w", warehouse, *LOCAL).returncode == 0
    assert {row for b in reader.table("documents").batches(["doc_id"]) for row in b["doc_id"].to_pylist()} == set(TEXTS)
    assert places_of(warehouse, SECRET)
    del reader
    assert quern_here("vacuum", "-w", warehouse).returncode == 0
    assert not places_of(warehouse, SECRET)
