"""Files whose checksum is taken while they are written."""

from __future__ import annotations

import os
from pathlib import Path

import xxhash


class ChecksummedFile:
    """A new file, written from its beginning to its end, whose checksum is taken on the way."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._hash = xxhash.xxh3_128()
        self._size = 0

    def write(self, content: bytes | memoryview) -> int:
        """Add bytes."""
        self._hash.update(content)
        written = self._file.write(content)
        self._size += written
        return written

    def tell(self) -> int:
        """Bytes written."""
        return self._size

    def flush(self) -> None:
        """Hand over to the system what is held."""
        self._file.flush()

    def close(self) -> None:
        """Bring the file to the disk; a second call does nothing."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._file.closed

    def readable(self) -> bool:
        """It cannot be read."""
        return False

    def writable(self) -> bool:
        """It can be written."""
        return True

    def seekable(self) -> bool:
        """It cannot be gone back in."""
        return False

    @property
    def checksum(self) -> str:
        """The checksum of what was written."""
        return f"{self._size}-{self._hash.hexdigest()}"
