"""Leases: a reader's hold on a snapshot, which pruning leaves alone while anyone reads it.

A lease is a shared `flock` on the snapshot's manifest, which many readers hold beside each other. It ends with the
object, or with the process, however that ends: there are no stale ones to clear away. It needs no file of its own and
no right to write, so that a warehouse on a read-only file system is leased too. Where the file system has no such
locks, a reader has no lease; over NFS the server keeps them for all its clients.

The one writer of a warehouse holds a lock of its own, and says beside it who it is, for who finds it taken.
"""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

import psutil
from pydantic import BaseModel, Field, ValidationError

from quern.indexes.catalog.manifest import WarehouseError
from quern.indexes.disk import is_read_only
from quern.indexes.storage import exclusive, write_text

# Pruning holds a manifest alone for as long as it takes to delete one file: a second is long.
_TRIES: Final = 200


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

    Raises:
        FileNotFoundError: The manifest is gone.
    """
    for _ in range(_TRIES):
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
        if _is_at(handle, manifest):
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


def _is_at(handle: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False


log = logging.getLogger(__name__)


class Writer(BaseModel):
    """A process that writes to a warehouse."""

    what: str  # What it does, such as `build 20261122T060000000`.
    process: int = Field(default_factory=os.getpid)  # Its process id.
    host: str = Field(default_factory=socket.gethostname)  # Its machine.
    since: datetime = Field(default_factory=lambda: datetime.now(UTC))  # When it began.

    @classmethod
    def read(cls, root: Path) -> Self | None:
        """The writer of the warehouse at `root`; None where none tells of itself, or only one that has ended."""
        try:
            found = cls.model_validate_json(_file(root).read_bytes())
        except (OSError, ValidationError):
            return None
        ended = found.host == socket.gethostname() and not psutil.pid_exists(found.process)
        return None if ended else found

    def tell(self, root: Path) -> None:
        """Tell who wants to write too; who cannot be told waits all the same."""
        with suppress(OSError):
            write_text(_file(root), self.model_dump_json() + "\n")

    def __str__(self) -> str:
        machine = "" if self.host == socket.gethostname() else f" on {self.host}"
        return f"{self.what} of process {self.process}{machine}, since {self.since:%Y-%m-%d %H:%M:%S} UTC"


def _file(root: Path) -> Path:
    return root / "build.holder.json"


@contextmanager
def held_for_writing(root: Path, what: str, seconds: float) -> Iterator[None]:
    """Hold the warehouse at `root` for writing, as its one writer.

    Args:
        root: The warehouse.
        what: What it is held for.
        seconds: How long to wait for another writer to end.

    Raises:
        WarehouseError: Another holds it still, or it cannot be written.
    """
    lock, busy = root / "build.lock", TimeoutError()
    with ExitStack() as held:
        try:
            try:
                held.enter_context(exclusive(lock, busy))
            except TimeoutError:
                if seconds <= 0:
                    raise
                log.info("waiting for %s: at most %g s", Writer.read(root) or "another build", seconds)
                held.enter_context(exclusive(lock, busy, seconds))
        except TimeoutError:
            raise WarehouseError(_busy(root)) from None
        except OSError as error:
            if not is_read_only(error):
                raise
            raise WarehouseError(f"{root} cannot be written: {error.strerror}") from None
        Writer(what=what).tell(root)
        held.callback(_forget, root)
        yield


def _forget(root: Path) -> None:
    with suppress(OSError):
        _file(root).unlink(missing_ok=True)


def _busy(root: Path) -> str:
    writer = Writer.read(root)
    told = f" ({writer})" if writer else ""
    return (
        f"another build is writing to {root}{told}; stop it, or wait for it: `quern build --wait SECONDS` and "
        "`quern stage --wait SECONDS` do so"
    )
