"""The bytes of a page as an archive holds them: its record, found by file, offset and address; and erasing it."""

from __future__ import annotations

import io
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from quern.jobs.pages.formats.captures import quoted
from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.segments import WARC_BEGINS, Archive, Place, Segment
from quern.jobs.pages.formats.warc import HEADER_BYTES
from quern.jobs.pages.inputs import opened
from quern.schemas.errors import QuernError

_MOST_BYTES: Final = 1 << 28
_MAX_RATIO: Final = 10_000
_LEAST_MEMBER: Final = 21
_LENGTH: Final = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_TARGET: Final = re.compile(rb"^warc-target-uri[ \t]*:[ \t]*<?([^\r\n>]*)>?[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class OriginalError(QuernError):
    """An archive that no longer holds what a page was made from; the message says what is wrong."""


@dataclass(frozen=True)
class Original:
    """A record of an archive."""

    head: bytes  # Its header with the empty line after it.
    block: bytes  # Its content, with the codings it was sent with.


def original(location: str, offset: int, url: str) -> Original:
    """The record of `url` in the archive at `location`, in the member or from the byte `offset` on.

    Raises:
        OriginalError: The file cannot be read, or holds no such record there.
    """
    try:
        with opened(location) as raw:
            size = raw.seek(0, io.SEEK_END)
            raw.seek(0)
            stream = io.BufferedReader(Archive(raw, size, _MAX_RATIO).segment(Place(offset)))
            while (record := _record(stream)) is not None:
                if quoted(record[0]) == url:
                    return record[1]
    except OSError as error:
        raise OriginalError(f"{location} cannot be read: {error.strerror or error}") from None
    except DamagedError as error:
        raise OriginalError(f"{location} is damaged at byte {offset}: {error}") from None
    raise OriginalError(f"{location} holds no record of {url} at byte {offset}; it changed since it was read")


def erase(path: Path, offset: int) -> bool:
    """Overwrite the gzip member at a byte of an archive by an empty one of the same length, so that all others stay.

    Returns whether there is one: other archives are left as they are. One that is gone needs no erasing.
    """
    if not path.exists():
        return True
    with path.open("rb+") as file:
        stat, member = os.fstat(file.fileno()), zlib.decompressobj(16 + zlib.MAX_WBITS)
        file.seek(offset)
        try:
            while not member.eof and (piece := file.read(1 << 16)):
                while piece and not member.eof:  # No more is held in memory, whatever it decompresses to.
                    member.decompress(piece, 1 << 20)
                    piece = member.unconsumed_tail
        except zlib.error:
            return False
        size = file.tell() - len(member.unused_data) - offset
        if not member.eof or size < _LEAST_MEMBER:
            return False
        # RFC 1952: a header with a comment, a deflate block without content, its checksum and length.
        file.seek(offset)
        file.write(b"\x1f\x8b\x08\x10" + bytes(6) + b" " * (size - _LEAST_MEMBER) + b"\0" + b"\x03\0" + bytes(8))
        file.flush()
        os.fsync(file.fileno())
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # What else it holds need not be read again.
    return True


def _record(stream: io.BufferedReader[Segment]) -> tuple[str, Original] | None:
    """Address and content of the next record; null where none begins."""
    head = stream.readline(HEADER_BYTES)
    while head in (b"\r\n", b"\n"):
        head = stream.readline(HEADER_BYTES)
    if not WARC_BEGINS.fullmatch(head):
        return None
    while not head.endswith((b"\n\r\n", b"\n\n")) and len(head) < HEADER_BYTES:
        line = stream.readline(HEADER_BYTES)
        if not line:
            break
        head += line
    length, target = _LENGTH.search(head), _TARGET.search(head)
    return _whole(stream, target[1] if target else b"", head, int(length[1]) if length else 0)


def _whole(stream: io.BufferedReader[Segment], url: bytes, head: bytes, length: int) -> tuple[str, Original]:
    """The record whose `head` was read; of one that is damaged or cut what there is."""
    block = bytearray()
    try:
        while len(block) < min(length, _MOST_BYTES) and (piece := stream.read1(min(1 << 16, length - len(block)))):
            block += piece
    except DamagedError:
        pass  # what came before the damage is what was read
    return url.decode("utf-8", "replace").strip(), Original(head, bytes(block))
