"""Files that are whole or absent: written beside their place, then renamed into it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import pyarrow as pa


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

    A reader sees the old file or the new one; a writer that is killed leaves only a file named `.tmp-*`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".tmp-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` by `text` in one step."""
    write_whole(path, lambda temporary: void(temporary.write_text(text, "utf-8")))


def void(_: object) -> None:
    """Drop a value: for callbacks that must return nothing."""
