"""The process between a task and its command, which sees the command's end: `guard.py PARENT GRACE COMMAND...`.

It passes SIGTERM on and waits for the command to end by itself; after GRACE seconds it kills it. It is told when its
PARENT dies, however that dies, and does the same. What the command leaves behind becomes its own child and is ended
before it exits with the command's exit code (128 and the signal's number where that was killed). So no Spark and no Ray
outlives its task: Airflow's supervisor kills a task five seconds after SIGTERM, and knows nothing of its children.

The adoption of orphans and the news of a parent's death are Linux's (prctl(2)). Elsewhere signals alone are passed on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress

_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_STOP = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_WATCHED = {*_STOP, signal.SIGCHLD}
# What is left of a command that has ended is asked to end too, for so long.
_LEFT_SECONDS = 2.0
_POLL_SECONDS = 1.0
INTERRUPTED = 130


def guard(parent: int, grace: float, command: list[str]) -> int:
    """Run `command` for as long as `parent` lives; returns its exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # It died before it could be watched.
        return INTERRUPTED
    child = _start(command)
    status, killed_at = None, float("inf")
    while status is None:
        got = signal.sigtimedwait(_WATCHED, _POLL_SECONDS)
        if got and got.si_signo in _STOP and killed_at == float("inf"):
            killed_at = time.monotonic() + grace
            _send(child, signal.SIGTERM)
        if time.monotonic() > killed_at:
            _send(child, signal.SIGKILL)
        status = _reaped().get(child)
    # What the command left behind is asked to end, then killed.
    until = time.monotonic() + _LEFT_SECONDS
    asked: set[int] = set()
    while left := _children():
        for process in left:
            if time.monotonic() > until:
                _send(process, signal.SIGKILL)
            elif process not in asked:
                asked.add(process)
                _send(process, signal.SIGTERM)
        signal.sigtimedwait({signal.SIGCHLD}, 0.1)
        _reaped()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _start(command: list[str]) -> int:
    """Start the command with signals as a shell hands them down; it gets SIGTERM should this process be killed."""
    me = os.getpid()
    child = os.fork()
    if child:
        return child
    for number in _STOP:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == me:
        try:
            os.execvp(command[0], command)  # noqa: S606 - there is no shell to be had
        except OSError as error:
            sys.stderr.write(f"{command[0]}: {error.strerror}\n")
    os._exit(127)


def _prctl(option: int, value: int) -> None:
    if _LINUX:
        ctypes.CDLL(None).prctl(option, int(value), 0, 0, 0)


def _send(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _reaped() -> dict[int, int]:
    """Children that have ended since, with their statuses."""
    ended: dict[int, int] = {}
    with suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                break
            ended[process] = status
    return ended


def _children() -> list[int]:
    """Processes whose parent is this one."""
    if not _LINUX:
        return []
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - names alone, hundreds of them
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - without pathlib it starts faster
            # The name in brackets may hold anything; state and parent follow the last bracket.
            if int(stat.read().rpartition(b")")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


if __name__ == "__main__":
    sys.exit(guard(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
