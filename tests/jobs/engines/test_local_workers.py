"""This machine's cores as an engine, and the processes that engines work in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from quern.indexes.disk import DiskFault, disk_fault
from quern.jobs.core.work import EngineError
from quern.jobs.engines import LocalEngine, local
from quern.schemas.settings import EngineSettings


def slowly(number: int) -> tuple[int, int]:
    time.sleep(0.02)
    if number < 0:
        raise OSError(28, "No space left on device", "a.parquet")
    return number, os.getpid()


def wrap_a_fault(number: int) -> int:
    try:
        raise OSError(28, "No space left on device", "a.parquet")
    except OSError:
        raise ValueError(f"row {number} could not be written")  # noqa: B904 - as libraries do


def die_at_50(number: int) -> int:
    time.sleep(0.02)
    if number == 50:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> LocalEngine:
    """One whose workers have started."""
    monkeypatch.setattr(local, "_REPAYS", 0.0)
    return with_workers(LocalEngine(EngineSettings(cores=2)))


def with_workers(engine: LocalEngine) -> LocalEngine:
    while os.getpid() in {process for _, process in engine.each(slowly, range(5))}:
        pass
    return engine


def test_work_that_repays_them_is_done_by_a_process_a_core_and_all_of_it_once(engine: LocalEngine) -> None:
    numbers, processes = zip(*engine.each(slowly, range(50)), strict=True)
    assert sorted(numbers) == list(range(50))
    assert len({*processes}) == 2
    assert os.getpid() not in processes
    again = dict(engine.each(slowly, range(20), alone=True))
    assert {*again.values()} == {os.getpid()}, "a model uses all cores itself"
    engine.close()
    assert not any(map(psutil.pid_exists, processes))


def test_little_work_starts_no_process() -> None:
    engine = LocalEngine(EngineSettings(cores=2))
    assert {process for _, process in engine.each(slowly, range(20))} == {os.getpid()}


def test_a_worker_that_dies_or_fails_is_told_and_the_next_work_has_new_ones(engine: LocalEngine) -> None:
    with pytest.raises(EngineError, match=r"a worker of the build stopped: the process \d+ was killed by SIGKILL"):
        list(engine.each(die_at_50, range(100)))
    with pytest.raises(OSError, match="No space left") as raised:
        list(with_workers(engine).each(slowly, [1, -1]))
    assert raised.value.filename == "a.parquet"
    engine.close()


_SCRIPT = """
import os, signal
from quern.jobs.engines.child import Child
print(Child().process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_worker_raises_keeps_its_kind_its_frames_and_what_led_to_it(engine: LocalEngine) -> None:
    with pytest.raises(RuntimeError, match="ValueError: row 1 could not be written") as raised:
        list(engine.each(wrap_a_fault, [1, 1]))
    assert "in wrap_a_fault" in raised.value.__notes__[0]
    told = disk_fault(raised.value)
    assert told is not None
    assert told.fault is DiskFault.FULL


def test_a_child_ends_with_its_parent_and_does_not_run_its_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT, "utf-8")
    run = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=False)
    (child,) = map(int, run.stdout.split())
    until = time.monotonic() + 20
    while psutil.pid_exists(child) and time.monotonic() < until:
        time.sleep(0.1)
    assert not psutil.pid_exists(child)
