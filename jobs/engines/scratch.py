"""Folders for what is written beside results: they go with the process that made them, and what it started with it.

However it ends: a process of its own watches over each (`.guard`). Where that was killed too, as when the system goes
down, the next start removes the folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from quern.jobs.engines import guard

_LOCK: Final = ".held"
# A path of a Unix socket has at most 107 bytes, and Ray's names under its folder take some 70.
_LONGEST_ROOT: Final = 12


class Scratch:
    """A folder of this process under the system's temporary one.

    Attributes:
        path: The folder.
    """

    def __init__(self, of: str, *, short: bool = False) -> None:
        """Args: `of` says whose it is; `short` asks for a path that sockets can have, whatever `TMPDIR` says."""
        root = Path(tempfile.gettempdir())
        if short and len(os.fsencode(root)) > _LONGEST_ROOT:
            root = Path("/tmp")  # noqa: S108 - made by mkdtemp, for this user alone
        sweep(root)
        self.path = Path(tempfile.mkdtemp(prefix=f"quern-{of}-", dir=root))
        self._held: int | None = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX)
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    @property
    def mark(self) -> dict[str, str]:
        """The environment of processes that are to end with this folder, and of theirs."""
        return {guard.MARK: str(self.path)}

    def close(self, *, keep: bool = False) -> None:
        """Let go of the folder, and remove it unless it is to be kept; what bears its mark ends."""
        if self._held is None:
            return
        descriptor, self._held = self._held, None
        os.close(descriptor)
        if keep:
            (self.path / _LOCK).unlink(missing_ok=True)
        with suppress(OSError, subprocess.TimeoutExpired):  # the guard may have been killed
            self._guard.communicate(guard.KEEP if keep else guard.CLOSED, timeout=30.0)
        if not keep:
            shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sweep(root: Path) -> None:
    """Remove the folders under `root` that processes of this user were killed over; what was kept stays."""
    for folder in root.glob("quern-*"):
        with suppress(OSError):
            about = folder.lstat()
            # Longer than it takes to make a folder and hold it.
            if about.st_uid != os.getuid() or time.time() - about.st_mtime < 60:
                continue
            descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
