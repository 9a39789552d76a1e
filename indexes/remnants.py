"""Files that can go: what writers left that were killed, and what nothing needs any more."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from quern.indexes.storage import BEGUN


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
