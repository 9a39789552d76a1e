"""The page store: what is read once, what is read again, and that no reader sees half of it."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from quern.indexes.catalog import Warehouse
from quern.indexes.checksums import DamagedError, read_sealed, write_sealed
from quern.indexes.page_store import PageStore, PageStoreError
from quern.jobs.core.run import Run
from quern.jobs.pages import reading
from quern.jobs.pages.inputs import IngestError
from quern.pipelines.api import looking
from quern.pipelines.inspect.rejects import Wanted, summary
from quern.pipelines.pages.ingest import IngestReport, add_pages
from quern.pipelines.pages.store import page_store
from quern.schemas.addresses import page_source
from quern.schemas.settings import IngestSettings
from quern.schemas.settings.reading import load_settings
from tests.conftest import CORPUS, Quern, read_pages
from tests.jobs.pages.archived import HTML, http, put, warc

WHEN = "2024-05-06T00:00:00Z"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "warehouse")


def archive(path: Path, names: list[str], when: str = WHEN, body: bytes = HTML) -> Path:
    records = warc(*((f"http://x.example/{name}", http(body), when) for name in names))
    return put(path, b"".join(gzip.compress(r) if path.suffix == ".gz" else r for r in records))


def add(warehouse: Warehouse, *sources: str | Path, engine: str = "local", **settings: int) -> IngestReport:
    overrides = [f"engine.engine={engine}", *(f"ingest.{k}={v}" for k, v in settings.items())]
    return add_pages(warehouse, [page_source(s) for s in sources], load_settings(None, overrides))


def held(store: PageStore, *columns: str) -> list[tuple[Any, ...]]:
    """The named columns of the pages in effect."""
    batches = [b for part in store.parts() for b in part.batches("pages", list(columns))]
    return [tuple(row.values()) for b in batches for row in b.to_pylist()]


def rejected(store: PageStore) -> list[tuple[str, str]]:
    """Reason and key of the rejects in effect."""
    batches = [b for part in store.parts() for b in part.batches("rejects")]
    return sorted((r["reason"], r["key"]) for b in batches for r in b.to_pylist())


def test_a_file_whose_name_is_no_text_is_read_and_named_with_escapes(warehouse: Warehouse, tmp_path: Path) -> None:
    put(Path(os.fsdecode(os.fsencode(tmp_path / "in") + b"/b\xff\xfe.html")), HTML)
    assert add(warehouse, tmp_path / "in").pages == 1
    assert add(warehouse, tmp_path / "in").reused == 1
    assert held(page_store(warehouse), "source_file") == [(f"{tmp_path}/in/b\\xff\\xfe.html",)]


def test_the_first_reject_is_told_and_no_warning(warehouse: Warehouse, tmp_path: Path) -> None:
    put(tmp_path / "a.csv", b"doc_id,text,published_at\n1,Tea at four.,soon\n")
    report = add(warehouse, tmp_path / "a.csv")
    assert (report.first_reject, report.rejects, report.warnings) == ("", 0, 1)
    assert "a.csv:2: bad_date" in report.first_warning
    assert "rejected=0 warned=1 " in report.line()
    put(tmp_path / "a.csv", b"doc_id,text,published_at\n1,Tea at four.,soon\n2,Tea at five.,soon\n")
    mapped = load_settings(None, ["engine.engine=local", 'ingest.map=["title=Betreff"]'])
    report = add_pages(warehouse, [tmp_path / "a.csv"], mapped)
    assert report.reasons == {"bad_date": 2, "missing_column": 1}
    assert 'no column "Betreff", which --map names as title' in report.first_warning
    put(tmp_path / "b.csv", b"id;body\n1;Tea at four.\n")
    assert 'its columns are "id", "body": name what holds it' in add(warehouse, tmp_path).first_reject


def test_the_most_frequent_reject_is_told(warehouse: Warehouse, tmp_path: Path) -> None:
    rows = ["1,Tea,soon,x", "2,Salt,later", "3,,", "4,,", "1,Tea again,", "2,Salt again,"]
    path = put(tmp_path / "d.csv", "\n".join(["doc_id,text,published_at", *rows]).encode())
    assert "d.csv:4: missing_field" in add(warehouse, path).first_reject
    assert summary(page_store(warehouse), Wanted(reason="bad_date")) == [
        {"job": "ingest", "reason": "bad_date", "count": 1, "share": 1 / 6, "warning": True}
    ]


def test_an_unchanged_file_is_not_read_again_and_a_changed_one_replaces_its_rows(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    first, second = (archive(tmp_path / "in" / f"{n}.warc.gz", [f"{n}1", f"{n}2"]) for n in "ab")
    assert add(warehouse, tmp_path / "in").pages == 4
    again = add(warehouse, tmp_path / "in")
    assert (again.files, again.reused, again.pages, again.engine) == (2, 2, 0, "none")
    archive(second, ["b3"], body=HTML * 2)
    report = add(warehouse, first, second)
    assert (report.files, report.reused, report.pages) == (2, 1, 1)
    store = page_store(warehouse)
    assert sorted(held(store, "url")) == [(f"http://x.example/{n}",) for n in ("a1", "a2", "b3")]
    on_disk = {p.name.split(".")[0] for p in store.directory.glob("*.parquet")}
    assert on_disk == {part.name for part in store.parts()}


def test_documents_are_read_again_by_another_version_of_what_reads_their_dates_and_pages_are_not(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    archive(tmp_path / "in" / "a.warc.gz", ["a"])
    (tmp_path / "in" / "d.jsonl").write_text('{"doc_id": "d", "text": "Tea at four.", "published_at": "3 mayo 2024"}\n')
    assert add(warehouse, tmp_path / "in").reused == 0
    assert add(warehouse, tmp_path / "in").reused == 2
    monkeypatch.setattr(reading, "libraries", lambda: {"dateparser": "0"})
    again = add(warehouse, tmp_path / "in")
    assert (again.files, again.reused, again.pages) == (2, 1, 1)


def read(warehouse: Warehouse, run: Run) -> dict[str, bytes]:
    """The body of each page that a build of the page store makes."""
    stage = read_pages(page_store(warehouse), load_settings(None, []).ingest, run)
    return {r["url"]: r["body"] for b in stage.batches(["url", "body"]) for r in b.to_pylist()}


def document(path: Path, text: str, modified: str = "", changed: int = 0) -> Path:
    stated = {"last_edit": modified} if modified else {}
    put(path, json.dumps({"doc_id": "tide", "text": text, **stated}).encode())
    os.utime(path, ns=(changed, changed))
    return path


def test_the_version_that_was_ingested_last_stays_whatever_its_file_is_called(
    warehouse: Warehouse, tmp_path: Path, run: Run
) -> None:
    add(warehouse, document(tmp_path / "z.jsonl", "High water is at nine."))
    add(warehouse, document(tmp_path / "a.jsonl", "High water is at ten."))
    add(warehouse, tmp_path / "z.jsonl")  # It is held unchanged, and so not ingested again.
    assert b"ten" in read(warehouse, run)["doc:tide"]
    document(tmp_path / "z.jsonl", "High water is at noon.", changed=4_000_000_000)
    again = Warehouse.create(tmp_path / "again")
    add(again, tmp_path / "z.jsonl", tmp_path / "a.jsonl")
    assert b"ten" in read(again, run)["doc:tide"]  # Within one ingest the first file's stays, whenever it was changed.
    add(warehouse, tmp_path / "z.jsonl")
    assert b"noon" in read(warehouse, run)["doc:tide"]


@pytest.mark.parametrize("ending", [".json", ".pages.parquet"])
def test_what_is_read_again_after_damage_keeps_its_place_among_versions_and_its_address(
    warehouse: Warehouse, tmp_path: Path, run: Run, ending: str
) -> None:
    add(warehouse, document(tmp_path / "z.jsonl", "High water is at nine."), put(tmp_path / "in" / "a.html", HTML))
    (part,) = page_store(warehouse).parts()
    add(warehouse, document(tmp_path / "a.jsonl", "High water is at ten."), put(tmp_path / "also" / "a.html", HTML * 2))
    before = read(warehouse, run)
    assert b"ten" in before["doc:tide"]
    (part.directory / f"{part.name}{ending}").write_bytes(b"{}")
    sources = (tmp_path / "also", tmp_path / "in", tmp_path / "z.jsonl", tmp_path / "a.jsonl")
    assert add(warehouse, *sources).reused == 2
    assert read(warehouse, run) == before
    document(tmp_path / "z.jsonl", "High water is at noon.", changed=10**9)
    add(warehouse, *sources)
    assert b"noon" in read(warehouse, run)["doc:tide"], "a file that changed is a later version"


def damage(warehouse: Warehouse, file: str = "") -> None:
    """Damage the records of all parts that hold a file whose name ends so."""
    for part in page_store(warehouse).parts():
        if any(claim.file.endswith(file) for claim in part.claims):
            (part.directory / f"{part.name}.json").write_bytes(b"{}")


def test_files_of_one_name_keep_their_addresses_however_often_their_parts_are_damaged(
    warehouse: Warehouse, tmp_path: Path, run: Run
) -> None:
    first, also = tmp_path / "in", tmp_path / "also"
    put(first / "a.html", HTML)
    add(warehouse, first)
    put(also / "a.html", HTML * 2)
    add(warehouse, also)
    before = read(warehouse, run)
    for _ in range(2):  # The first time both parts become one.
        damage(warehouse)
        add(warehouse, also, first)
        assert read(warehouse, run) == before
    put(first / "a.html", HTML * 3)  # The owner of the short address has a later version than the other now.
    add(warehouse, first)
    before = read(warehouse, run)
    damage(warehouse)
    add(warehouse, also)
    add(warehouse, first)
    assert read(warehouse, run) == before
    (first / "a.html").unlink()
    damage(warehouse, "also/a.html")
    add(warehouse, also)
    assert read(warehouse, run) == before


def test_sources_of_one_ingest_keep_their_order_where_only_the_damaged_file_is_read_again(
    warehouse: Warehouse, tmp_path: Path, run: Run
) -> None:
    later = document(tmp_path / "z.jsonl", "High water is at nine.")
    earlier = document(tmp_path / "a.jsonl", "High water is at ten.", changed=10**12)
    a_part_each = load_settings(None, ["engine.engine=local", "ingest.task_bytes=1"])
    add_pages(warehouse, [earlier, later], a_part_each)
    assert b"nine" in read(warehouse, run)["doc:tide"]
    for _ in range(2):
        damage(warehouse, "z.jsonl")
        add_pages(warehouse, [later], a_part_each)
        assert b"nine" in read(warehouse, run)["doc:tide"]


def test_a_damaged_part_of_a_file_that_was_deleted_is_mended_by_a_sync(
    warehouse: Warehouse, tmp_path: Path, run: Run
) -> None:
    for name in "abc":
        put(tmp_path / "in" / f"{name}.md", f"# Berth {name}".encode())
    add(warehouse, tmp_path / "in")
    (tmp_path / "in" / "a.md").unlink()
    damage(warehouse)
    report = add(warehouse, tmp_path / "in")
    assert (report.missing, report.missing_files) == (1, [f"{tmp_path}/in/a.md"])
    with pytest.raises(DamagedError, match=r"a\.md again reads those pages anew; of a folder, `--sync` drops"):
        read(warehouse, run)
    add_pages(warehouse, [tmp_path / "in"], load_settings(None, ["engine.engine=local"]), sync=True)
    assert set(read(warehouse, run)) == {"file:///b.md", "file:///c.md"}


def test_a_manifest_of_the_form_before_is_read(warehouse: Warehouse, tmp_path: Path, run: Run) -> None:
    add(warehouse, document(tmp_path / "z.jsonl", "High water is at nine."))
    add(warehouse, document(tmp_path / "a.jsonl", "High water is at ten."))
    for path in page_store(warehouse).manifests:
        manifest = read_sealed(path)
        parts = {
            name: {"files": [*part["files"]], "dropped": [], "ingest": next(iter(part["files"].values()))[1]}
            for name, part in manifest["parts"].items()
        }
        write_sealed(path, {**manifest, "format": 2, "parts": parts})
    assert b"ten" in read(warehouse, run)["doc:tide"]
    add(warehouse, document(tmp_path / "b.jsonl", "High water is at eleven."))
    assert b"eleven" in read(warehouse, run)["doc:tide"]


def test_a_stated_time_of_change_counts_before_the_order_of_ingests(
    warehouse: Warehouse, tmp_path: Path, run: Run
) -> None:
    mapped = load_settings(None, ["engine.engine=local", "ingest.map=[modified_at=last_edit]"])
    texts = {"m": ("nine", "2024-05-03T10:00+02:00"), "z": ("ten", "2024-05-03T09:00Z"), "a": ("noon", "May 2nd, 2024")}
    for name, (hour, modified) in texts.items():
        path = document(tmp_path / f"{name}.jsonl", f"High water is at {hour}.", modified)
        add_pages(warehouse, [path], mapped)
    assert b"ten" in read(warehouse, run)["doc:tide"]
    add_pages(warehouse, [document(tmp_path / "b.jsonl", "High water is at one.")], mapped)
    assert b"one" in read(warehouse, run)["doc:tide"]


def test_files_of_one_name_in_two_folders_are_two_documents_and_keep_their_addresses(
    warehouse: Warehouse, tmp_path: Path, run: Run
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        put(folder / "readme.md", f"# Readme of {folder.name}".encode())
        put(folder / "tides.example" / "a.html", HTML)  # Its address is that of a host.
    mine, other = "file:///readme.md", f"file://{two}/readme.md"
    add(warehouse, one)
    add(warehouse, two)
    assert set(read(warehouse, run)) == {mine, other, "https://tides.example/a.html"}
    for folder in (two, one, two):
        assert add(warehouse, folder).pages == 0
    put(two / "readme.md", b"# Readme of two, again")
    assert add(warehouse, two, one).pages == 1
    assert (read(warehouse, run)[mine], read(warehouse, run)[other][-5:]) == (b"# Readme of one", b"again")
    (tmp_path / "link").symlink_to(one)
    assert add(warehouse, tmp_path / "link").pages == 2
    assert len(read(warehouse, run)) == 3
    together = Warehouse.create(tmp_path / "together")
    add(together, two, one)
    assert read(together, run) == read(warehouse, run)
    # The first folder goes: the other's document keeps its address. A folder that is moved is the same one.
    (one / "readme.md").unlink()
    put(two / "readme.md", b"# Readme of two, for the third time")
    add(warehouse, two)
    assert set(read(warehouse, run)) == {mine, other, "https://tides.example/a.html"}
    two.rename(tmp_path / "moved")
    put(tmp_path / "moved" / "readme.md", b"# Readme, moved")
    moved = Warehouse.create(tmp_path / "fourth")
    put(two / "readme.md", b"# Readme of two")
    add(moved, two)
    (two / "readme.md").unlink()
    add(moved, tmp_path / "moved")
    assert read(moved, run)[mine] == b"# Readme, moved"


def test_what_is_missing_from_a_folder_is_told_and_removed_when_it_is_synced(
    warehouse: Warehouse, tmp_path: Path, quern_here: Quern, run: Run
) -> None:
    folder = tmp_path / "in"
    for name in "abcdef":
        put(folder / f"{name}.md", f"# Berth {name}".encode())
    put(tmp_path / "other.md", b"# Elsewhere")
    add(warehouse, folder, tmp_path / "other.md")
    (folder / "a.md").unlink()
    (folder / "b.md").rename(folder / "g.md")
    told = quern_here("ingest", folder, "-w", warehouse.root).stdout
    assert f"2 documents of earlier ingests are missing now ({folder}/a.md, {folder}/b.md): they stay, --sync" in told
    assert len(read(warehouse, run)) == 8
    synced = json.loads(quern_here("ingest", folder, "-w", warehouse.root, "--sync", "--json").stdout)
    assert (synced["removed"], synced["missing"]) == (2, 0)
    assert set(read(warehouse, run)) == {f"file:///{name}.md" for name in ("c", "d", "e", "f", "g", "other")}
    for name in "cdef":
        (folder / f"{name}.md").unlink()
    refused = quern_here("ingest", folder, "-w", warehouse.root, "--sync")
    assert refused.returncode == 2
    assert "remove 4 of the 5 documents" in refused.stderr
    assert "audit.max_shrink (0.5)" in refused.stderr
    (folder / "g.md").unlink()
    for gone in (False, True):
        if gone:
            folder.rmdir()
        refused = quern_here("ingest", folder, "-w", warehouse.root, "--sync")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert len(read(warehouse, run)) == 6
    assert quern_here("ingest", folder, "-w", warehouse.root, "--sync", "--yes").returncode == 0
    assert set(read(warehouse, run)) == {"file:///other.md"}
    assert quern_here("ingest", folder, "-w", tmp_path / "new", "--sync", "--yes").returncode == 2
    assert not (tmp_path / "new").exists()


def test_an_archive_keeps_its_place_and_one_in_the_warehouse_a_name_that_moves_with_it(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    outside = archive(tmp_path / "out.warc.gz", ["out"])
    archive(warehouse.root / "warc" / "in.warc", ["a", "in"])
    add(warehouse, outside, str(warehouse.root / "warc" / "*.warc"))
    rows = held(page_store(warehouse), "url", "warc_file", "warc_offset")
    places = {url.rpartition("/")[2]: (file, at) for url, file, at in rows}
    assert places["out"] == (str(outside), 0)
    assert places["in"][0] == "warc/in.warc"
    assert places["in"][1] > 0


def test_an_ingest_that_was_stopped_is_not_seen_and_goes_on_where_it_was(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        archive(tmp_path / "in" / f"{n}.warc.gz", [f"{n}"])
    read: list[str] = []
    whole = reading.read_task

    def stopped(task: reading.Task, *rest: Any) -> Any:
        if len(read) == 3:
            raise KeyboardInterrupt
        read.extend(span.file.name for span in task)
        return whole(task, *rest)

    monkeypatch.setattr(reading, "read_task", stopped)
    with pytest.raises(KeyboardInterrupt):
        add(warehouse, tmp_path / "in", task_bytes=400)
    assert page_store(warehouse).parts() == []
    put(page_store(warehouse).directory / "killed.pages.parquet", b"half")
    monkeypatch.setattr(reading, "read_task", whole)
    rest: list[str] = []
    monkeypatch.setattr(
        reading, "read_task", lambda task, *r: (rest.extend(s.file.name for s in task), whole(task, *r))[1]
    )
    assert add(warehouse, tmp_path / "in", task_bytes=400).pages == 5
    assert len(read) == 3
    assert not set(read) & set(rest)
    assert len(held(page_store(warehouse), "url")) == 5
    assert not (page_store(warehouse).directory / "killed.pages.parquet").exists()


@pytest.mark.long
@pytest.mark.usefixtures("no_spark")
def test_spark_and_this_process_read_the_same(warehouse: Warehouse, tmp_path: Path, run: Run) -> None:
    source = tmp_path / "in"
    archive(source / "large.warc.gz", [f"l{n}" for n in range(60)])
    archive(source / "plain.warc", [f"p{n}" for n in range(40)])
    put(source / "docs.jsonl", b'{"doc_id": "d", "text": "t", "published_at": "soon"}\n{broken')
    put(source / "picture.png", b"\x89PNG")
    (source / "large.warc.gz").open("ab").write(b"trailing damage")
    other = Warehouse.create(tmp_path / "other")
    reports = [
        add(warehouse, source, engine="spark", task_bytes=5000),
        add(other, source, engine="local", task_bytes=7000),
    ]
    assert [r.engine for r in reports] == ["spark", "local"]
    assert reports[0].pages == reports[1].pages == 101
    settings = load_settings(None, []).ingest
    tables = [read_pages(page_store(w), settings, run).digest for w in (warehouse, other)]
    assert tables[0] == tables[1]
    rejects = [rejected(page_store(w)) for w in (warehouse, other)]
    assert rejects[0] == rejects[1]
    assert [reason for reason, _ in rejects[0]] == ["bad_date", "damaged_gzip", "invalid_json", "unknown_kind"]


def test_a_store_gives_the_pages_that_the_folder_gives(warehouse: Warehouse, run: Run) -> None:
    settings = load_settings(None, []).ingest
    read = read_pages(CORPUS / "pages", settings, run)
    bodies = sorted((r["url"], r["digest"]) for b in read.batches(["url", "digest"]) for r in b.to_pylist())
    add(warehouse, CORPUS / "pages")
    kept = read_pages(page_store(warehouse), settings, run)
    assert sorted((r["url"], r["digest"]) for b in kept.batches(["url", "digest"]) for r in b.to_pylist()) == bodies


def test_an_empty_store_and_one_in_use_are_refused(warehouse: Warehouse, tmp_path: Path, run: Run) -> None:
    store, settings = page_store(warehouse), load_settings(None, []).ingest
    with pytest.raises(IngestError, match="nothing was ingested"):
        read_pages(store, settings, run)
    with store.lock(), pytest.raises(PageStoreError, match="wait for it"):
        add(warehouse, archive(tmp_path / "a.warc", ["a"]))
    with pytest.raises(IngestError, match=r"no file matches .*\*\.warc"):
        add(warehouse, str(tmp_path / "none" / "*.warc"))


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    """A bucket of an S3 server on this machine, and the environment that leads to it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="crawl")
        yield client
    server.stop()


def test_objects_of_a_bucket_are_read_by_pattern_split_and_remembered(
    bucket: Any, warehouse: Warehouse, tmp_path: Path
) -> None:
    large = archive(tmp_path / "large.warc.gz", [f"l{n}" for n in range(50)])
    for name, file in {"2024/large.warc.gz": large, "2024/b.warc": archive(tmp_path / "b.warc", ["b"])}.items():
        bucket.upload_file(str(file), "crawl", name)
    bucket.put_object(Bucket="crawl", Key="2024/readme.zip", Body=b"PK")
    assert add(warehouse, "s3://crawl/2024/*.warc.gz", task_bytes=1500).pages == 50
    report = add(warehouse, "s3://crawl/2024/", task_bytes=1500)
    assert (report.files, report.reused, report.pages, report.rejects) == (3, 1, 1, 1)
    assert {file for (file,) in held(page_store(warehouse), "warc_file")} == {
        "s3://crawl/2024/large.warc.gz",
        "s3://crawl/2024/b.warc",
    }
    for address in ("s3://crawl/none/*.warc", "s3://no-such-bucket/a.warc"):
        with pytest.raises(IngestError, match="s3://"):
            add(warehouse, address)


def test_a_build_reads_a_bucket_as_it_reads_a_folder(bucket: Any, tmp_path: Path, run: Run, quern_here: Quern) -> None:
    pages, body = tmp_path / "pages", b"<html><body><h1>Tides</h1><p>High water at the quay is at %b.</p></body></html>"
    archive(pages / "2024" / "a.warc.gz", ["a"], body=body % b"nine in the morning, said the master of the harbour")
    put(pages / "2024" / "b" / "c.html", body % b"four in the afternoon, and the ferry to Brannock waits for it")
    for file in (p for p in pages.rglob("*") if p.is_file()):
        bucket.upload_file(str(file), "crawl", f"site/{file.relative_to(pages)}")
    address, warehouse = "s3://crawl/site/", tmp_path / "warehouse"
    read = [read_pages(source, IngestSettings(), run).digest for source in (pages, page_source(address))]
    assert read[0] == read[1]
    assert quern_here("plan", address, "-w", warehouse).returncode == 0
    built = quern_here("build", address, "-w", warehouse, "--engine", "local", "--json")
    manifest = json.loads(built.stdout)
    assert (manifest["source"], manifest["tables"]["pages"]["digest"]) == (address, read[0])
    assert looking.original("http://x.example/a", warehouse).block.startswith(b"HTTP/")
    one = f"{address}2024/a.warc.gz"
    stage = ("stage", "ingest", "--build", "20990101T0000", "-w", warehouse, "--engine", "local", "--source")
    assert [quern_here(*stage, source).returncode for source in (one, one, address)] == [0, 0, 2]
    assert quern_here("estimate", f"{address}2024/*.warc.gz").stdout.startswith("1 documents")
