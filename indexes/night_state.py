"""What whole-table jobs keep from night to night: states, of which the newest counts.

A state is a directory that appears whole, by one rename, with a checksum of each of its files. One that is damaged is
left aside, and costs its job a full run. A new state ends those before it; folders with states of other settings are
kept while they are few, for who tries settings goes to and fro between some.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from quern.indexes.checksums import VERIFIED, DamagedError, checksum_of, read_sealed, write_sealed

log = logging.getLogger(__name__)

ABOUT: Final = "about.json"
_MEND: Final = "the next build does in full what it would have taken up"
_BEGUN: Final = ".tmp-"
# What a state that is not as it was written raises as it is looked through, or as its job reads it.
_DAMAGED: Final = (OSError, ValueError, KeyError, TypeError, DamagedError)
_T = TypeVar("_T")


@dataclass(frozen=True)
class NightStates:
    """The states of one job with one fingerprint, in a folder of their own."""

    folder: Path

    def newest(self, read: Callable[[Path, Mapping[str, Any]], _T]) -> _T | None:
        """What `read` makes of the newest state that is as it was written; None where there is none.

        Args:
            read: Given the state's directory and what `commit` was told of it. It raises OSError, ValueError, KeyError
                or TypeError where it cannot be used.
        """
        if not self.folder.is_dir():
            return None
        for path in reversed(self._states()):
            try:
                state = read(path, _verified(path))
            except _DAMAGED as error:
                log.warning("state of the last night is damaged and is left aside: %s error=%s", path, error)
                continue
            with suppress(OSError):
                os.utime(self.folder)  # What is used last is forgotten last.
            return state
        return None

    def forget_damaged(self) -> None:
        """Remove the states that are not as they were written: a job that nothing changed for reads none of them."""
        for path in self._states():
            try:
                _verified(path)
            except _DAMAGED as error:
                log.warning("state of a night is damaged and is removed: %s error=%s", path, error)
                _remove(path)

    def begin(self, name: str) -> Path:
        """An empty directory for the files of the state `name`."""
        if not self.folder.is_dir():
            _remove(self.folder)
        for path in self.folder.glob(f"{_BEGUN}*"):
            _remove(path)
        path = self.folder / f"{_BEGUN}{name}"
        path.mkdir(parents=True)
        return path

    def commit(self, path: Path, about: Mapping[str, Any]) -> None:
        """Make the directory from `begin` the newest state, and forget the others in the folder.

        Args:
            path: The directory.
            about: What the state is to be read with.
        """
        files = sorted(p for p in path.rglob("*") if p.is_file())
        with ThreadPoolExecutor(4) as pool:  # Each file waits for the disk most of the time.
            names = [file.relative_to(path).as_posix() for file in files]
            checksums = dict(zip(names, pool.map(_synced, files), strict=True))
        write_sealed(path / ABOUT, {**about, "digests": checksums})
        older = [p for p in self.folder.iterdir() if p != path]
        final = self.folder / path.name.removeprefix(_BEGUN)
        _remove(final)
        path.replace(final)
        for name, expected in checksums.items():
            VERIFIED.add(final / name, expected)
        for old in older:
            if old != final:
                _remove(old)

    def _states(self) -> list[Path]:
        return sorted(p for p in self.folder.iterdir() if p.is_dir() and not p.name.startswith("."))

    def forget_others(self) -> None:
        """Remove the folders beside this one with states of settings that were not used for long."""
        others = sorted((p for p in self.folder.parent.iterdir() if p != self.folder), key=lambda p: p.stat().st_mtime)
        for path in others[:-4]:
            _remove(path)


def _verified(path: Path) -> Mapping[str, Any]:
    """What was told of the state at `path`; files that this process has written or read whole are not read again."""
    about = read_sealed(path / ABOUT, _MEND)
    for name, expected in about["digests"].items():
        if why := VERIFIED.damage(path / name, expected):
            raise DamagedError(path / name, why, _MEND)
    return about


def _synced(path: Path) -> str:
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return checksum_of(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
