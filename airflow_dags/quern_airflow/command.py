"""The command `quern` as the tasks call it: found, run under guard, its lines passed on."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")
INTERRUPTED = 130
_POLL_SECONDS = 1.0
# What is in the pipe when the guard has ended is read for so long.
_LAST_SECONDS = 5.0
# Of the environment: Airflow's secrets, and what would stand in for what a DAG leaves out.
_WITHHELD = ("AIRFLOW_", "QUERN_WAREHOUSE", "QUERN_SETTINGS")


class CommandMissingError(Exception):
    """The command `quern` is not there; the message says what to do."""


def find_command() -> list[str]:
    """The words that the command begins with: those of QUERN_COMMAND, else `quern` on the path.

    It is a matter of the machine, not of the installation of Airflow: hence the environment and no Variable, which
    could not be read while a DAG file is parsed either.

    Raises:
        CommandMissingError: There is no such command.
    """
    named = os.environ.get("QUERN_COMMAND", "")
    words = [named] if Path(named).is_file() else shlex.split(named) or ["quern"]
    if path := shutil.which(words[0]):
        return [path, *words[1:]]
    raise CommandMissingError(
        f"the command {words[0]} was not found: install Quern in an environment of its own and name its command to "
        "every Airflow process, QUERN_COMMAND=/path/to/.venv/bin/quern, or put it on their PATH"
    )


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int  # Its exit code.
    output: str  # What it printed on standard output.
    last: str  # The last line on standard error that says something: where it failed, why.


class GuardedCommand:
    """One run of a command, which ends when this process does."""

    def __init__(self, command: Sequence[str], grace: float) -> None:
        self.command, self.grace = list(command), grace
        self._guard: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, tell: Callable[[str], None]) -> Ended:
        """Run it to its end; its lines on standard error go to `tell` as they come."""
        last = ""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            # Airflow kills the process group of its task; the guard, in a group of its own, still ends what it guards.
            self._guard = guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), str(os.getpid()), str(self.grace), *self.command],
                stdin=subprocess.DEVNULL,
                stdout=output.fileno(),
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if not name.startswith(_WITHHELD)},
            )
            try:
                if self._stopped:
                    self.stop()
                for line in _lines(guard):
                    tell(line)
                    last = line.strip() or last
                code = guard.wait()
            finally:  # A time limit comes as an exception.
                self.stop()
                guard.wait()
            output.seek(0)
            return Ended(code, output.read(), last)

    def stop(self) -> None:
        """Ask the command to end; it is killed when its grace is over. Safe in a handler of signals."""
        self._stopped = True
        if self._guard and self._guard.poll() is None:
            self._guard.terminate()


def _lines(guard: subprocess.Popen[bytes]) -> Iterator[str]:
    """The lines on standard error, until its end, or soon after that of a guard that was killed.

    What the command started holds the pipe too: nobody ends it then, and it would be waited for.
    """
    assert guard.stderr is not None  # noqa: S101 - it was asked for
    pipe, begun, until = guard.stderr.fileno(), b"", float("inf")
    while time.monotonic() < until:
        if select.select([pipe], [], [], _POLL_SECONDS)[0]:
            piece = os.read(pipe, 1 << 16)
            if not piece:
                break
            *lines, begun = (begun + piece).split(b"\n")
            for line in lines:
                yield line.decode("utf-8", "replace")
        elif guard.poll() is not None:
            break
        if until == float("inf") and guard.poll() is not None:
            until = time.monotonic() + _LAST_SECONDS
    if begun:
        yield begun.decode("utf-8", "replace")
