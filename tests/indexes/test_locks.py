"""Locks on files, the one writer of a warehouse, and the names of its builds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse, WarehouseError, new_build_id
from quern.indexes.catalog.manifest import build_id_after
from quern.indexes.storage import readers_or_writer

BUSY = RuntimeError("busy")
HOLD = """
import sys, time
from pathlib import Path
from quern.indexes.catalog import Warehouse
from quern.indexes.storage import readers_or_writer
with {lock}:
    print("held", flush=True)
    time.sleep({seconds})
"""


def holder(lock: str, seconds: float = 60) -> subprocess.Popen[str]:
    code = HOLD.format(lock=lock, seconds=seconds)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_readers_share_and_a_writer_waits_for_none(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    other = holder(f"readers_or_writer(Path({str(path)!r}), RuntimeError(), shared=True)")
    with readers_or_writer(path, BUSY, shared=True), readers_or_writer(path, BUSY, shared=True):
        pass
    with pytest.raises(RuntimeError, match="busy"), readers_or_writer(path, BUSY, shared=False):
        pass
    other.kill()
    other.wait()
    with readers_or_writer(path, BUSY, shared=False):
        with pytest.raises(RuntimeError, match="busy"), readers_or_writer(path, BUSY, shared=True):
            pass
        assert [p.name for p in tmp_path.iterdir()] == ["x.lock"]


def writer_of(warehouse: Warehouse, seconds: float = 60) -> subprocess.Popen[str]:
    return holder(f"Warehouse.open(Path({str(warehouse.root)!r})).lock('build 20261122T060000000')", seconds)


def test_who_finds_a_warehouse_held_is_told_by_whom_and_since_when(tmp_path: Path) -> None:
    warehouse = Warehouse.create(tmp_path / "w")
    with writer_of(warehouse, 60) as other:
        told = rf"another build .* \(build 20261122T060000000 of process {other.pid}, since 20.* UTC\).*--wait SECONDS"
        with pytest.raises(WarehouseError, match=told), warehouse.lock():
            pass
        other.kill()
    # What a killed writer left says nothing of those after it.
    with warehouse.lock("build 20261122T070000000"):
        assert f'"process":{os.getpid()}' in (warehouse.root / "build.holder.json").read_text()
    assert not (warehouse.root / "build.holder.json").exists()


def test_who_waits_gets_the_warehouse_when_the_other_has_ended(tmp_path: Path) -> None:
    warehouse = Warehouse.create(tmp_path / "w")
    with writer_of(warehouse, 0.5), warehouse.lock(seconds=60):
        pass
    with writer_of(warehouse, 60) as other:
        started = time.monotonic()
        with pytest.raises(WarehouseError, match="another build is writing"), warehouse.lock(seconds=0.2):
            pass
        assert time.monotonic() - started >= 0.2
        other.kill()


def snapshot(warehouse: Warehouse, build_id: str) -> None:
    (warehouse.root / "snapshots").mkdir(exist_ok=True)
    (warehouse.root / "snapshots" / f"{build_id}.json").write_text("{}")


def test_a_build_is_named_after_all_others_whatever_the_clock_says(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    warehouse = Warehouse.create(tmp_path / "w")
    snapshot(warehouse, "20200101T000000000")
    before = new_build_id()
    assert warehouse.next_build_id() >= before
    assert caplog.messages == []
    snapshot(warehouse, "29991231T235959999")
    assert warehouse.next_build_id() == "30000101T000000000"
    assert "the clock says" in caplog.messages[0]


@pytest.mark.parametrize("build_id", ["20261122T0600", "20261122T060000000", "99991231T235959999", "20269999T9999"])
def test_a_name_sorts_before_the_one_after_it(build_id: str) -> None:
    assert build_id < build_id_after(build_id)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; tests of read-only disks cover it")
def test_a_warehouse_that_may_not_be_written_says_so(tmp_path: Path) -> None:
    warehouse = Warehouse.create(tmp_path / "w")
    warehouse.root.chmod(0o500)
    with pytest.raises(WarehouseError, match="cannot be written: Permission denied"), warehouse.lock():
        pass
