"""What the command line says of an error: one sentence for what a user can mend, none for a fault of Quern."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from quern.indexes.checksums import DamagedError
from quern.indexes.disk import DiskFault, NoRoomError, Told, disk_fault, free_bytes
from quern.schemas.errors import MachineFaultError, QuernError
from quern.schemas.extras import sentence_of

_GOES_ON: Final = (
    "what was finished is kept and what is published stays: make room and run the same command again, it goes on from "
    "there"
)


def sentence(error: BaseException, arguments: Sequence[str]) -> str | None:
    """What to tell of `error`, given the arguments of the command; None where it is a fault of Quern."""
    if isinstance(error, ModuleNotFoundError):
        return sentence_of(error)
    own = isinstance(error, QuernError)
    # Errors of Quern say themselves what to do, but for those of engines, which only repeat what these say.
    if not own or (isinstance(error, MachineFaultError) and not isinstance(error, DamagedError)):
        told = disk_fault(error)
        if told is not None:
            return _of_disk(told, arguments)
    return str(error) if own else None


def _of_disk(told: Told, arguments: Sequence[str]) -> str:
    path, error = _place(told.by, arguments), told.by
    said = getattr(error, "strerror", None) or told.fault.value
    match told.fault:
        case DiskFault.FULL:
            return f"no space is left {_where(path, error)}; {_GOES_ON}"
        case DiskFault.TOO_LARGE:
            return f"{path} needs a larger file than `ulimit -f` or its file system allows; {_GOES_ON}"
        case DiskFault.UNREADABLE:
            return (
                f"the disk of {path} fails ({said}); the machine's log (`dmesg`) says more: what is published stays as "
                "it is, and `quern verify` reads all of it"
            )
        case DiskFault.READ_ONLY:
            return f"{path} cannot be written: {said}; commands that only read do without that"


def _place(error: BaseException, arguments: Sequence[str]) -> Path:
    """Where the fault is: the file that the error names, or what the command names on the fullest disk."""
    named = getattr(error, "filename", None)
    if isinstance(named, str) and named:
        return Path(named)
    if isinstance(error, FileNotFoundError):  # So Python says that there is no room in any folder for temporary files.
        return Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - named, not used
    places = [Path(path) for a in arguments for path in (a, a.partition("=")[2]) if path and os.path.exists(path)]  # noqa: PTH110 - a path may be none at all
    with suppress(FileNotFoundError):
        places.append(Path(tempfile.gettempdir()))
    return min(places or [Path.cwd()], key=free_bytes)


def _where(path: Path, error: BaseException) -> str:
    if isinstance(error, NoRoomError):
        return f"for {path}: {_size(error.needed)} needed, {_size(error.free)} free"
    free = free_bytes(path)
    if free < 64 << 20:  # A disk that is not full has more.
        return f"for {path}: {_size(free)} free, now that what was begun is deleted"
    # It is another disk, of another machine perhaps, or a quota.
    return f"where this command writes, and {path} has {_size(free)} free"


def _size(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def tell(said: str) -> None:
    """Say it on standard error, which may lie on the full disk itself."""
    with suppress(OSError):
        sys.stderr.write(f"quern: {said}\n")
        sys.stderr.flush()
    for stream in (sys.stdout, sys.stderr):
        _let_go(stream)


def _let_go(stream: TextIO) -> None:
    """Send what is left of an output to nowhere where it cannot be written: the exit code would tell of that alone."""
    try:
        stream.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
