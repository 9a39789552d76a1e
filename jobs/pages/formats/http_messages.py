"""HTTP responses as archives hold them, their content codings, and the digests that vouch for them.

Sources: RFC 9112 (messages, chunked coding), RFC 9110 (content codings), WARC 1.1 sections 5.8 and 5.9 (digests).
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import brotli  # type: ignore[import-untyped]
import zstandard

from quern.jobs.pages.formats.packed import GZIP_MAGIC, DamagedError

_HTTP: Final = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?!\d)")
_CHUNK_SIZE: Final = re.compile(rb"\s*([0-9A-Fa-f]{1,8})[^\n]{0,1000}\n")
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_ALGORITHMS: Final = ("sha1", "sha256", "sha512", "md5")
_CHUNK: Final = 1 << 16
_ZSTD_FEED: Final = 256  # So few bytes make 8 MiB at most.
_MOST_ZSTD_WINDOW: Final = 8 << 20  # RFC 9659


@dataclass(frozen=True)
class Message:
    """An HTTP response."""

    status: int  # Status code.
    headers: dict[str, str]  # Its headers by lower-case name.
    body: bytes  # Its body without transfer and content codings; empty where the status is not 200.
    payloads: tuple[bytes, ...]  # The body as it was sent, and without its chunks: what a payload digest may speak of.


def http_message(block: bytes, limit: int) -> Message | None:
    """The HTTP response in `block`, its body decoded to at most `limit` + 1 bytes; null if it is none.

    Raises:
        DamagedError: The content coding is unknown or cannot be undone.
    """
    status = _HTTP.match(block)
    if status is None:
        return None
    blank = _BLANK_LINE.search(block)
    head, payload = (block[: blank.start()], block[blank.end() :]) if blank else (block, b"")
    headers: dict[str, str] = {}
    for line in re.sub(rb"\r?\n[ \t]+", b" ", head).splitlines()[1:]:
        name, _, value = line.decode("latin-1").partition(":")
        headers.setdefault(name.strip().lower(), value.strip())
    if int(status[1]) != 200:
        return Message(int(status[1]), headers, b"", (payload,))
    whole = _unchunked(payload) if "chunked" in headers.get("transfer-encoding", "").lower() else payload
    body = whole
    codings = [c.strip().lower() for c in headers.get("content-encoding", "").split(",")]
    for coding in reversed([c for c in codings if c not in ("", "identity", "none", "utf-8")]):
        body = inflate(body, coding, limit)
    return Message(200, headers, body, (payload,) if whole is payload else (payload, whole))


def _unchunked(body: bytes) -> bytes:
    """`body` without its chunks' sizes; as it is where it has none, as archives that undid them leave it."""
    out, position = bytearray(), 0
    while match := _CHUNK_SIZE.match(body, position):
        size = int(match[1], 16)
        if size == 0:
            return bytes(out)
        out += body[match.end() : match.end() + size]
        position = match.end() + size
    return bytes(out) + body[position:]


def digest_matches(stated: str, contents: Sequence[bytes]) -> bool:
    """Whether `stated` (`sha1:BASE32`, `sha256:HEX`...) is the digest of one of `contents`.

    True too where it names an algorithm or a notation that is not known: it says nothing then.
    """
    name, _, value = (part.strip() for part in stated.partition(":"))
    algorithm = name.lower().replace("-", "")
    if algorithm not in _ALGORITHMS:
        return True
    size = hashlib.new(algorithm, usedforsecurity=False).digest_size
    try:
        in_hex = len(value) == 2 * size
        digest = bytes.fromhex(value) if in_hex else base64.b32decode(value.upper() + "=" * (-len(value) % 8))
    except ValueError:
        return True
    if len(digest) != size:
        return True
    return any(hashlib.new(algorithm, c, usedforsecurity=False).digest() == digest for c in contents)


def content_type(declared: str) -> tuple[str, str | None]:
    """Media type and charset of a Content-Type header; the type is empty where none is declared."""
    kind, *parameters = declared.split(";")
    charset = next((p.partition("=")[2] for p in parameters if p.strip().lower().startswith("charset=")), "")
    return kind.strip().lower(), charset.strip().strip("\"'") or None


def inflate(body: bytes, coding: str, limit: int) -> bytes:
    """`body` without its HTTP content coding; at most `limit` + 1 bytes, so that a longer one shows.

    Servers often send a coding that the body does not have, or end it early: what is readable is returned.

    Raises:
        DamagedError: `content_encoding`: an unknown coding, or nothing readable.
    """
    if coding in ("gzip", "x-gzip"):
        return _zlib(body, 16 + zlib.MAX_WBITS, limit) if body.startswith(GZIP_MAGIC) else body
    if coding == "deflate":
        zlib_header = len(body) > 1 and body[0] & 15 == 8 and (body[0] << 8 | body[1]) % 31 == 0
        return _zlib(body, zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS, limit)
    if coding == "br":
        try:
            return bytes(brotli.Decompressor().process(body, output_buffer_limit=limit + 1))
        except brotli.error as error:
            raise DamagedError("content_encoding", f"brotli: {error}") from None
    if coding == "zstd":
        frame = zstandard.ZstdDecompressor(max_window_size=_MOST_ZSTD_WINDOW).decompressobj()
        return _in_pieces(body, _ZSTD_FEED, limit, frame, lambda piece, _: frame.decompress(piece))
    raise DamagedError("content_encoding", f"unknown content coding {coding[:40]!r}")


def _zlib(body: bytes, window: int, limit: int) -> bytes:
    member = zlib.decompressobj(window)
    return _in_pieces(body, _CHUNK, limit, member, member.decompress)


def _in_pieces(body: bytes, feed: int, limit: int, stream: Any, decompress: Callable[[bytes, int], bytes]) -> bytes:
    """What `stream` makes of `body` in pieces of `feed` bytes, so that what comes before a fault is kept."""
    out = bytearray()
    for start in range(0, len(body), feed):
        try:
            out += decompress(body[start : start + feed], limit + 1 - len(out))
        except (zlib.error, zstandard.ZstdError) as error:
            if not out:
                form = "zstd: " if isinstance(error, zstandard.ZstdError) else ""
                raise DamagedError("content_encoding", f"{form}{error}") from None
            break
        if len(out) > limit or stream.eof:
            break
    return bytes(out[: limit + 1])
