"""Readers keep the snapshot that they opened, whatever is published and pruned beside them."""

from __future__ import annotations

import errno
import fcntl
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.checksums import DamagedError
from tests.indexes.test_catalog import publish, targets

READER = """
import sys; from pathlib import Path; from quern.indexes.catalog import Warehouse
snapshot = Warehouse.open(Path(sys.argv[1])).snapshot()
print("open", flush=True)
for line in sys.stdin:
    print([t for b in snapshot.stage("edges").batches(["target"]) for t in b.column(0).to_pylist()], flush=True)
"""
# Each round opens what is published: its edges name the snapshot that they are of.
LOOP = """
import sys; from pathlib import Path; from quern.indexes.catalog import Warehouse
rounds, last = 0, sys.argv[2]
seen = ""
while seen != last:
    snapshot = Warehouse.open(Path(sys.argv[1])).snapshot()
    seen, rounds = snapshot.manifest.build_id, rounds + 1
    staged = [t for batch in snapshot.stage("edges").batches(["target"]) for t in batch.column(0).to_pylist()]
    served = snapshot.table("edges").lookup("source", ["s'1"])["target"].to_pylist()
    assert served == staged == [seen], (seen, served, staged)
    print(rounds, flush=True)
"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "wh")


@pytest.fixture
def reader(warehouse: Warehouse) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", READER, str(warehouse.root)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_what_a_reader_holds_is_pruned_only_when_its_process_has_ended(
    warehouse: Warehouse, reader: Callable[[], subprocess.Popen[str]]
) -> None:
    publish(warehouse, "1", ["1"])
    readers = [reader(), reader()]
    for n in ("2", "3"):
        publish(warehouse, n, [n])
        assert "1" not in warehouse.prune(1)
    assert warehouse.is_leased("1")
    assert sorted(p.name for p in warehouse.stages.rglob("*.parquet")) == ["1.parquet", "3.parquet"]
    readers[0].kill()
    readers[0].wait()
    assert warehouse.prune(1) == [], "the other still reads"
    assert readers[1].stdin is not None
    assert readers[1].stdout is not None
    print(file=readers[1].stdin, flush=True)
    assert readers[1].stdout.readline() == "['1']\n"
    readers[1].kill()
    readers[1].wait()
    assert warehouse.prune(1) == ["1"]
    assert [p.name for p in warehouse.stages.rglob("*.parquet")] == ["3.parquet"]


def test_a_lease_lasts_as_long_as_the_snapshot_or_a_table_of_it(warehouse: Warehouse) -> None:
    publish(warehouse, "1", ["1"])
    snapshot = warehouse.snapshot()
    table = snapshot.table("edges")
    publish(warehouse, "2", ["2"])
    del snapshot
    assert warehouse.prune(1) == []
    assert table.lookup("source", ["s'1"])["target"].to_pylist() == ["1"]
    del table
    assert warehouse.prune(1) == ["1"]


def test_a_reader_that_opens_while_others_publish_and_prune_finds_a_whole_snapshot(warehouse: Warehouse) -> None:
    publish(warehouse, "100", ["100"])
    command = [sys.executable, "-c", LOOP, str(warehouse.root), "130"]
    loops = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for loop in loops:
        assert loop.stdout is not None
        assert loop.stdout.readline() == "1\n"
    for n in range(101, 131):
        publish(warehouse, f"{n}", [f"{n}"])
        warehouse.prune(1)
    for loop in loops:
        rounds, errors = loop.communicate(timeout=60)
        assert (errors, loop.returncode) == ("", 0)
        assert rounds
    warehouse.prune(1)
    assert warehouse.snapshot_ids() == ["130"]


def test_without_locks_a_snapshot_is_read_without_a_lease(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(warehouse, "1", ["1"])

    def no_locks(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    snapshot = warehouse.snapshot()
    assert snapshot.lease is not None
    assert not snapshot.lease.held
    assert targets(warehouse) == ["1"]
    publish(warehouse, "2", ["2"])
    assert warehouse.prune(1) == ["1"]
    assert not Path(snapshot.stage("edges").path).exists()


def test_files_that_go_while_they_are_read_are_told_in_one_sentence(warehouse: Warehouse) -> None:
    publish(warehouse, "1", ["1"])
    snapshot = warehouse.snapshot()
    table = snapshot.table("edges")
    shutil.rmtree(warehouse.root / "lance")
    snapshot.stage("edges").path.unlink()
    for read in (
        lambda: table.lookup("source", ["s'1"]),
        lambda: list(table.batches(["target"])),
        lambda: list(snapshot.stage("edges").batches()),
        lambda: snapshot.table("edges"),
    ):
        with pytest.raises(DamagedError, match="build` mends it") as told:
            read()
        assert "\n" not in str(told.value)
