from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

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


def test_what_a_killed_process_left_goes_with_the_next_start_and_what_is_held_stays(temporary: Path) -> None:
    code = (
        "import os; from quern.jobs.engines.scratch import Scratch; print(Scratch('ray').path, flush=True); os.abort()"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    left, held = Path(killed.stdout.strip()), Scratch("ray")
    other = temporary / "quern-notes"
    other.mkdir()
    for folder in (left, held.path, other):
        aged(folder)
    assert left.is_dir()
    again = Scratch("spark")
    assert {p.name for p in temporary.iterdir()} == {held.path.name, other.name, again.path.name}
