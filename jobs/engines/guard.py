"""A process that outlives the one that started it: it ends what that one left running, and removes its folder.

Run as a file, without the packages of the environment: it starts in some 20 milliseconds and takes 8 MiB. It waits on
a pipe, which ends however its parent ends, and in a session of its own, which a kill of the parent's group spares.
"""

from __future__ import annotations

import errno
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


def marked(folder: str) -> Iterator[int]:
    """Processes that bear the mark of `folder`, or are of a Java whose temporary folder it is; of Linux only."""
    for process in Path("/proc").glob("[0-9]*"):
        if _bears(process, folder):
            yield int(process.name)


def _bears(process: Path, folder: str) -> bool:
    variable, option = os.fsencode(f"{MARK}={folder}"), os.fsencode(f"-Djava.io.tmpdir={folder}")
    with suppress(OSError):
        # What starts Java has its options in one argument, so that a space ends one too.
        options = (process / "cmdline").read_bytes().replace(b"\0", b" ").split(b" ")
        return variable in _environment(process) or option in options
    return False


def _environment(process: Path) -> list[bytes]:
    return (process / "environ").read_bytes().split(b"\0")


def end_marked(folder: str) -> bool:
    """Kill the processes that bear the mark of `folder`; returns whether there was one."""
    numbers = list(marked(folder))
    for number in numbers:
        with suppress(OSError):
            _end(number, folder)
    return bool(numbers)


def _end(number: int, folder: str) -> None:
    """Kill a process and remove what it told of itself, if it still bears the mark: its number may be another's now."""
    process = Path(f"/proc/{number}")
    # Stands for a process and never for another; there is none on some systems (Linux before 5.3, some containers).
    handle: int | None = None
    if hasattr(os, "pidfd_open"):
        try:
            handle = os.pidfd_open(number)
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.EPERM):
                raise
    try:
        if not _bears(process, folder):
            return
        names = [variable.removeprefix(_TOLD) for variable in _environment(process) if variable.startswith(_TOLD)]
        if handle is None:
            os.kill(number, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    finally:
        if handle is not None:
            os.close(handle)
    # The file in which Java says where it listens, which it begins as `connection*.info`, and its folder, which is left
    # where it holds anything else.
    for path in (Path(os.fsdecode(name)) for name in names):
        for file in (path, *path.parent.glob("connection*.info")):
            file.unlink(missing_ok=True)
        path.parent.rmdir()


def _clear(folder: str, *, keep: bool) -> None:
    # What does not end, or is written to while it is removed, is tried for ten seconds.
    until = time.monotonic() + 10.0
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
        # By then a process that the parent was just starting, when it was killed, bears the mark.
        time.sleep(0.3)
        _clear(folder, keep=False)


if __name__ == "__main__":
    main()
