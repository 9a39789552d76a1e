"""Files of a warehouse that searches of large snapshots make for themselves, once for each version of a table.

They are made of published tables alone, so they may be deleted at any time; `quern vacuum` does so when no snapshot has
their table any more. A folder is made under another name, written through to the disk and renamed: it is whole or
absent. It is sealed with the checksums of its files: at each opening all have the sizes that they had, and those that
are read whole their bytes too.
"""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from quern.indexes.checksums import DamagedError, checksum_of, read_sealed, size_of, write_sealed
from quern.indexes.storage import BEGUN, Remnant, begun, exclusive

log = logging.getLogger(__name__)

_FOREVER: Final = -1.0
_SEAL: Final = "files.json"
_READ_WHOLE: Final = 1 << 26  # Bytes; larger files are mapped.
_T = TypeVar("_T")


class SearchFiles:
    """The folder `search` of a warehouse."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "search"

    def opened(self, name: str, make: Callable[[Path], None], open_: Callable[[Path], _T]) -> _T | None:
        """What `open_` gives of the folder `name`, which `make` fills where it is not there, or damaged.

        Who else wants it meanwhile waits. None where it is not there and the warehouse cannot be written.

        Raises NoRoomError: the disk has no room for it.
        """
        folder = self.folder / name
        with suppress(DamagedError, FileNotFoundError):
            return _opened(folder, open_)
        if not os.access(self.folder if self.folder.is_dir() else self.folder.parent, os.W_OK):
            return None
        self.folder.mkdir(exist_ok=True)
        with _making(self.folder, _FOREVER):
            with suppress(FileNotFoundError):  # Another has made it meanwhile, or made it again.
                try:
                    return _opened(folder, open_)
                except DamagedError as error:
                    log.warning("search=%s is made again: %s", name, error)
            new, started = folder.with_name(BEGUN + folder.name), time.monotonic()
            log.info("search=%s is made, once for this version of the table", folder.name)
            shutil.rmtree(new, ignore_errors=True)  # Of a search that was killed.
            new.mkdir()
            try:
                make(new)
                # Write the files of a folder through to the disk, and their checksums beside them.
                files = sorted(new.iterdir())
                for path in files:
                    with path.open("rb") as file:
                        os.fsync(file.fileno())
                write_sealed(new / _SEAL, {path.name: checksum_of(path) for path in files})
                shutil.rmtree(folder, ignore_errors=True)
                new.rename(folder)
            finally:
                shutil.rmtree(new, ignore_errors=True)
            log.info("search=%s seconds=%.1f", folder.name, time.monotonic() - started)
            return _opened(folder, open_)

    def remnants(self, digests: Collection[str]) -> Iterator[Remnant]:
        """Folders of tables that have none of these digests, and what a search left that was killed."""
        if not self.folder.is_dir():
            return
        folders = [path for path in self.folder.iterdir() if path.is_dir()]
        unknown = [p for p in folders if not begun(p) and not any(f"-{digest[:32]}-" in p.name for digest in digests)]
        yield from (Remnant("search", path) for path in unknown)
        with suppress(TimeoutError, OSError), _making(self.folder, 0.0):  # Else one is being made.
            yield from (Remnant("search", path) for path in folders if begun(path))


def _opened(folder: Path, open_: Callable[[Path], _T]) -> _T:
    if not folder.is_dir():
        raise FileNotFoundError(folder)
    try:
        sealed = read_sealed(folder / _SEAL)
        for name, expected in sealed.items():
            path, size = folder / name, size_of(expected)
            if path.stat().st_size != size or (size <= _READ_WHOLE and checksum_of(path) != expected):
                raise DamagedError(path, "its bytes are others than were written", "it is made again")
    except FileNotFoundError as error:
        raise DamagedError(folder, f"{error.filename} is gone", "it is made again") from None
    return open_(folder)


@contextmanager
def _making(folder: Path, seconds: float) -> Iterator[None]:
    with exclusive(folder / "making.lock", TimeoutError(), seconds):
        yield
