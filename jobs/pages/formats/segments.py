"""Archives as segments: stretches of a file, compressed or not, that can be read from any record boundary.

A place in an archive is a byte of the file, and how many decompressed bytes after it: none but in files that were
compressed as a whole. Which record is whose does not depend on where reading began: a range of a file owns the
segments that begin in it.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Final

from quern.jobs.pages.formats.packed import DamagedError, MemberStream, ZstdStream, packed_as

WARC_BEGINS: Final = re.compile(rb"WARC/\d\.\d{1,2}[ \t]*\r?\n")
_CHUNK: Final = 1 << 16
_SCAN: Final = 1 << 20
_HEAD: Final = 1 << 10
_OVERLAP: Final = 1 << 12
# What faults may cost: so many times the file's size is read again before the rest is given up.
_REREADS: Final = 4
_REREAD_FLOOR: Final = 256 << 20


@dataclass(frozen=True, order=True)
class Place:
    """Where a record begins: a byte of the file, and decompressed bytes after it."""

    offset: int
    skip: int = 0


@dataclass(frozen=True)
class Scanned:
    """What a scan from a record found."""

    raw: bytes  # The decompressed bytes up to the next record, or to the end; no more than the scan's limit.
    length: int  # How many there are.
    next: Place | None  # Where the next record of the segment begins.
    after: Place | None  # Where the next segment begins, if no record follows in this one.
    damage: DamagedError | None  # What ended the scan, if damage did.
    damaged_at: int  # Where the damaged member begins.


class Archive:
    """A WARC file that is open for reading.

    Attributes:
        size: Bytes of the file.
        packed: How it is compressed, if it is.
    """

    def __init__(self, raw: BinaryIO, size: int, max_ratio: int) -> None:
        self.size = size
        self._raw = raw
        self._max_ratio = max_ratio
        raw.seek(0)
        self.packed = packed_as(raw.read(8))
        self._dictionary = b""
        self._budget = _REREADS * size + _REREAD_FLOOR
        if self.packed is ZstdStream:
            raw.seek(0)
            stream = ZstdStream(raw, max_ratio)
            with suppress(DamagedError):  # Reading will meet the fault again, and name its place.
                stream.read(1)
                self._dictionary = stream.dictionary

    def stream(self, offset: int, begins: re.Pattern[bytes] | None = None) -> MemberStream | None:
        """The decompressed bytes from the member at `offset` on; null for a file that is not compressed."""
        self._raw.seek(offset)
        if self.packed is None:
            return None
        stream = self.packed(self._raw, self._max_ratio, offset, begins)
        if isinstance(stream, ZstdStream):
            stream.dictionary = self._dictionary
        return stream

    def segment(self, place: Place) -> Segment:
        """The bytes from `place` on, up to the next member that begins with a record."""
        segment = Segment(self._raw, place, self.stream(place.offset, WARC_BEGINS))
        segment.skip(place.skip)
        return segment

    def boundary(self, offset: int) -> Place | None:
        """The first record at or after byte `offset` that a reader can begin at; null for none."""
        if self.packed:
            return self._member_after(offset, self.packed.magic)
        before = max(0, offset - 1)
        self._raw.seek(before)
        _, count, at, _ = scan(self._raw, _SCAN, first=min(offset, 1))
        self.spend(count)
        return None if at is None else Place(before + at)

    def spend(self, read: int) -> bool:
        """Count `read` bytes that a fault cost; false when the budget is used up."""
        self._budget -= read
        return self._budget >= 0

    def _member_after(self, offset: int, magics: tuple[bytes, ...]) -> Place | None:
        magic = re.compile(b"|".join(map(re.escape, magics)))
        at, tail = offset, b""
        while True:
            self._raw.seek(at)
            piece = self._raw.read(_SCAN)
            window = tail + piece
            for match in magic.finditer(window):
                place = at - len(tail) + match.start()
                if self._begins_record(place):
                    return Place(place)
            if not piece or not self.spend(len(piece)):
                return None
            at, tail = at + len(piece), window[-3:]

    def _begins_record(self, offset: int) -> bool:
        stream = self.stream(offset) or self._raw
        head = b""
        with suppress(DamagedError):  # What came before the damage tells enough.
            while len(head) < _HEAD and (piece := stream.read(_HEAD - len(head))):
                head += piece
        return WARC_BEGINS.match(head) is not None and self.spend(len(head))

    def scan(self, place: Place, limit: int) -> Scanned:
        """Read from the record at `place` to the next one, whatever its headers say of its length.

        At most `limit` of its bytes are kept.
        """
        segment = self.segment(place)
        raw, read, at, damage = scan(segment, limit, first=1)
        self.spend(read)
        following = segment.place(at) if at is not None else None
        after = segment.next() if at is None and damage is None else None
        return Scanned(raw, read if at is None else at, following, after, damage, segment.damaged_at())


def scan(stream: io.RawIOBase | BinaryIO, limit: int, first: int) -> tuple[bytes, int, int | None, DamagedError | None]:
    """Read `stream` up to the line from byte `first` on that begins a record.

    Returns:
        At most `limit` of the bytes before it, the bytes read, the byte at which that line begins (null for none),
        and the damage that ended the stream.
    """
    kept, window, start, read = bytearray(), b"", 0, 0
    while True:
        damage = None
        try:
            piece = stream.read(_CHUNK) or b""
        except DamagedError as error:
            piece, damage = b"", error
        window += piece
        read += len(piece)
        kept += piece[: max(0, limit - len(kept))]
        at = _record_line(window, max(0, first - start), final=not piece)
        if at is not None:
            return bytes(kept[: start + at]), read, start + at, None
        if not piece:
            return bytes(kept), read, None, damage
        drop = max(0, len(window) - _OVERLAP)
        start, window = start + drop, window[drop:]


def _record_line(window: bytes, first: int, *, final: bool) -> int | None:
    """The first line of `window` that begins a record, and either is whole or the last there is."""
    at = first
    if first == 0 and WARC_BEGINS.match(window):
        return 0
    while (at := window.find(b"\n", max(0, at - 1)) + 1) > 0:
        if at >= first and (final or len(window) - at >= _HEAD) and WARC_BEGINS.match(window, at):
            return at
        at += 1
    return None


class Segment(io.RawIOBase):
    """The decompressed bytes from one place to the next member that begins with a record, or to the end.

    Attributes:
        broken: The fault of the machine that ended reading, if one did.
    """

    def __init__(self, raw: BinaryIO, place: Place, stream: MemberStream | None, base: int = 0) -> None:
        self._raw = raw
        self._start = place
        self._stream = stream
        self._base = base  # decompressed bytes of the stream before this segment
        self._position = 0
        self._ahead = b""
        self.broken: OSError | None = None

    def readable(self) -> bool:
        """True."""
        return True

    def skip(self, size: int) -> None:
        """Pass over `size` decompressed bytes; positions count from there."""
        while size > 0 and (piece := self.read(min(size, _CHUNK))):
            size -= len(piece)
        self._base, self._position = self._base + self._position, 0

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer`; 0 at the end of the segment.

        Raises:
            DamagedError: The bytes cannot be decompressed.
        """
        try:
            if self._stream is not None and not self._ahead:
                size = self._stream.readinto(buffer)
            else:
                piece = self._ahead[: len(buffer)] or self._raw.read(len(buffer))
                self._ahead, size = self._ahead[len(buffer) :], len(piece)
                buffer[:size] = piece
        except OSError as error:
            self.broken = error  # fastwarc would raise another in its place
            raise
        self._position += size
        return size

    def peek(self, size: int) -> bytes:
        """At most the next `size` bytes, which stay to be read; fewer where damage follows."""
        head = b""
        with suppress(DamagedError):  # The stream raises it again when it is read.
            while len(head) < size and (piece := self.read(size - len(head))):
                head += piece
        self._ahead, self._position = head + self._ahead, self._position - len(head)
        return head

    def tell(self) -> int:
        """Decompressed bytes read."""
        return self._position

    def place(self, position: int) -> Place:
        """The place of the decompressed byte `position` of the segment."""
        if self._stream is None:
            return Place(self._start.offset + position)
        plain, offset = self._stream.member_of(self._base + position)
        return Place(offset, self._base + position - plain)

    def damaged_at(self) -> int:
        """Byte of the file at which the member begins that was read last."""
        return self._stream.last_member[1] if self._stream else self._start.offset + self._position

    def next(self) -> Place | None:
        """Where the next segment begins; null at the end of the file. Reads what is left of this one."""
        try:
            while self.read(_CHUNK):
                pass
        except DamagedError:
            return None
        if self._stream is None or not self._stream.stopped:
            return None
        return Place(self._stream.last_member[1])

    def following(self) -> Segment:
        """The next segment, read on without going back."""
        if self._stream is None:
            raise ValueError("a file that is not compressed is one segment")
        self._stream.go_on()
        plain, offset = self._stream.last_member
        return Segment(self._raw, Place(offset), self._stream, plain)
