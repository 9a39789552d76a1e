"""Leases: a reader's hold on a snapshot, which pruning leaves alone while anyone reads it.

A lease is a shared `flock` on the snapshot's manifest, which many readers hold beside each other. It ends with the
object, or with the process, however that ends: there are no stale ones to clear away. It needs no file of its own and
no right to write, so that a warehouse on a read-only file system is leased too. Where the file system has no such
locks, a reader has no lease; over NFS the server keeps them for all its clients.
"""

from __future__ import annotations

import fcntl
import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Lease:
    """A hold on one manifest, until `end`, the end of the object, or that of the process; without a handle none."""

    def __init__(self, manifest: Path, handle: int | None) -> None:
        self.build_id = manifest.stem
        self._end = None if handle is None else weakref.finalize(self, os.close, handle)

    @property
    def held(self) -> bool:
        """Whether pruning is kept away."""
        return self._end is not None and self._end.alive

    def end(self) -> None:
        """Let go; a second call does nothing."""
        if self._end is not None:
            self._end()


def take_lease(manifest: Path) -> Lease:
    """A lease on the snapshot whose manifest is at `manifest`; it is there still when this returns.

    Raises FileNotFoundError: the manifest is gone.
    """
    # Pruning holds a manifest alone for as long as it takes to delete one file: a second is long.
    for _ in range(200):
        handle = os.open(manifest, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:  # It is being pruned, or someone looks whether it is read.
            os.close(handle)
            time.sleep(0.005)
            continue
        except OSError:  # A file system without locks.
            os.close(handle)
            return Lease(manifest, None)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), manifest.stat()):
                return Lease(manifest, handle)
        os.close(handle)
    return Lease(manifest, None)


@contextmanager
def held_alone(manifest: Path) -> Iterator[bool]:
    """Whether nobody holds a lease on the snapshot of `manifest`; none can be taken inside the block if so."""
    handle = os.open(manifest, os.O_RDWR if os.access(manifest, os.W_OK) else os.O_RDONLY)  # NFS asks for the first.
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:  # Without locks there are no leases.
            pass
        yield True
    finally:
        os.close(handle)


def is_leased(manifest: Path) -> bool:
    """Whether a reader holds the snapshot of `manifest`."""
    with suppress(FileNotFoundError), held_alone(manifest) as alone:
        return not alone
    return False
