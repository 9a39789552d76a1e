"""Locks on files, which end with the process that holds them, however it ends.

One writer at a time is an `flock` (`filelock.FileLock`); readers beside each other are what `filelock.ReadWriteLock`
holds through SQLite. Lock files stay empty, and stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, ReadWriteLock, Timeout


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
