"""Files that are whole or absent: written beside their place, then renamed into it."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import pyarrow as pa

_BEGUN: Final = ".tmp-"


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
    handle, temporary = _held(path)
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def _held(path: Path) -> tuple[int, Path]:
    """A new temporary file beside `path`; while it is open, its lock tells `sweep` that it is being written."""
    while True:
        handle, name = tempfile.mkstemp(prefix=_BEGUN, suffix=path.suffix, dir=path.parent)
        with suppress(OSError):  # Not every file system that machines share has locks.
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # It was swept before it was held.


def begun(path: Path) -> bool:
    """Whether `path` is a temporary file of `write_whole`, or of another writer of this package."""
    return path.name.startswith(_BEGUN)


def abandoned(root: Path) -> Iterator[Path]:
    """The temporary files under `root` of writers that were killed; each is held until the next is asked for."""
    for path in root.rglob(f"{_BEGUN}*"):
        with suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield path


def sweep(root: Path) -> None:
    """Remove the temporary files under `root` of writers that were killed; nobody may be writing tables there."""
    for path in abandoned(root):
        with suppress(OSError):
            path.unlink()


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` by `text` in one step."""
    write_whole(path, lambda temporary: void(temporary.write_text(text, "utf-8")))


def void(_: object) -> None:
    """Drop a value: for callbacks that must return nothing."""
