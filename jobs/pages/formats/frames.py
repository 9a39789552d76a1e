"""Compressed files of Zstandard and LZ4 frames, as streams of members."""

from __future__ import annotations

import io
import re
import struct
from typing import BinaryIO, Final

import lz4.frame
import zstandard

from quern.jobs.pages.formats.packed import DamagedError, GzipStream, MemberStream

LZ4_MAGIC: Final = b"\x04\x22\x4d\x18"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
# A skippable frame at the head of the file that holds the dictionary of all others.
ZSTD_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
_MOST_DICTIONARY: Final = 16 << 20
_LZ4_FEED: Final = 4096
_MOST_WINDOW: Final = 128 << 20


class ZstdStream(MemberStream):
    """A Zstandard file (RFC 8878), with the dictionary that its first frame may hold."""

    form = "zstd"
    magic = (ZSTD_MAGIC, ZSTD_DICTIONARY)
    _feed: Final = 256  # A frame's smallest block of 4 bytes makes 128 KiB: so much is made of one piece at most.

    def __init__(
        self, source: BinaryIO, max_ratio: int, start: int = 0, begins: re.Pattern[bytes] | None = None
    ) -> None:
        super().__init__(source, max_ratio, start, begins)
        self._made = b""
        self.dictionary = b""

    def _begin(self) -> None:
        self._skipping = self._pending.startswith(ZSTD_DICTIONARY)
        if not self._skipping:
            known = zstandard.ZstdCompressionDict(self.dictionary) if self.dictionary else None
            made = zstandard.ZstdDecompressor(dict_data=known, max_window_size=_MOST_WINDOW)
            self._frame = made.decompressobj()

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
        length = self._length()
        held, self._pending = self._pending[8 : 8 + length], self._pending[8 + length :]
        if held.startswith(ZSTD_MAGIC):
            try:
                # `decompress` would make room for as many bytes as the frame says it holds.
                made = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW).stream_reader(held)
                held = made.read(_MOST_DICTIONARY + 1)
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


class Lz4Stream(MemberStream):
    """A file of LZ4 frames."""

    form = "lz4"
    magic = (LZ4_MAGIC,)

    def _begin(self) -> None:
        self._frame = lz4.frame.LZ4FrameDecompressor()

    def _inflated(self, most: int) -> tuple[bytes, bool]:
        piece = b""
        if self._frame.needs_input:
            if not self._pending and not self._fill():
                raise self._cut()
            piece, self._pending = self._pending[:_LZ4_FEED], self._pending[_LZ4_FEED:]
        try:
            made: bytes = self._frame.decompress(piece, most)
        except RuntimeError as error:
            raise self._damaged(f"{error}, before byte {self._read - len(self._pending)}") from None
        if self._frame.eof:
            self._pending = (self._frame.unused_data or b"") + self._pending
        return made, not self._frame.eof


_CHUNK: Final = 1 << 16
STREAMS: Final = (GzipStream, ZstdStream, Lz4Stream)
PACKED_ENDINGS: Final[dict[str, type[MemberStream]]] = {".gz": GzipStream, ".zst": ZstdStream, ".lz4": Lz4Stream}


def packed_as(head: bytes) -> type[MemberStream] | None:
    """How a file that begins with `head` is compressed; null for one that is not."""
    return next((s for s in STREAMS if head.startswith(s.magic)), None)


def opening(stream: BinaryIO, size: int) -> bytes:
    """The first `size` bytes of a file after decompression, or fewer; the stream is left anywhere."""
    stream.seek(0)
    head = stream.read(8)
    stream.seek(0)
    packed = packed_as(head)
    if packed is None:
        return stream.read(size)
    found = b""
    try:
        with io.BufferedReader(packed(stream, 1000), _CHUNK) as plain:
            while len(found) < size and (piece := plain.read1(size - len(found))):
                found += piece
    except DamagedError:
        return found
    return found
