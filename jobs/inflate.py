"""Decompression of untrusted bytes: streamed, in bounded memory, with a limit on the ratio."""

from __future__ import annotations

import io
import zlib
from typing import BinaryIO, Final

import brotli  # type: ignore[import-untyped]

GZIP_MAGIC: Final = b"\x1f\x8b"
_CHUNK: Final = 1 << 16
_RATIO_FLOOR: Final = 1_000_000
_GZIP_WINDOW: Final = 31
_MOST_MEMBERS_KEPT: Final = 4096


class DamagedError(ValueError):
    """Bytes that cannot be decompressed.

    Attributes:
        reason: Reason code of the reject.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class GzipStream(io.RawIOBase):
    """The decompressed bytes of a gzip file of one or more members; wrap it in `io.BufferedReader`.

    What can be read is handed out before a fault is raised. The ratio is that of the whole file so far, and
    counts from 1 MB of output on.
    """

    def __init__(self, source: BinaryIO, max_ratio: int) -> None:
        self._source = source
        self._max_ratio = max_ratio
        self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        self._pending = b""
        self._fault: DamagedError | None = None
        self._read = 0
        self._written = 0
        self._in_member = False
        self._members: list[tuple[int, int]] = []

    def readable(self) -> bool:
        """True."""
        return True

    def member_offset(self, position: int) -> int:
        """Byte of the file at which the member begins that holds `position` of the decompressed bytes."""
        return next((packed for plain, packed in reversed(self._members) if plain <= position), 0)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` with decompressed bytes; 0 at the end of the file.

        Raises:
            DamagedError: `not_gzip`, `damaged_gzip`, `truncated_gzip` or `compression_ratio`.
        """
        piece = b""
        while not piece and self._fault is None:
            try:
                piece, ended = self._step(min(len(buffer), _CHUNK))
            except DamagedError as fault:
                self._fault = fault
                break
            if ended:
                return 0
        if not piece and self._fault is not None:
            raise self._fault
        buffer[: len(piece)] = piece
        return len(piece)

    def _step(self, most: int) -> tuple[bytes, bool]:
        """At most `most` more bytes, and whether the file has ended."""
        if not self._pending:
            self._pending = self._source.read(_CHUNK)
            self._read += len(self._pending)
        if not self._in_member:
            return self._next_member()
        if not self._pending and not self._inflater.eof:
            raise DamagedError("truncated_gzip", f"the gzip data end in the middle, after {self._read} bytes")
        try:
            piece = self._inflater.decompress(self._pending, most)
        except zlib.error as error:
            raise DamagedError("damaged_gzip", f"{error}, before byte {self._read}") from None
        self._pending = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
        self._in_member = not self._inflater.eof
        self._written += len(piece)
        if self._written > max(_RATIO_FLOOR, self._max_ratio * (self._read - len(self._pending))):
            raise DamagedError("compression_ratio", f"decompresses to more than {self._max_ratio} times its size")
        return piece, False

    def _next_member(self) -> tuple[bytes, bool]:
        if self._members:
            self._pending = self._pending.lstrip(b"\0")  # padding after a member is allowed
        if not self._pending:
            more = self._source.read(_CHUNK)
            self._read += len(more)
            self._pending = more
            return b"", not more
        if not (self._pending.startswith(GZIP_MAGIC) or GZIP_MAGIC.startswith(self._pending)):
            if self._written:
                raise DamagedError("damaged_gzip", f"no gzip data at byte {self._read - len(self._pending)}")
            raise DamagedError("not_gzip", "the file is not gzip-compressed, whatever its name says")
        self._members = [*self._members[-_MOST_MEMBERS_KEPT:], (self._written, self._read - len(self._pending))]
        self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        self._in_member = True
        return b"", False


def inflate(body: bytes, coding: str, limit: int) -> bytes:
    """`body` without its HTTP content coding; at most `limit` + 1 bytes, so that a longer one shows.

    Servers often send a coding that the body does not have, or end it early: what is readable is returned.

    Raises:
        DamagedError: `content_encoding`: an unknown coding, or nothing readable.
    """
    if coding in ("gzip", "x-gzip"):
        if not body.startswith(GZIP_MAGIC):
            return body
        return _zlib(body, _GZIP_WINDOW, limit)
    if coding == "deflate":
        zlib_header = len(body) > 1 and body[0] & 15 == 8 and (body[0] << 8 | body[1]) % 31 == 0
        return _zlib(body, zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS, limit)
    if coding == "br":
        try:
            return bytes(brotli.Decompressor().process(body, output_buffer_limit=limit + 1))
        except brotli.error as error:
            raise DamagedError("content_encoding", f"brotli: {error}") from None
    raise DamagedError("content_encoding", f"unknown content coding {coding[:40]!r}")


def _zlib(body: bytes, window: int, limit: int) -> bytes:
    inflater, out = zlib.decompressobj(window), bytearray()
    for start in range(0, len(body), _CHUNK):
        try:
            # In pieces, so that what comes before a fault is kept.
            out += inflater.decompress(body[start : start + _CHUNK], limit + 1 - len(out))
        except zlib.error as error:
            if not out:
                raise DamagedError("content_encoding", str(error)) from None
            break
        if len(out) > limit or inflater.eof:
            break
    return bytes(out)
