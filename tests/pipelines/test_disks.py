"""Disks that are full or cannot be written: that is told in one sentence, nothing is lost, and reading goes on."""

from __future__ import annotations

import csv
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.disk import DiskFault, NoRoomError, disk_fault, mapped
from quern.pipelines.build.whole import build
from quern.pipelines.cli.main import sentence
from quern.pipelines.pages.ingest import add_pages
from quern.pipelines.pages.store import page_store
from quern.schemas.settings.reading import load_settings
from tests.beside import CORPUS
from tests.conftest import Quern
from tests.disks import read_only, small_disk

SETTINGS = load_settings(None, ["engine.engine=local"])
FAILS = (40, 600, 1500)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pages of the mini-web."""
    folder = tmp_path_factory.mktemp("few") / "pages"
    folder.mkdir()
    for path in sorted((CORPUS / "pages" / "harbour-courier.example").rglob("*.html"))[:4]:
        shutil.copy(path, folder)
    return folder


@pytest.fixture(scope="module")
def built(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that was built on a disk with room, from pages that are kept in it."""
    warehouse = Warehouse.create(tmp_path_factory.mktemp("roomy") / "w")
    add_pages(warehouse, [pages], SETTINGS)
    build(pages, warehouse, SETTINGS)
    return warehouse.root


@pytest.fixture(scope="module")
def expected(built: Path) -> dict[str, str]:
    """The digests of its tables."""
    return {name: table.digest for name, table in Warehouse.open(built).manifest().tables.items()}


def digests(warehouse: Path, pages: Path) -> dict[str, str]:
    """The digests of all tables of a build."""
    manifest = build(pages, Warehouse.create(warehouse), SETTINGS)
    return {name: table.digest for name, table in manifest.tables.items()}


def refused(warehouse: Path, pages: Path) -> str:
    """What is said of a build that the disk has no room for."""
    with pytest.raises(Exception) as raised:
        build(pages, Warehouse.create(warehouse), SETTINGS)
    said = sentence(raised.value, [str(warehouse)])
    assert said is not None, raised.value
    return said


def files_of(warehouse: Path, folder: str) -> int:
    return sum(1 for path in (warehouse / folder).rglob("*") if path.is_file())


def test_a_disk_that_is_full_anywhere_in_a_build_costs_nothing_but_the_wait_for_room(
    pages: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", FAILS[0]) as disk:
        warehouse = disk.path / "w"
        for kib in FAILS:
            disk.resize(kib)
            assert "no space is left" in refused(warehouse, pages)
            catalog = Warehouse.create(warehouse)
            assert catalog.current_id() is None
            # What came to nothing takes no room from the next try; what was computed is kept.
            assert [files_of(warehouse, folder) for folder in ("stages", "lance", "work", "audit")] == [0, 0, 0, 0]
        assert files_of(warehouse, "memo") > 5
        disk.resize(16_000)
        assert digests(warehouse, pages) == expected

        published = catalog.manifest()
        (pages / "again.html").write_text("<title>Dams</title><p>The dam above the town was built again in 1931.</p>")
        for left in (0, 500):
            disk.fill(left)
            assert "no space is left" in refused(warehouse, pages)
            assert catalog.manifest() == published
            assert catalog.snapshot().table("chunks").rows == published.tables["chunks"].rows
        disk.empty()
        (pages / "again.html").unlink()
        assert digests(warehouse, pages) == expected


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_that_may_not_grow_is_told_in_one_sentence(pages: Path, tmp_path: Path) -> None:
    with files_of_at_most(60_000):
        assert "ulimit -f" in refused(tmp_path / "w", pages)
    assert Warehouse.open(tmp_path / "w").current_id() is None


def test_what_only_reads_does_so_on_a_disk_that_cannot_be_written(
    built: Path, tmp_path: Path, quern_here: Quern
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"query_id": "a", "question": "What flooded in the library?"}\n')
    with read_only(built, tmp_path / "w") as warehouse:
        for command, words in {
            "ask": ("What flooded in the library?",),
            "answer": (questions, "--out", tmp_path / "answers"),
            "plan": (),
            "audit": (),
            "timeline": ("library",),
            "sources": ("What flooded in the library?",),
            "rejects": (),
            "graph": (),
            "snapshots list": (),
            "snapshots show": (),
            "verify": (),
            "diff": ("current", "current"),
        }.items():
            done = quern_here(*command.split(), *words, "-w", warehouse)
            assert (command, done.returncode) == (command, 0), done.stderr
            assert done.stdout
            # What it would keep for another time is told once.
            assert done.stderr.count("Read-only file system") <= 1


def test_what_writes_says_that_it_cannot(built: Path, pages: Path, tmp_path: Path, quern_here: Quern) -> None:
    (tmp_path / "seeds").write_text("http://127.0.0.1:1/\n")
    crawl = (tmp_path / "seeds", "--set", "crawl.contact=a@b.example", "--engine", "local")
    with read_only(built, tmp_path / "w") as warehouse:
        for command, words in {
            "build": (pages,),
            "stage ingest": ("--build", "29990101T0000"),
            "ingest": (pages, "--engine", "local"),
            "crawl": crawl,
            "snapshots rollback": (),
            "vacuum": (),
        }.items():
            done = quern_here(*command.split(), *words, "-w", warehouse)
            assert (command, done.returncode) == (command, 2), done.stderr
            assert "cannot be written: Read-only file system" in done.stderr
            assert done.stderr.count("\n") == 1


def stored(warehouse: Warehouse) -> int:
    """Pages of the page store that are in effect."""
    return sum(claim.pages for part in page_store(warehouse).parts() for claim in part.live)


def _rows() -> list[dict[str, str]]:
    """As many rows as there are pages, of which each takes some KiB however well it is compressed."""
    noise = random.Random(0)
    return [{"doc_id": f"{n}", "title": f"Dam {n}", "text": noise.randbytes(12_000).hex()} for n in range(4)]


def _csv(folder: Path) -> Path:
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["doc_id", "title", "text"])
        writer.writeheader()
        writer.writerows(_rows())
    return path


def _parquet(folder: Path) -> Path:
    path = folder / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(_rows()), path)
    return path


@pytest.mark.parametrize("kind", ["html", "csv", "parquet"])
def test_an_ingest_onto_a_full_disk_is_in_effect_whole_or_not_at_all(kind: str, pages: Path, tmp_path: Path) -> None:
    source = {"html": lambda _: pages, "csv": _csv, "parquet": _parquet}[kind](tmp_path)
    with small_disk(tmp_path / "disk", 8) as disk:
        for kib in (8, 24, 32):
            disk.resize(kib)
            warehouse = Warehouse.create(disk.path / "w")
            with pytest.raises((OSError, sqlite3.Error)) as raised:
                add_pages(warehouse, [source], SETTINGS)
            assert "no space is left" in str(sentence(raised.value, [str(disk.path)]))
            assert stored(warehouse) in (0, 4)
        disk.resize(8000)
        add_pages(warehouse, [source], SETTINGS)
        assert stored(warehouse) == 4


def test_answers_that_a_disk_has_no_room_for_are_not_there_by_half(
    built: Path, tmp_path: Path, quern_here: Quern
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(f'{{"query_id": "{n}", "question": "What flooded in {n}?"}}\n' for n in range(6)))
    with small_disk(tmp_path / "disk", 8) as disk:
        answer = ("answer", questions, "-w", built, "--out", disk.path / "out")
        for kib in (8, 60, 100):
            disk.resize(kib)
            done = quern_here(*answer)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
            assert "no space is left" in done.stderr.lower()
            assert [path.name for path in (disk.path / "out").glob("*") if path.name != ".parts"] == []
        disk.resize(8000)
        assert quern_here(*answer).returncode == 0
        names = {"answers.csv", "answers.jsonl", "answers.parquet", "index.html"}
        assert {path.name for path in (disk.path / "out").iterdir()} >= names


def test_an_output_that_is_full_ends_in_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "quern.pipelines.cli", "settings"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no space is left" in done.stderr


def test_what_is_mapped_has_its_space_before(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64) as disk:
        with pytest.raises(NoRoomError) as raised:
            mapped(disk.path / "vectors", float, (1000, 100))
        assert raised.value.needed == 800_000
        told = disk_fault(raised.value)
        assert told is not None
        assert told.fault is DiskFault.FULL
        array = mapped(disk.path / "vectors", float, (10, 100))
        array[:] = 1.0
        assert array.sum() == 1000
