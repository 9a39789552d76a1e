"""However a task ends, nothing that its command started is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.with_airflow.environment import DAGS

# A task: it runs what a command is under guard, and says how that ended.
TASK = """
import sys
from quern_airflow.command import GuardedCommand
print(GuardedCommand(sys.argv[2:], float(sys.argv[1])).run(lambda line: print(line, flush=True)).code, flush=True)
"""
# A command as a build is one: children in sessions of their own, of which one minds no signal; it ends with 130.
COMMAND = """
import os, signal, subprocess, sys, time
for ignored in ("", "signal.signal(signal.SIGTERM, signal.SIG_IGN); "):
    subprocess.Popen([sys.executable, "-c", f"import signal, time; {ignored}time.sleep(600)"], start_new_session=True)
if sys.argv[1] == "polite":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
if sys.argv[1] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("begun", file=sys.stderr, flush=True)
time.sleep(0 if sys.argv[1] == "short" else 600)
"""


def started(kind: str, grace: float = 20) -> subprocess.Popen[str]:
    task = subprocess.Popen(
        [sys.executable, "-c", TASK, str(grace), sys.executable, "-c", COMMAND, kind],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(DAGS)},
        process_group=0,
    )
    assert task.stdout
    assert task.stdout.readline() == "begun\n"
    return task


def ended(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=10)
    return not alive


@pytest.mark.parametrize("kind", ["polite", "stubborn"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_task_that_is_ended_leaves_nothing(kind: str, number: signal.Signals) -> None:
    task = started(kind, grace=20 if kind == "polite" else 0.5)
    processes = psutil.Process(task.pid).children(recursive=True)
    assert len(processes) == 4
    os.killpg(task.pid, number)  # as Airflow's supervisor does
    task.wait(10)
    assert ended(processes)


def test_a_guard_that_is_killed_takes_its_command_with_it() -> None:
    task = started("polite")
    guard, command, *more = psutil.Process(task.pid).children(recursive=True)
    guard.kill()
    assert ended([command])
    # These hold the pipe still; the task does not wait for them. The command would have ended them, were it a build.
    assert task.stdout
    assert task.stdout.readline() == "-9\n"
    for process in more:
        process.kill()
    task.wait(10)


def test_what_a_command_leaves_behind_is_ended_too_and_its_exit_code_told() -> None:
    task = started("short")
    assert task.stdout
    began = time.monotonic()
    assert task.stdout.read() == "0\n"
    assert time.monotonic() - began < 10
    assert not [p for p in psutil.process_iter(["ppid"]) if p.info["ppid"] == task.pid]


def test_a_command_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TASK, "1", str(tmp_path / "none")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(DAGS)},
    )
    assert done.stdout == f"{tmp_path / 'none'}: No such file or directory\n127\n"
