"""Which compression a file has, told by its first bytes or by its name."""

from __future__ import annotations

import io
from typing import BinaryIO, Final

from quern.jobs.pages.formats.frames import Lz4Stream, ZstdStream
from quern.jobs.pages.formats.packed import DamagedError, GzipStream, MemberStream

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
