"""HTTP content codings undone: in bounded memory, and as far as a damaged or cut body can be read."""

from __future__ import annotations

import zlib
from typing import Final

import brotli  # type: ignore[import-untyped]
import zstandard

from quern.jobs.pages.formats.packed import GZIP_MAGIC, DamagedError

__all__ = ["GZIP_MAGIC", "DamagedError", "inflate"]

_CHUNK: Final = 1 << 16
_ZSTD_FEED: Final = 256  # so few bytes make 8 MiB at most
_GZIP_WINDOW: Final = 31
_MOST_ZSTD_WINDOW: Final = 8 << 20  # RFC 9659


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
    if coding == "zstd":
        return _zstd(body, limit)
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


def _zstd(body: bytes, limit: int) -> bytes:
    inflater, out = zstandard.ZstdDecompressor(max_window_size=_MOST_ZSTD_WINDOW).decompressobj(), bytearray()
    for start in range(0, len(body), _ZSTD_FEED):
        try:
            out += inflater.decompress(body[start : start + _ZSTD_FEED])
        except zstandard.ZstdError as error:
            if not out:
                raise DamagedError("content_encoding", f"zstd: {error}") from None
            break
        if len(out) > limit or inflater.eof:
            break
    return bytes(out[: limit + 1])
