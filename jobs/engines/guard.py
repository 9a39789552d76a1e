"""A process that outlives the one that started it: it ends what that one left running, and removes its folder.

Run as a file, without the packages of the environment: it starts in some 20 milliseconds and takes 8 MiB. It waits on
a pipe, which ends however its parent ends, and in a session of its own, which a kill of the parent's group spares.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "QUERN_SCRATCH"
"""Variable of processes that are to end with the process whose folder it names."""
KEEP = b"keep"
"""What the guard is told where the folder is to stay."""
CLOSED = b"closed"
"""What the guard is told where its parent goes on, or ends in order."""

# PySpark tells Java in this variable of a file, in a folder of its own, in which Java is to say where it listens.
_TOLD = b"_PYSPARK_DRIVER_CONN_INFO_PATH="
# Seconds to go on for where something does not end, or is written to while it is removed.
_PATIENCE = 10.0
# Seconds after which a process that its parent was just starting when that was killed bears the mark.
_STARTED = 0.3


def marked(folder: str) -> Iterator[int]:
    """Processes that bear the mark of `folder`, or are of a Java whose temporary folder it is; of Linux only."""
    variable, option = os.fsencode(f"{MARK}={folder}"), os.fsencode(f"-Djava.io.tmpdir={folder}")
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable in _environment(process) or option in (process / "cmdline").read_bytes():
                yield int(process.name)


def _environment(process: Path) -> list[bytes]:
    return (process / "environ").read_bytes().split(b"\0")


def end_marked(folder: str) -> bool:
    """Kill the processes that bear the mark of `folder`; returns whether there was one."""
    found = list(marked(folder))
    for process in found:
        with suppress(OSError):
            told = [variable for variable in _environment(Path(f"/proc/{process}")) if variable.startswith(_TOLD)]
            os.kill(process, signal.SIGKILL)
            for path in told:
                shutil.rmtree(Path(os.fsdecode(path.removeprefix(_TOLD))).parent, ignore_errors=True)
    return bool(found)


def _clear(folder: str, *, keep: bool) -> None:
    until = time.monotonic() + _PATIENCE
    while end_marked(folder) and time.monotonic() < until:
        time.sleep(0.02)
    while not keep and os.path.lexists(folder) and time.monotonic() < until:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)


def main() -> None:
    """Wait for the parent's word, or its end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    folder = sys.argv[1]
    word = sys.stdin.buffer.read()
    _clear(folder, keep=word == KEEP)
    if not word:
        time.sleep(_STARTED)
        _clear(folder, keep=False)


if __name__ == "__main__":
    main()
