"""Compressed files as streams of members: gzip and Zstandard, in bounded memory, with a limit on the ratio.

An archive compresses each record as a member of its own (WARC 1.1, annex D; for zstd the "WARC Zstandard
compression" note), so that a record can be read from the byte at which its member begins.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from contextlib import suppress
from typing import Any, BinaryIO, ClassVar, Final

import zstandard

from quern.schemas.errors import RejectError

GZIP_MAGIC: Final = b"\x1f\x8b"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
# A skippable frame at the head of the file that holds the dictionary of all others.
ZSTD_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
_MOST_DICTIONARY: Final = 16 << 20
_MOST_WINDOW: Final = 128 << 20
_CHUNK: Final = 1 << 16
_HEAD: Final = 1 << 10
_LONGEST_MAGIC: Final = 4
_RATIO_FLOOR: Final = 1_000_000
_MOST_MEMBERS_KEPT: Final = 4096


class DamagedError(RejectError):
    """Bytes that cannot be decompressed."""


class MemberStream(io.RawIOBase):
    """The decompressed bytes of a file of one or more members; wrap it in `io.BufferedReader`.

    What can be read is handed out before a fault is raised. The ratio is that of the whole file so far, and
    counts from 1 MB of output on.

    Attributes:
        form: Name of the compression, in reason codes.
        magic: What a member begins with.
        stopped: Whether it stands before a member that begins as `begins` says; `go_on` reads that.
    """

    form: ClassVar[str]
    magic: ClassVar[tuple[bytes, ...]]

    def __init__(
        self, source: BinaryIO, max_ratio: int, start: int = 0, begins: re.Pattern[bytes] | None = None
    ) -> None:
        self._source = source
        self._max_ratio = max_ratio
        self._begins = begins
        self._pending = b""
        self._ready = b""
        self.stopped = False
        self._fault: DamagedError | None = None
        self._start = start
        self._read = start
        self._written = 0
        self._in_member = False
        self._members: list[tuple[int, int]] = []

    def readable(self) -> bool:
        """True."""
        return True

    def go_on(self) -> None:
        """Read on after `stopped`."""
        self.stopped = False

    @property
    def last_member(self) -> tuple[int, int]:
        """Where the member begins that was begun last: in the decompressed bytes, and in the file."""
        return self._members[-1] if self._members else (0, self._start)

    def member_of(self, position: int) -> tuple[int, int]:
        """Where the member begins that holds `position`: in the decompressed bytes, and in the file."""
        return next((m for m in reversed(self._members) if m[0] <= position), (0, self._start))

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` with decompressed bytes; 0 at the end of the file.

        Raises:
            DamagedError: `not_gzip`, `damaged_gzip`, `truncated_gzip` (or `zstd`), or `compression_ratio`.
        """
        while not self._ready and self._fault is None and not self.stopped:
            try:
                if self._in_member:
                    self._ready = self._more()
                elif not self._next_member():
                    return 0
                elif self._begins and len(self._members) > 1:
                    self.stopped = self._begins.match(self._peek()) is not None
            except DamagedError as fault:
                self._fault = fault
        if self.stopped:
            return 0
        if not self._ready and self._fault is not None:
            raise self._fault
        most = min(len(buffer), _CHUNK)
        piece, self._ready = self._ready[:most], self._ready[most:]
        buffer[: len(piece)] = piece
        return len(piece)

    def _peek(self) -> bytes:
        """The head of the member that begins here; it stays to be read."""
        while len(self._ready) < _HEAD and self._in_member:
            try:
                self._ready += self._more()
            except DamagedError as fault:
                self._fault = fault  # raised when what came before it has been read
                break
        return self._ready

    def _more(self) -> bytes:
        """The next decompressed bytes; possibly none."""
        piece, self._in_member = self._inflated(_CHUNK)
        self._written += len(piece)
        if self._written > max(_RATIO_FLOOR, self._max_ratio * (self._read - self._start - len(self._pending))):
            raise DamagedError("compression_ratio", f"decompresses to more than {self._max_ratio} times its size")
        return piece

    def _fill(self) -> bool:
        """Take more bytes of the file; false at its end."""
        more = self._source.read(_CHUNK)
        self._read += len(more)
        self._pending += more
        return bool(more)

    def _next_member(self) -> bool:
        """Begin the next member; false at the end of the file."""
        if self._members:
            self._pending = self._pending.lstrip(b"\0")  # padding after a member is allowed
        while len(self._pending) < _LONGEST_MAGIC and self._fill():
            if self._members:
                self._pending = self._pending.lstrip(b"\0")
        if not self._pending:
            return False
        if not any(self._pending.startswith(m) or m.startswith(self._pending) for m in self.magic):
            if self._written:
                raise self._damaged(f"no {self.form} data at byte {self._read - len(self._pending)}")
            raise DamagedError(f"not_{self.form}", f"the file is not {self.form}-compressed, whatever its name says")
        if len(self._members) > 2 * _MOST_MEMBERS_KEPT:
            del self._members[:_MOST_MEMBERS_KEPT]
        self._members.append((self._written, self._read - len(self._pending)))
        self._begin()
        self._in_member = True
        return True

    def _cut(self) -> DamagedError:
        return DamagedError(
            f"truncated_{self.form}", f"the {self.form} data end in the middle, after {self._read} bytes"
        )

    def _damaged(self, detail: str) -> DamagedError:
        return DamagedError(f"damaged_{self.form}", detail)

    def _begin(self) -> None:
        """Begin the member at the head of the pending bytes."""
        raise NotImplementedError

    def _inflated(self, most: int) -> tuple[bytes, bool]:
        """At most `most` bytes of the member, and whether it goes on; DamagedError where it is damaged or cut."""
        raise NotImplementedError


class GzipStream(MemberStream):
    """A gzip file (RFC 1952)."""

    form = "gzip"
    magic = (GZIP_MAGIC,)

    def _begin(self) -> None:
        self._inflater = zlib.decompressobj(31)

    def _inflated(self, most: int) -> tuple[bytes, bool]:
        if not self._pending and not self._fill():
            raise self._cut()
        try:
            piece = self._inflater.decompress(self._pending, most)
        except zlib.error as error:
            raise self._damaged(f"{error}, before byte {self._read}") from None
        self._pending = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
        return piece, not self._inflater.eof


class ZstdStream(MemberStream):
    """A Zstandard file (RFC 8878), with the dictionary that its first frame may hold."""

    form = "zstd"
    magic = (ZSTD_MAGIC, ZSTD_DICTIONARY)
    _feed: Final = 256  # A frame's smallest block of 4 bytes makes 128 KiB: so much is made of one piece at most.

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._made = b""
        self.dictionary = b""

    def _begin(self) -> None:
        self._skipping = self._pending.startswith(ZSTD_DICTIONARY)
        if not self._skipping:
            dictionary = zstandard.ZstdCompressionDict(self.dictionary) if self.dictionary else None
            decompressor = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=_MOST_WINDOW)
            self._frame = decompressor.decompressobj()

    def _inflated(self, most: int) -> tuple[bytes, bool]:
        if self._skipping:
            return self._read_dictionary()
        if not self._made and not self._frame.eof:
            if not self._pending and not self._fill():
                raise self._cut()
            piece, rest = self._pending[: self._feed], self._pending[self._feed :]
            try:
                self._made = self._frame.decompress(piece)
            except zstandard.ZstdError as error:
                raise self._damaged(f"{error}, before byte {self._read - len(rest)}") from None
            self._pending = (self._frame.unused_data if self._frame.eof else b"") + rest
        piece, self._made = self._made[:most], self._made[most:]
        return piece, bool(self._made) or not self._frame.eof

    def _read_dictionary(self) -> tuple[bytes, bool]:
        while len(self._pending) < 8 or len(self._pending) < 8 + self._length():
            if not self._fill():
                raise self._cut()
        end = 8 + self._length()
        held, self._pending = self._pending[8:end], self._pending[end:]
        if held.startswith(ZSTD_MAGIC):
            try:
                # `decompress` would make room for as many bytes as the frame says it holds.
                reader = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW).stream_reader(held)
                held = reader.read(_MOST_DICTIONARY + 1)
            except zstandard.ZstdError as error:
                raise self._damaged(f"the dictionary cannot be read: {error}") from None
        if len(held) > _MOST_DICTIONARY:
            raise self._damaged(f"a dictionary of more than {_MOST_DICTIONARY} bytes is not read")
        self.dictionary = held
        return b"", False

    def _length(self) -> int:
        length: int = struct.unpack_from("<I", self._pending, 4)[0]
        if length > _MOST_DICTIONARY:
            raise self._damaged(f"a dictionary of {length} bytes is not read")
        return length


PACKED_ENDINGS: Final[dict[str, type[MemberStream]]] = {".gz": GzipStream, ".zst": ZstdStream}


def packed_as(head: bytes) -> type[MemberStream] | None:
    """How a file that begins with `head` is compressed; null for one that is not."""
    return next((s for s in PACKED_ENDINGS.values() if head.startswith(s.magic)), None)


def opening(stream: BinaryIO, size: int) -> bytes:
    """The first `size` bytes of a file after decompression, or fewer; the stream is left anywhere."""
    stream.seek(0)
    head = stream.read(8)
    stream.seek(0)
    packed = packed_as(head)
    if packed is None:
        return stream.read(size)
    found = b""
    with suppress(DamagedError), io.BufferedReader(packed(stream, 1000), _CHUNK) as plain:
        while len(found) < size and (piece := plain.read1(size - len(found))):
            found += piece
    return found
