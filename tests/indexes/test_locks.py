from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quern.indexes.storage import exclusive, readers_or_writer

BUSY = RuntimeError("busy")
HOLD = """
import sys, time
from pathlib import Path
from quern.indexes.storage import exclusive, readers_or_writer
with {lock}:
    print("held", flush=True)
    time.sleep(60)
"""


def holder(lock: str) -> subprocess.Popen[str]:
    """A process that holds `lock`."""
    process = subprocess.Popen([sys.executable, "-c", HOLD.format(lock=lock)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_killed_process_lets_go_of_what_it_held_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    other = holder(f"exclusive(Path({str(path)!r}), RuntimeError())")
    with pytest.raises(RuntimeError, match="busy"), exclusive(path, BUSY):
        pass
    other.kill()
    other.wait()
    with exclusive(path, BUSY):
        assert path.stat().st_size == 0


def test_who_waits_gets_the_lock_when_the_other_ends(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    other = holder(f"exclusive(Path({str(path)!r}), RuntimeError())")
    other.terminate()
    with exclusive(path, BUSY, seconds=30.0):
        pass
    other.wait()


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
