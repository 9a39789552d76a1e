"""Web archive collections (WACZ 1.1.1): zip files that hold WARC files as they are, under `archive/`."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

from quern.jobs.pages.formats.packed import DamagedError

_ARCHIVES: Final = ("archive/", (".warc", ".warc.gz"))
_MOST_MEMBERS: Final = 10_000
_LOCAL_HEADER: Final = 30  # Bytes before the name of a member; the lengths of name and extra field are its last four.


class Window(io.RawIOBase):
    """A range of a file, read as a file of its own."""

    def __init__(self, raw: BinaryIO, start: int, size: int) -> None:
        self._raw, self._start, self._size, self._at = raw, start, size, 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move within the range."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        """Where in the range the next byte is."""
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read on, not beyond the range."""
        self._raw.seek(self._start + self._at)
        content = self._raw.read(max(0, min(len(buffer), self._size - self._at)))
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)


def window(raw: BinaryIO, start: int, size: int) -> BinaryIO:
    """A range of a file, buffered."""
    return cast(BinaryIO, io.BufferedReader(Window(raw, start, size)))


@dataclass(frozen=True)
class Member:
    """A WARC file in the collection: its name, and its bytes in the file."""

    name: str
    start: int
    size: int


def members(raw: BinaryIO) -> Iterator[Member]:
    """The WARC files of a collection.

    Raises:
        DamagedError: It is no zip file, is damaged, or has none that stands there as it is.
    """
    folder, endings = _ARCHIVES
    try:
        with zipfile.ZipFile(raw) as packed:
            listed = [i for i in packed.infolist() if i.filename.startswith(folder) and i.filename.endswith(endings)]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise DamagedError("damaged_wacz", f"the file is no collection that can be read: {error}") from None
    if not listed or len(listed) > _MOST_MEMBERS:
        raise DamagedError("damaged_wacz", f"the collection has {len(listed):,} WARC files under {folder}")
    for info in listed:
        raw.seek(info.header_offset)
        head = raw.read(_LOCAL_HEADER)
        if info.compress_type != zipfile.ZIP_STORED or len(head) < _LOCAL_HEADER:
            raise DamagedError("damaged_wacz", f"{info.filename} is compressed or cut; a collection stores it as it is")
        start = info.header_offset + _LOCAL_HEADER + sum(struct.unpack("<HH", head[26:30]))
        yield Member(info.filename, start, info.compress_size)
