"""Airflow's database, and the command `quern` of the main environment with a stand-in before it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("airflow") is None:  # It has an environment of its own: make test-airflow.
    collect_ignore_glob = ["test_*"]
else:
    from tests.with_airflow.environment import HOME, QUERN

# Stands in front of the command: what tests ask of it by files beside it.
STAND_IN = """#!{python}
import os, pathlib, subprocess, sys, time
folder = pathlib.Path(__file__).parent
with (folder / "calls").open("a") as calls:
    print(*sys.argv[1:], file=calls)
once = folder / f"fail-{{sys.argv[2] if len(sys.argv) > 2 else ''}}"
if once.exists():
    once.unlink()
    sys.exit("the first time it fails")
if (folder / "hang").exists() and sys.argv[1] == "crawl":
    # As Spark and Ray do: children in sessions of their own that mind no signal.
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    for _ in range(3):
        subprocess.Popen([sys.executable, "-c", deaf, "{mark}"], start_new_session=True)
    time.sleep(600)
os.execv({quern!r}[0], [*{quern!r}, *sys.argv[1:]])
"""


@pytest.fixture(scope="session", autouse=True)
def _home() -> Iterator[None]:
    subprocess.run([Path(sys.executable).with_name("airflow"), "db", "migrate"], check=True, capture_output=True)
    yield
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def _stand_in() -> Path:
    path = HOME / "bin" / "quern"
    path.parent.mkdir()
    path.write_text(STAND_IN.format(python=sys.executable, quern=QUERN, mark=path.parent))
    path.chmod(0o755)
    return path


@pytest.fixture
def command(_stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command that the DAGs call: that of the main environment, behind what writes its calls down."""
    for left in _stand_in.parent.iterdir():
        if left != _stand_in:
            left.unlink()
    monkeypatch.setenv("QUERN_COMMAND", str(_stand_in))
    return _stand_in
