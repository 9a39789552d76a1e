from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from quern.jobs.engines import guard
from quern.jobs.engines.scratch import Scratch, sweep


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def aged(folder: Path) -> None:
    os.utime(folder, (time.time() - 3600,) * 2)


def test_a_folder_goes_with_its_engine_unless_it_is_kept(temporary: Path) -> None:
    for keep in (False, True):
        scratch = Scratch("spark")
        (scratch.path / "shuffle").write_bytes(b"x")
        scratch.close(keep=keep)
        scratch.close()
        assert scratch.path.exists() == keep
    aged(scratch.path)
    sweep(temporary)
    assert (scratch.path / "shuffle").exists()


_BEGIN = """
import os, signal, subprocess, sys
from quern.jobs.engines.scratch import Scratch
scratch = Scratch("ray")
child = subprocess.Popen(
    ["sleep", "600"], stdout=subprocess.DEVNULL, start_new_session=True, env={**os.environ, **scratch.mark}
)
other = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
print(scratch.path, child.pid, other.pid, flush=True)
"""


def begun(temporary: Path, then: str) -> tuple[Path, list[psutil.Process]]:
    killed = subprocess.run(
        [sys.executable, "-c", _BEGIN + then],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    path, *pids = killed.stdout.split()
    return Path(path), [psutil.Process(int(pid)) for pid in pids]


def test_what_a_process_started_and_wrote_goes_with_it_however_it_ends(temporary: Path) -> None:
    left, (child, other) = begun(temporary, "os.abort()")
    until = time.monotonic() + 20
    while (left.exists() or child.is_running()) and time.monotonic() < until:
        time.sleep(0.02)
    assert list(temporary.iterdir()) == []
    assert (child.is_running(), other.is_running()) == (False, True)
    other.kill()


def test_of_what_a_process_names_in_its_environment_no_more_goes_than_java_wrote(temporary: Path) -> None:
    own, home = temporary / "info", temporary / "home"
    for folder in (own, home):
        folder.mkdir()
        (folder / "told").touch()
    (own / "connection1.info").touch()
    (home / "notes").touch()
    mark = str(temporary / "scratch")
    processes = [
        subprocess.Popen(
            ["sleep", "600"], env={guard.MARK: mark, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder / "told")}
        )
        for folder in (own, home)
    ]
    other = subprocess.Popen(["sleep", "600"], env={guard.MARK: f"{mark}-2"})
    assert guard.end_marked(mark)
    assert [process.wait(20) for process in processes] == [-signal.SIGKILL] * 2
    assert other.poll() is None
    other.kill()
    other.wait()
    assert [str(path.relative_to(temporary)) for path in sorted(temporary.rglob("*"))] == ["home", "home/notes"]


def test_what_even_the_guard_left_goes_with_the_next_start_and_what_is_held_stays(temporary: Path) -> None:
    left, processes = begun(temporary, "scratch._guard.kill(); os.abort()")
    for process in processes:
        process.kill()
    held = Scratch("ray")
    other = temporary / "quern-notes"
    other.mkdir()
    for folder in (left, held.path, other):
        aged(folder)
    assert left.is_dir()
    again = Scratch("spark")
    assert {p.name for p in temporary.iterdir()} == {held.path.name, other.name, again.path.name}
    again.close()
    held.close()
