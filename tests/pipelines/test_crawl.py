from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from quern.indexes.catalog import Warehouse
from quern.indexes.checksums import DamagedError, checksum_of, write_sealed
from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, derive
from quern.jobs.crawl.fleet import CrawlError
from quern.jobs.crawl.frontier import State
from quern.jobs.crawl.memory import read_only
from quern.jobs.crawl.urls import worker_of
from quern.jobs.documents.clean import Clean
from quern.jobs.pages.formats.files import page_url
from quern.jobs.pages.latest import latest_captures
from quern.pipelines.build.in_progress import lost_rejects
from quern.pipelines.cli.main import sentence
from quern.pipelines.inspect.verify import kept_files, verify
from quern.pipelines.pages.crawl import crawl, read_seeds
from quern.pipelines.pages.store import CrawlFiles, lost_pages, page_store
from quern.schemas.settings import CleanSettings, CrawlSettings, IngestSettings, Settings
from quern.schemas.tables import PAGES, REJECTS, Table
from tests.conftest import CORPUS, read_pages
from tests.disks import small_disk
from tests.jobs.crawl.site import Answer, Asked, Site, page
from tests.jobs.crawl.test_wild_site import crawl_settings, records

HTML = {"Content-Type": "text/html"}


def settings_for(hosts: set[str], site: Site, engine: str = "local", **settings: object) -> Settings:
    return crawl_settings(dict.fromkeys(sorted(hosts), site.address), engine, **settings)


def seeds_in(folder: Path, *urls: str) -> Path:
    path = folder / "seeds.txt"
    path.write_text("".join(f"{url}\n" for url in urls))
    return path


def test_a_crawl_of_the_mini_web_gives_the_documents_that_its_folder_gives(tmp_path: Path, run: Run) -> None:
    files = {page_url(p.relative_to(CORPUS / "pages")): p for p in (CORPUS / "pages").rglob("*") if p.is_file()}

    def route(asked: Asked) -> Answer:
        file = files.get(f"https://{asked.host}{asked.path}")
        if file is None:
            return Answer(status=404)
        coding = {"Content-Encoding": "gzip"} if file.suffix == ".gz" else {}
        return Answer(file.read_bytes(), headers={**HTML, **coding})

    site = Site(route, tls=tmp_path)
    hosts = {url.split("/")[2] for url in files}
    warehouse = Warehouse.create(tmp_path / "warehouse")
    report = crawl(seeds_in(tmp_path, *files), warehouse, settings_for(hosts, site, max_depth=0))
    site.close()
    assert (report.fetched, report.lost) == (len(files), {})
    made = []
    for source in (CORPUS / "pages", warehouse.root / "warc" / report.crawl_id):
        pages = read_pages(source, IngestSettings(), run)
        documents = derive(Clean(CleanSettings()), pages, run)
        made.append((pages.rows, documents.rows, documents.digest))
    assert made[0] == made[1]
    assert made[0][1] == 80


def chain_site(pages: int, pause: float = 0.0) -> Site:
    def route(asked: Asked) -> Answer:
        if not asked.path.startswith("/p"):
            return Answer(status=404)
        number = int(asked.path[2:])
        time.sleep(pause)
        return page(*(f"/p{n}" for n in (number + 1, 2 * number + 1, 3 * number) if n < pages))

    return Site(route)


def saved_pages(folder: Path) -> set[str]:
    """The pages that a crawl has finished, by what it saved."""
    path = next(folder.rglob("frontier-0.sqlite"), None)
    if path is None:
        return set()
    connection = read_only(path)
    try:
        return {u for (u,) in connection.execute("SELECT url FROM urls WHERE state = ?", (State.FETCHED,))}
    except sqlite3.OperationalError:  # It is being made, or held.
        return set()
    finally:
        connection.close()


def kill_when(site: Site, asked: int, folder: Path, finished: set[str]) -> threading.Thread:
    """Kill the crawl process, and note which pages it had finished, when the site was asked so often."""

    def kill() -> None:
        # On a busy machine pages are asked for faster than what came is saved.
        while len(site.asked) < asked or len(saved_pages(folder)) <= 20:
            time.sleep(0.01)
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # Others have ended, and nobody has waited for them yet.
                if "quern.jobs.crawl.worker" in child.cmdline():
                    os.kill(child.pid, signal.SIGKILL)
                    child.wait()
        with next(folder.rglob("*.warc.gz")).open("ab") as stream:
            stream.write(b"\x1f\x8b\x08half of a record")
        finished.update(saved_pages(folder))
        site.asked.clear()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_a_killed_process_goes_on_and_fetches_no_finished_page_twice(tmp_path: Path) -> None:
    site = chain_site(150, pause=0.005)
    finished: set[str] = set()
    warehouse = Warehouse.create(tmp_path / "warehouse")
    killer = kill_when(site, 60, tmp_path, finished)
    seeds = seeds_in(tmp_path, "http://chain.example/p0")
    report = crawl(seeds, warehouse, settings_for({"chain.example"}, site, max_depth=1000))
    killer.join()
    asked_after = {f"http://{a.host}{a.path}" for a in site.asked}
    site.close()
    assert len(finished) > 20
    assert finished & asked_after == set()
    urls = [url for kind, url, _, _ in records(warehouse, report) if kind == "response"]
    assert len(urls) == report.fetched == 150
    assert set(urls) == {f"http://chain.example/p{n}" for n in range(150)}


def test_a_crawl_onto_a_full_disk_says_so_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    noise = random.Random(0)
    site = Site(lambda asked: page(*(f"/p{n}" for n in range(24)), text=noise.randbytes(6000).hex()))
    seeds = seeds_in(tmp_path, "http://chain.example/p0")
    with small_disk(tmp_path / "disk", 8) as disk:
        for kib in (8, 200):
            disk.resize(kib)
            with pytest.raises((OSError, sqlite3.Error)) as raised:
                crawl(seeds, Warehouse.create(disk.path / "w"), settings_for({"chain.example"}, site))
            said = sentence(raised.value, [str(disk.path)])
            assert said is not None, raised.value
            assert "no space is left" in said
        disk.resize(8000)
        report = crawl(seeds, Warehouse.create(disk.path / "w"), settings_for({"chain.example"}, site))
        assert (report.fetched, report.pages) == (24, 24)
    site.close()


def test_damage_to_what_a_stopped_crawl_knows_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = chain_site(6)
    seeds = seeds_in(tmp_path, "http://chain.example/p0")
    settings = settings_for({"chain.example"}, site, max_depth=1000)
    warehouse = Warehouse.create(tmp_path / "warehouse")
    with monkeypatch.context() as patched:
        patched.setattr("quern.pipelines.pages.crawl._finish", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            crawl(seeds, warehouse, settings)
    (folder,) = (path.parent for path in (warehouse.root / "crawl").glob("*/plan.json"))
    for name in ("frontier-0.sqlite", "plan.json"):
        content = (folder / name).read_bytes()
        for damaged in (content[: len(content) // 2], b"\xff" * len(content)):
            (folder / name).write_bytes(damaged)
            with pytest.raises(DamagedError, match=f"delete {folder}, and the same command crawls anew"):
                crawl(seeds, warehouse, settings)
        (folder / name).write_bytes(content)
    (folder / "status-0.json").write_bytes(b"{")
    # As of a crawl that was killed when it had taken its plan away, and not yet the rest.
    shutil.copytree(folder, ended := folder.with_name("20240101T000000000"), ignore=shutil.ignore_patterns("plan.json"))
    assert crawl(seeds, warehouse, settings).pages == 6
    assert not ended.exists()
    assert not folder.exists()
    site.close()


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.long
def test_hosts_are_spread_over_ray_actors_and_hand_links_to_each_other(tmp_path: Path) -> None:
    hosts = [f"h{n}.example" for n in range(4)]
    assert {worker_of(host, 2) for host in hosts} == {0, 1}

    def route(asked: Asked) -> Answer:
        number = hosts.index(asked.host)
        links = [f"http://{hosts[(number + 1) % 4]}/b", "/a"]
        return page(*links) if asked.path in ("/", "/a", "/b") else Answer(status=404)

    site = Site(route)
    settings = settings_for(set(hosts), site, engine="ray", workers=2)
    seeds = seeds_in(tmp_path, *(f"http://{host}/" for host in hosts))
    warehouse = Warehouse.create(tmp_path / "warehouse")
    report = crawl(seeds, warehouse, settings)
    site.close()
    assert (report.fetched, report.ended) == (12, "finished")
    assert set(site.counts().values()) == {1}
    assert {name.split("-")[2] for name in report.files} == {"000", "001"}


def test_limits_end_a_crawl_and_what_is_left_is_counted(tmp_path: Path) -> None:
    site = chain_site(100)
    warehouse = Warehouse.create(tmp_path / "warehouse")
    seeds = seeds_in(tmp_path, "http://a.example/p1", "http://b.example/p1")
    limits = {"pages_per_host": 5, "max_pages": 8, "max_depth": 3}
    report = crawl(seeds, warehouse, settings_for({"a.example", "b.example"}, site, **limits))
    site.close()
    assert report.fetched == 8
    assert report.ended == "crawl.max_pages"
    assert report.queued > 0
    hosts = [asked.host for asked in site.asked if asked.path != "/robots.txt"]
    assert max(hosts.count(host) for host in hosts) <= 5
    saved = json.loads((warehouse.root / "crawl" / "reports" / f"{report.crawl_id}.json").read_text())
    assert saved["fetched"] == 8


def reported(warehouse: Warehouse, crawl_id: str, lost: dict[str, str]) -> CrawlFiles:
    """The files of a crawl that lost these addresses for these reasons."""
    files = CrawlFiles(warehouse.root / "crawl" / "reports", crawl_id)
    files.rejects.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"job": "crawl", "key": key, "reason": reason, "detail": "30 s", "build_id": crawl_id}
        for key, reason in lost.items()
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=REJECTS.schema), files.rejects)
    write_sealed(files.report, {"crawl_id": crawl_id, "rejects_checksum": checksum_of(files.rejects)})
    return files


def test_each_lost_address_is_given_once_by_the_latest_crawl_and_damaged_files_are_left_aside(
    warehouse: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    first = reported(warehouse, "1", {"a": "dns", "b": "timeout"})
    reported(warehouse, "2", {"b": "noindex"})

    def given() -> list[tuple[str, str]]:
        caplog.clear()
        return [(row["key"], row["reason"]) for batch in lost_pages(warehouse) for row in batch.to_pylist()]

    assert given() == [("b", "noindex"), ("a", "dns")]
    assert verify(kept_files(warehouse)).bad == []
    for path in (first.rejects, first.report):
        content = path.read_bytes()
        for at in range(0, len(content), 37):
            path.write_bytes(content[:at])
            assert given() == [("b", "noindex")]
            assert path.name in caplog.text
            assert [file.path for file in verify(kept_files(warehouse)).bad] == [path]
        path.write_bytes(content)


def test_a_crawl_ends_when_its_time_is_over(tmp_path: Path, warehouse: Warehouse) -> None:
    site = chain_site(1000, pause=0.05)
    seeds = seeds_in(tmp_path, "http://chain.example/p1")
    report = crawl(seeds, warehouse, settings_for({"chain.example"}, site, seconds=2.0, max_depth=1000))
    site.close()
    assert report.ended == "crawl.seconds"
    assert report.queued > 0
    assert report.seconds < 30


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "warehouse")


@pytest.mark.parametrize(
    ("crawl_settings", "message"),
    [
        ({}, "crawl.contact must be"),
        ({"contact": "me"}, "crawl.contact must be"),
        ({"contact": "a@b.example\nX: y"}, "crawl.contact must be"),
        ({"contact": "a@b.example", "allow_private": ["10.0.0"]}, "crawl.allow_private"),
        ({"contact": "a@b.example", "connect_to": {"a": "localhost:80"}}, "crawl.connect_to: a"),
    ],
)
def test_without_contact_or_with_unusable_settings_nothing_is_fetched(
    crawl_settings: dict[str, object], message: str, tmp_path: Path, warehouse: Warehouse
) -> None:
    seeds = seeds_in(tmp_path, "http://127.0.0.1:1/")
    with pytest.raises(CrawlError, match=message):
        crawl(seeds, warehouse, Settings.model_validate({"crawl": crawl_settings}))
    assert not (warehouse.root / "warc").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "names no address"), ("# x\n\nexample.com\n", "line 3"), ("http://a.example/\nftp://b.example/", "line 2")],
)
def test_seeds_that_are_no_addresses_are_refused_with_their_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text(text)
    with pytest.raises(CrawlError, match=message):
        read_seeds(tmp_path / "seeds.txt", CrawlSettings())
    with pytest.raises(CrawlError, match="cannot be read"):
        read_seeds(tmp_path / "absent.txt", CrawlSettings())


def test_two_crawls_do_not_write_to_one_warehouse(tmp_path: Path, warehouse: Warehouse) -> None:
    (warehouse.root / "crawl").mkdir()
    settings = Settings.model_validate({"crawl": {"contact": "a@b.example"}, "engine": {"engine": "local"}})
    with FileLock(warehouse.root / "crawl" / "crawl.lock"), pytest.raises(CrawlError, match="another crawl"):
        crawl(seeds_in(tmp_path, "http://a.example/"), warehouse, settings)


def test_a_build_tells_what_the_crawls_lost_and_no_other_read_got(
    warehouse: Warehouse, staged: Callable[[Table, list[dict[str, Any]]], Stage], run: Run
) -> None:
    reported(warehouse, "1", {f"http://a.example/{n}": "timeout" for n in range(3)})
    page = {"url": "http://a.example/1", "content_type": "text/html", "body": b"<p>", "source_file": "x", "digest": "d"}
    rejects = lost_rejects(warehouse, staged(PAGES, [page]), "2")
    told = [(row["key"], row["detail"]) for batch in rejects for row in batch.to_pylist()]
    assert told == [("http://a.example/0", "30 s"), ("http://a.example/2", "30 s")]


def test_malformed_addresses_of_robots_and_sitemaps_neither_stop_a_crawl_nor_lose_those_after_them(
    tmp_path: Path, warehouse: Warehouse
) -> None:
    listed = "".join(f"<url><loc>http://{place}</loc></url>" for place in ("[bad", "a.example/two"))
    answers = {
        "/robots.txt": Answer("Sitemap: http://[bad\nSitemap: /map.xml\n", headers={"Content-Type": "text/plain"}),
        "/map.xml": Answer(f"<urlset>{listed}</urlset>", headers={"Content-Type": "application/xml"}),
        "/": page(title="one"),
        "/two": page(title="two"),
    }
    site = Site(lambda asked: answers.get(asked.path, Answer(status=404)))
    settings = settings_for({"a.example"}, site, sitemaps=True, seconds=10.0)
    report = crawl(seeds_in(tmp_path, "http://a.example/"), warehouse, settings)
    site.close()
    assert (report.fetched, report.ended, report.not_followed) == (2, "finished", {"malformed": 2})


def test_a_crawl_that_fetches_nothing_still_tells_the_page_store_which_pages_went(
    tmp_path: Path, warehouse: Warehouse
) -> None:
    answers = {"/": Answer("<p>here</p>", headers={**HTML, "ETag": '"1"'})}
    site = Site(lambda asked: answers.get(asked.path, Answer(status=404)))
    seeds, settings = seeds_in(tmp_path, "http://a.example/"), settings_for({"a.example"}, site)
    assert crawl(seeds, warehouse, settings).fetched == 1
    answers.clear()
    assert crawl(seeds, warehouse, settings).fetched == 0
    site.close()
    told = [reject for part in latest_captures(page_store(warehouse).parts()) for reject in part.rejects()]
    assert [reject.reason for reject in told] == ["gone"]
