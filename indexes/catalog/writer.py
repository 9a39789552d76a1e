"""The one writer of a warehouse: it holds a lock, and says beside it who it is, for whoever finds it taken.

Steps of builds, which write apart from each other, hold the lock together.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import psutil
from pydantic import BaseModel, Field, ValidationError

from quern.indexes import storage
from quern.indexes.catalog.manifest import WarehouseError
from quern.indexes.disk import is_read_only
from quern.indexes.storage import exclusive, write_text

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
            writer = cls.model_validate_json(_file(root).read_bytes())
        except (OSError, ValidationError):
            return None
        ended = writer.host == socket.gethostname() and not psutil.pid_exists(writer.process)
        return None if ended else writer

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
def held_for_writing(root: Path, what: str, seconds: float, *, beside_others: bool = False) -> Iterator[None]:
    """Hold the warehouse at `root` for writing, as its one writer or beside others that write apart from it.

    Args:
        root: The warehouse.
        what: What it is held for.
        seconds: How long to wait for another writer to end.
        beside_others: Whether it is held together with others that say so.

    Raises WarehouseError: another holds it still, or it cannot be written.
    """
    lock, busy = root / "build.lock", TimeoutError()
    hold = storage.beside_others if beside_others else exclusive
    with ExitStack() as stack:
        try:
            try:
                stack.enter_context(hold(lock, busy))
            except TimeoutError:
                if seconds <= 0:
                    raise
                log.info("waiting for %s: at most %g s", Writer.read(root) or "another build", seconds)
                stack.enter_context(hold(lock, busy, seconds))
        except TimeoutError:
            writer = Writer.read(root)
            note = f" ({writer})" if writer else ""
            raise WarehouseError(
                f"another build is writing to {root}{note}; stop it, or wait for it: `quern build --wait SECONDS` and "
                "`quern stage --wait SECONDS` do so"
            ) from None
        except OSError as error:
            if not is_read_only(error):
                raise
            raise WarehouseError(f"{root} cannot be written: {error.strerror}") from None
        Writer(what=what).tell(root)
        stack.callback(_forget, root)
        yield


def _forget(root: Path) -> None:
    writer = Writer.read(root)
    if writer and (writer.process, writer.host) != (os.getpid(), socket.gethostname()):
        return  # It writes beside this one.
    with suppress(OSError):
        _file(root).unlink(missing_ok=True)
