"""Disks of a few KiB, and ones that cannot be written, for tests of what happens then; only root may mount them."""

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
        _mount("-o", f"remount,size={kib}k", str(self.path))

    def fill(self, left: int = 0) -> None:
        disk = os.statvfs(self.path)
        taken = self._filler.stat().st_blocks * 512 if self._filler.exists() else 0
        size = taken + disk.f_bavail * disk.f_frsize - (left << 10)
        with self._filler.open("wb") as file:
            if size > 0:
                os.posix_fallocate(file.fileno(), 0, size // BLOCK * BLOCK)

    def empty(self) -> None:
        self._filler.unlink(missing_ok=True)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


@contextmanager
def _mounted(path: Path, *arguments: str) -> Iterator[None]:
    path.mkdir()
    try:
        _mount(*arguments, str(path))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root may mount a disk: `unshare -rm make unit` runs this test too")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@contextmanager
def small_disk(path: Path, kib: int) -> Iterator[SmallDisk]:
    """A small disk at `path`; the test is skipped where this user may mount none."""
    with _mounted(path, "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs"):
        yield SmallDisk(path)


@contextmanager
def read_only(folder: Path, path: Path) -> Iterator[Path]:
    """`folder` at `path` on a disk that cannot be written; the test is skipped where this user may mount none."""
    with _mounted(path, "--bind", str(folder)):
        _mount("-o", "remount,ro,bind", str(path))
        yield path
