"""The disk and its faults: what libraries make of them is recognised here, and what is mapped has its space first."""

from __future__ import annotations

import errno
import logging
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

log = logging.getLogger(__name__)


class DiskFault(Enum):
    """What can be wrong with a disk."""

    FULL = "no space is left"
    TOO_LARGE = "a file may not grow any larger"
    UNREADABLE = "the disk itself fails"
    READ_ONLY = "it cannot be written"


_NUMBERS: Final[Mapping[int, DiskFault]] = {
    errno.ENOSPC: DiskFault.FULL,
    errno.EDQUOT: DiskFault.FULL,
    errno.EFBIG: DiskFault.TOO_LARGE,
    errno.EIO: DiskFault.UNREADABLE,
    errno.EROFS: DiskFault.READ_ONLY,
    errno.EACCES: DiskFault.READ_ONLY,
    errno.EPERM: DiskFault.READ_ONLY,
}
# What is said of the faults where there is no number: by Java, Rust (LanceDB), SQLite, Ray, and Python of its folders.
_WORDS: Final[Mapping[str, DiskFault]] = {
    "no space left on device": DiskFault.FULL,
    "disk quota exceeded": DiskFault.FULL,
    "os error 28)": DiskFault.FULL,
    "database or disk is full": DiskFault.FULL,
    "no usable temporary directory": DiskFault.FULL,
    "outofdiskerror": DiskFault.FULL,
    "local disk is full": DiskFault.FULL,
    "file too large": DiskFault.TOO_LARGE,
    "input/output error": DiskFault.UNREADABLE,
    "disk i/o error": DiskFault.UNREADABLE,
    "read-only file system": DiskFault.READ_ONLY,
    "attempt to write a readonly database": DiskFault.READ_ONLY,
}


_EXIT_CODES: Final[Mapping[DiskFault, int]] = {
    DiskFault.FULL: errno.ENOSPC,
    DiskFault.TOO_LARGE: errno.EFBIG,
    DiskFault.UNREADABLE: errno.EIO,
    DiskFault.READ_ONLY: errno.EROFS,
}


def exit_code(error: BaseException) -> int:
    """The code that a process ends with for `error`: 1, but for faults of the disk."""
    fault = disk_fault(error)
    return _EXIT_CODES[fault.fault] if fault else 1


def raise_for(code: int, path: Path) -> None:
    """Raise the fault of the disk that a process which writes to `path` ended for.

    Raises OSError: `code` is that of one.
    """
    if code in _EXIT_CODES.values():
        raise OSError(code, os.strerror(code), str(path))


class NoRoomError(OSError):
    """A file that there is no space for.

    Attributes:
        needed: Bytes that it would have.
        free: Bytes that there were.
    """

    def __init__(self, error: OSError, path: Path, needed: int) -> None:
        self.needed, self.free = needed, free_bytes(path)
        super().__init__(error.errno, f"{error.strerror}: {needed} bytes needed, {self.free} free", str(path))


@dataclass(frozen=True)
class Told:
    """A fault, and the error that tells of it."""

    fault: DiskFault
    by: BaseException


def disk_fault(error: BaseException) -> Told | None:
    """The fault of the disk that `error` came of; None where there is none.

    Libraries wrap what happened in errors of their own, so those that led to an error are looked at too. The first of
    them counts that names a file, because later ones are of cleaning up. That something may not be written is often
    asked and often no fault: it counts where nothing else was raised for it.
    """
    # `error` and all errors that led to it, the first of all first.
    errors: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one not in errors:
            errors.append(one)
            waiting += [before for before in (one.__cause__, one.__context__) if before is not None]
    told = [Told(fault, one) for one in errors[::-1] if (fault := _fault_of(one)) is not None]
    # `error`, and the errors that it was raised from.
    causes = [error]
    while (cause := causes[-1].__cause__) is not None and cause not in causes:
        causes.append(cause)
    told = [one for one in told if one.fault is not DiskFault.READ_ONLY or one.by in causes]

    def says_little(told: Told) -> tuple[bool, bool, bool]:
        """How little an error says: the least of the first, of faults that are none for sure the last."""
        unsure = told.fault is DiskFault.READ_ONLY
        return unsure, not isinstance(told.by, NoRoomError), getattr(told.by, "filename", None) is None

    return min(told, key=says_little, default=None)


def is_read_only(error: OSError) -> bool:
    """Whether nothing may be written where `error` was raised."""
    return _numbered(error) is DiskFault.READ_ONLY


def _numbered(error: OSError) -> DiskFault | None:
    return _NUMBERS.get(error.errno or 0)


def _fault_of(error: BaseException) -> DiskFault | None:
    fault = _numbered(error) if isinstance(error, OSError) else None
    if fault is not None:
        return fault
    message = said_by(error).lower()
    return next((fault for words, fault in _WORDS.items() if words in message), None)


def said_by(error: BaseException) -> str:
    """What an error says; nothing where it cannot say it any more: py4j's ask a Java process, which may have ended."""
    try:
        return str(error)
    except Exception as mute:  # noqa: BLE001 - what is told is the error itself, never that it could not be asked
        log.debug("error=%s says nothing: %r", type(error).__name__, mute)
        return ""


def free_bytes(path: Path) -> int:
    """Bytes that may be written to the disk of `path`, which need not be there; none where no file may be added."""
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    disk = os.statvfs(there)
    return disk.f_bavail * disk.f_frsize if disk.f_favail or not disk.f_files else 0


def mapped(path: Path, dtype: type[np.generic], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """A new file at `path` as an array of zeros; its space is taken before it is mapped.

    A page of a mapping that the disk has no room for ends the process (SIGBUS), which no one can catch.

    Raises NoRoomError: there is no space for it.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size == 0:
        return np.empty(shape, dtype=dtype)
    with path.open("wb+") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if _numbered(error) is None:
                raise
            raise NoRoomError(error, path, size) from None
    return np.memmap(str(path), dtype=dtype, mode="r+", shape=shape)  # A path as such would have its links followed.


def let_go(rows: npt.NDArray[Any], part: slice) -> None:
    """Give back the memory of a part of a whole mapped file, which the system would keep as long as nobody wants it.

    What is in memory, and no file, stays.
    """
    mapping: mmap.mmap | None = getattr(rows, "_mmap", None)
    if mapping is not None:
        begin = part.start * rows.strides[0]
        begin -= begin % mmap.PAGESIZE
        mapping.madvise(mmap.MADV_DONTNEED, begin, part.stop * rows.strides[0] - begin)
