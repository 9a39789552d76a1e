"""What nothing needs any more: files and folders that can go, by kind."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Space:
    """How many files, and how many bytes they have."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Space) -> Space:
        return Space(self.files + other.files, self.bytes + other.bytes)


@dataclass(frozen=True)
class Remnant:
    """A file or folder that can go.

    Attributes:
        kind: What it was part of, for the report.
        path: Where it is.
    """

    kind: str
    path: Path

    def space(self) -> Space:
        """What it takes."""
        if not self.path.is_dir():
            return Space(1, size_of(self.path))
        return sum((Space(1, size_of(path)) for path in _files(self.path)), Space())

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


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if not path.is_dir())


def space_of(remnants: Iterable[Remnant]) -> dict[str, Space]:
    """What remnants take, by kind."""
    taken: dict[str, Space] = {}
    for remnant in remnants:
        taken[remnant.kind] = taken.get(remnant.kind, Space()) + remnant.space()
    return taken
