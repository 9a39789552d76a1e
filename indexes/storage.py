"""Files that are whole or absent, written beside their place and renamed into it; locks on files; files that can go.

A lock ends with the process that holds it, however it ends. One writer at a time is an `flock` (`filelock.FileLock`);
readers beside each other are what `filelock.ReadWriteLock` holds through SQLite. Lock files stay empty, and stay.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import pyarrow as pa
from filelock import FileLock, ReadWriteLock, Timeout

BEGUN: Final = ".tmp-"
_POLL: Final = 0.05


class Closable(Protocol):
    """A file that is being written."""

    def close(self) -> object:
        """Write what is pending, and end."""


def abandon(files: Iterable[Closable], paths: Iterable[Path]) -> None:
    """End files that something went wrong with, and delete them; what goes wrong with that is not told too."""
    for file in files:
        with suppress(OSError, pa.ArrowException):  # Where a disk is full, what is pending cannot be written either.
            file.close()
    for path in paths:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file in the same directory, then rename it to `path`.

    A reader sees the old file or the new one; a writer that is killed leaves only a file named `.tmp-*`, for `sweep`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle, name = tempfile.mkstemp(prefix=BEGUN, suffix=path.suffix, dir=path.parent)
        with suppress(OSError):  # Not every file system that machines share has locks.
            fcntl.flock(handle, fcntl.LOCK_EX)  # While it is open, its lock tells `sweep` that it is being written.
        if os.fstat(handle).st_nlink:
            break
        os.close(handle)  # It was swept before it was held.
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def begun(path: Path) -> bool:
    """Whether `path` is a temporary file of `write_whole`, or of another writer of this package."""
    return path.name.startswith(BEGUN)


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` by `text` in one step."""
    write_whole(path, lambda temporary: void(temporary.write_text(text, "utf-8")))


def void(_: object) -> None:
    """Drop a value: for callbacks that must return nothing."""


@contextmanager
def exclusive(path: Path, busy: Exception, seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock file at `path` alone.

    Args:
        path: Made if it is not there; its folder must be.
        busy: Raised where another process holds it.
        seconds: How long to wait for that process first; for ever where negative.
    """
    try:
        hold = FileLock(path).acquire(timeout=seconds)
    except Timeout:
        raise busy from None
    with hold:
        yield


@contextmanager
def beside_others(path: Path, busy: Exception, seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock file at `path` beside others that do so, which no holder of `exclusive` may have; as that."""
    until = time.monotonic() + seconds
    with path.open("a+b") as file:  # NFS wants a shared lock of one who may read.
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if seconds >= 0 and time.monotonic() >= until:
                    raise busy from None
            time.sleep(_POLL)
        try:
            yield
        finally:  # A process forked meanwhile holds the file too.
            fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def readers_or_writer(path: Path, busy: Exception, *, shared: bool) -> Iterator[None]:
    """Hold the lock file at `path` beside other readers (`shared`) or alone; `busy` is raised where others hinder it.

    All holders of a path must use this function: a lock of `exclusive` is of another kind.
    """
    lock = ReadWriteLock(path, blocking=False, is_singleton=False)
    try:
        hold = lock.acquire_read() if shared else lock.acquire_write()
    except Timeout:
        raise busy from None
    with hold:
        yield


def abandoned(root: Path) -> Iterator[Path]:
    """The temporary files under `root` of writers that were killed; each is held until the next is asked for."""
    for path in root.rglob(f"{BEGUN}*"):
        with suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield path


def sweep(root: Path) -> None:
    """Remove the temporary files under `root` of writers that were killed; nobody may be writing tables there."""
    for path in abandoned(root):
        with suppress(OSError):
            path.unlink()


@dataclass(frozen=True)
class Space:
    """How many files, and how many bytes they have."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Space) -> Space:
        return Space(self.files + other.files, self.bytes + other.bytes)


@dataclass(frozen=True)
class Remnant:
    """A file or folder that can go."""

    kind: str  # What it was part of, for the report.
    path: Path  # Where it is.

    def space(self) -> Space:
        """What it takes."""
        if not self.path.is_dir():
            return Space(1, size_of(self.path))
        return sum((Space(1, size_of(path)) for path in self.path.rglob("*") if not path.is_dir()), Space())

    def remove(self) -> None:
        """Delete it; what is gone already is no error."""
        if self.path.is_dir() and not self.path.is_symlink():
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)


def size_of(path: Path) -> int:
    """Bytes of a file; none of one that is gone, or that has another name that stays."""
    try:
        stat = path.lstat()
    except OSError:
        return 0
    return stat.st_size if stat.st_nlink <= 1 else 0
