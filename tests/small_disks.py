"""A disk of a few KiB, for tests of what happens when it is full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BLOCK = 4096


class SmallDisk:
    """A file system in memory, of a size that can be changed; a part of it can be taken by a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def resize(self, kib: int) -> None:
        """Give it so much space, in all."""
        _mount("-o", f"remount,size={kib}k", str(self.path))

    def fill(self, left: int = 0) -> None:
        """Leave `left` KiB free."""
        disk = os.statvfs(self.path)
        taken = self._filler.stat().st_blocks * 512 if self._filler.exists() else 0
        size = taken + disk.f_bavail * disk.f_frsize - (left << 10)
        with self._filler.open("wb") as file:
            if size > 0:
                os.posix_fallocate(file.fileno(), 0, size // BLOCK * BLOCK)

    def empty(self) -> None:
        """Give back what was taken."""
        self._filler.unlink(missing_ok=True)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


@contextmanager
def small_disk(path: Path, kib: int) -> Iterator[SmallDisk]:
    """A small disk at `path`; the test is skipped where this user may mount none."""
    path.mkdir()
    try:
        _mount("-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(path))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small disk can only be mounted by root: unshare -rm make unit")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)
