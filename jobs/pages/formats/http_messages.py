"""HTTP responses as archives hold them, and the digests that vouch for them.

Sources: RFC 9112 (messages, chunked coding), RFC 9110 (content codings), WARC 1.1 sections 5.8 and 5.9 (digests).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.pages.formats.inflate import inflate

_HTTP: Final = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?!\d)")
_CHUNK_SIZE: Final = re.compile(rb"\s*([0-9A-Fa-f]{1,8})[^\n]{0,1000}\n")
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_ALGORITHMS: Final = {"sha1": "sha1", "sha256": "sha256", "sha512": "sha512", "md5": "md5"}


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
    head, sent = (block[: blank.start()], block[blank.end() :]) if blank else (block, b"")
    headers: dict[str, str] = {}
    for line in re.sub(rb"\r?\n[ \t]+", b" ", head).splitlines()[1:]:
        name, _, value = line.decode("latin-1").partition(":")
        headers.setdefault(name.strip().lower(), value.strip())
    if int(status[1]) != 200:
        return Message(int(status[1]), headers, b"", (sent,))
    whole = _unchunked(sent) if "chunked" in headers.get("transfer-encoding", "").lower() else sent
    body = whole
    codings = [c.strip().lower() for c in headers.get("content-encoding", "").split(",")]
    for coding in reversed([c for c in codings if c not in ("", "identity", "none", "utf-8")]):
        body = inflate(body, coding, limit)
    return Message(200, headers, body, (sent,) if whole is sent else (sent, whole))


def _unchunked(body: bytes) -> bytes:
    """`body` without its chunks' sizes; as it is where it has none, as archives that undid them leave it."""
    out, position = bytearray(), 0
    while match := _CHUNK_SIZE.match(body, position):
        size = int(match[1], 16)
        if size == 0:
            return bytes(out)
        out += body[match.end() : match.end() + size]
        position = match.end() + size
    return bytes(out) if out and position >= len(body) else (bytes(out) + body[position:])


def digest_matches(stated: str, contents: Sequence[bytes]) -> bool:
    """Whether `stated` (`sha1:BASE32`, `sha256:HEX`...) is the digest of one of `contents`.

    True too where it names an algorithm or a notation that is not known: it says nothing then.
    """
    name, _, value = stated.strip().partition(":")
    algorithm = _ALGORITHMS.get(name.strip().lower().replace("-", ""))
    if algorithm is None:
        return True
    wanted = _raw_digest(value.strip(), hashlib.new(algorithm, usedforsecurity=False).digest_size)
    if wanted is None:
        return True
    return any(hashlib.new(algorithm, c, usedforsecurity=False).digest() == wanted for c in contents)


def _raw_digest(value: str, size: int) -> bytes | None:
    """A digest of `size` bytes written in hexadecimal or base 32; null where it is neither."""
    try:
        if len(value) == 2 * size:
            return bytes.fromhex(value)
        found = base64.b32decode(value.upper() + "=" * (-len(value) % 8))
    except ValueError:
        return None
    return found if len(found) == size else None
