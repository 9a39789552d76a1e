"""Files of a warehouse that searches of large snapshots make for themselves, once for each version of a table.

They are made of published tables alone, so they may be deleted at any time; `quern vacuum` does so when no snapshot has
their table any more. A folder is made under another name and renamed: it is whole or absent.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from quern.indexes.remnants import Remnant
from quern.indexes.storage import BEGUN, exclusive

log = logging.getLogger(__name__)

_FOREVER: Final = -1.0
_T = TypeVar("_T")


class SearchFiles:
    """The folder `search` of a warehouse, or a temporary one where the warehouse cannot be written."""

    def __init__(self, root: Path) -> None:
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.folder = root / "search"
        if not os.access(self.folder if self.folder.is_dir() else root, os.W_OK):
            self._temporary = tempfile.TemporaryDirectory()
            self.folder = Path(self._temporary.name)

    def opened(self, name: str, make: Callable[[Path], None], open_: Callable[[Path], _T]) -> _T:
        """What `open_` gives of the folder `name`; one that it cannot open is made again, once.

        Raises:
            NoRoomError: The disk has no room for it.
        """
        folder = self.made(name, make)
        try:
            return open_(folder)
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("search=%s cannot be opened and is made again: %s", name, error)
            shutil.rmtree(folder)
            return open_(self.made(name, make))

    def made(self, name: str, make: Callable[[Path], None]) -> Path:
        """The folder `name`, which `make` fills if it is not there; who else wants it meanwhile waits.

        Raises:
            NoRoomError: The disk has no room for it.
        """
        folder = self.folder / name
        if folder.is_dir():
            return folder
        self.folder.mkdir(exist_ok=True)
        with _making(self.folder, _FOREVER):
            if not folder.is_dir():
                self._make(folder, make)
        return folder

    def _make(self, folder: Path, make: Callable[[Path], None]) -> None:
        begun, started = folder.with_name(BEGUN + folder.name), time.monotonic()
        log.info("search=%s is made, once for this version of the table", folder.name)
        shutil.rmtree(begun, ignore_errors=True)  # Of a search that was killed.
        begun.mkdir()
        try:
            make(begun)
            begun.rename(folder)
        finally:
            shutil.rmtree(begun, ignore_errors=True)
        log.info("search=%s seconds=%.1f", folder.name, time.monotonic() - started)

    def remnants(self, digests: Collection[str]) -> Iterator[Remnant]:
        """Folders of tables that have none of these digests, and what a search left that was killed."""
        if not self.folder.is_dir() or self._temporary:
            return
        try:
            with _making(self.folder, 0.0):
                for path in self.folder.iterdir():
                    if path.is_dir() and not any(f"-{digest[:32]}-" in path.name for digest in digests):
                        yield Remnant("search", path)
        except TimeoutError:  # One is being made: the next vacuum sees to it.
            return


@contextmanager
def _making(folder: Path, seconds: float) -> Iterator[None]:
    with exclusive(folder / "making.lock", TimeoutError(), seconds):
        yield
