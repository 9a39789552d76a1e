"""Captures of web pages in WARC and ARC files, and the HTTP messages inside them.

The reader keeps what it can read: a fault becomes a `Fault` with its place, and only what cannot be told apart
after it is lost.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from jobs.inflate import DamagedError, inflate
from jobs.plain import parse_time

_HEADER_BYTES: Final = 1 << 16
_CHUNK: Final = 1 << 16
_HTTP: Final = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?!\d)")
_CHUNK_SIZE: Final = re.compile(rb"\s*([0-9A-Fa-f]{1,8})[^\n]{0,1000}\n")
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_WANTED: Final = WarcRecordType.response | WarcRecordType.resource
# An ARC record's line: address (which may hold spaces), IP, date, media type, further fields of version 2, length.
_ARC_LINE: Final = re.compile(
    rb"(?P<url>[A-Za-z][\w+.-]*:\S[^\r\n]*?) (?P<ip>[\d.:A-Fa-f]+) (?P<date>\d{8,}) (?P<type>\S+)"
    rb"(?: [^\r\n]*?)? (?P<length>\d+)\r?\n"
)


@dataclass(frozen=True)
class Fault:
    """What could not be read.

    Attributes:
        position: At which byte of the (uncompressed) stream.
        reason: Code of the reject.
        detail: What exactly was wrong, for a person.
        url: Address of the capture, where it is known.
    """

    position: int
    reason: str
    detail: str
    url: str = ""


@dataclass(frozen=True)
class Capture:
    """One archived response.

    Attributes:
        position: Byte of the (uncompressed) stream at which its record begins.
        url: Address it was fetched from.
        fetched_at: When.
        content_type: Media type that the record declares, with parameters.
        block: The record's content: an HTTP message, or the page itself.
    """

    position: int
    url: str
    fetched_at: datetime | None
    content_type: str
    block: bytes


@dataclass(frozen=True)
class Message:
    """An HTTP response with its headers by lower-case name and its decoded body."""

    status: int
    headers: dict[str, str]
    body: bytes


class _Source:
    """A stream that only reads and counts: what fastwarc needs, and no more."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._position = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read1(size)  # `read` would lose what it has when the next piece is damaged
        self._position += len(piece)
        return piece

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = 0) -> int:
        raise OSError("this stream cannot seek")

    def close(self) -> None:
        """The stream belongs to whoever opened it."""


def warc_captures(stream: io.BufferedReader, limit: int) -> Iterator[Capture | Fault]:
    """Responses and resources of a WARC file of which none is longer than `limit` bytes; other records are skipped."""
    position, url = 0, ""
    try:
        for record in ArchiveIterator(_Source(stream), parse_http=False, stream_detect=False):
            position = record.stream_pos
            if int(record.record_type) & int(_WANTED):
                url = _target(record)
                yield _warc_capture(record, url, limit)
                url = ""  # a fault from here on is not this capture's
            elif record.reader.consume() < record.content_length:
                yield Fault(position, "truncated_warc", f"the record has less than its {record.content_length} bytes")
    except DamagedError as error:
        yield Fault(position, error.reason, f"nothing after this record was read: {error}", url)
    except (OSError, ValueError) as error:
        yield Fault(position, "damaged_warc", f"nothing after this record was read: {error}", url)


def _target(record: WarcRecord) -> str:
    return (record.headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")


def _warc_capture(record: WarcRecord, url: str, limit: int) -> Capture | Fault:
    position, length, headers = record.stream_pos, record.content_length, record.headers
    if length > limit + _HEADER_BYTES:
        return Fault(position, "too_large", f"the record has {length} bytes, more than ingest.max_page_bytes", url)
    block = record.reader.read(length)
    if len(block) < length:
        return Fault(position, "truncated_warc", f"the record has {len(block)} of its {length} bytes", url)
    if not url:
        return Fault(position, "no_url", "the record has no WARC-Target-URI")
    fetched_at = parse_time(headers.get("WARC-Date"))
    return Capture(position, url, fetched_at, headers.get("Content-Type") or "", block)


def arc_captures(stream: io.BufferedReader, limit: int) -> Iterator[Capture | Fault]:
    """Captures of an ARC file; what is between records and is no record is one fault."""
    position, lost, url = 0, False, ""
    try:
        while line := stream.readline(_HEADER_BYTES):
            start, position = position, position + len(line)
            match = _ARC_LINE.fullmatch(line)
            if match is None:
                if line.strip() and not lost:
                    yield Fault(start, "damaged_arc", f"no ARC record begins here: {line[:80]!r}")
                lost = lost or bool(line.strip())
                continue
            lost, url = False, match["url"].decode("utf-8", "replace")
            length = int(match["length"])
            block = _read_or_skip(stream, length, limit + _HEADER_BYTES)
            position += length
            found = _arc_capture(start, url, match, length, block)
            if found is not None:
                yield found
            url = ""  # a fault from here on is not this capture's
    except DamagedError as error:
        yield Fault(position, error.reason, f"nothing after this byte was read: {error}", url)


def _read_or_skip(stream: io.BufferedReader, length: int, limit: int) -> bytes | None:
    """The next `length` bytes, or null after skipping them because they are more than `limit`."""
    if length <= limit:
        return stream.read(length)
    while length > 0 and (part := stream.read(min(length, _CHUNK))):
        length -= len(part)
    return None


def _arc_capture(
    start: int, url: str, match: re.Match[bytes], length: int, block: bytes | None
) -> Capture | Fault | None:
    if url.startswith("filedesc:"):
        return None
    if block is None:
        return Fault(start, "too_large", f"the record has {length} bytes, more than ingest.max_page_bytes", url)
    if len(block) < length:
        return Fault(start, "truncated_arc", f"the record has {len(block)} of its {length} bytes", url)
    try:
        fetched_at = datetime.strptime(match["date"][:14].decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        fetched_at = None
    kind = "application/http" if block.startswith(b"HTTP/") else match["type"].decode("ascii", "replace")
    return Capture(start, url, fetched_at, kind, block)


def http_message(block: bytes, limit: int) -> Message | None:
    """The HTTP response in `block`, its body decoded to at most `limit` + 1 bytes; null if it is none.

    Raises:
        DamagedError: The content coding is unknown or cannot be undone.
    """
    status = _HTTP.match(block)
    if status is None:
        return None
    blank = _BLANK_LINE.search(block)
    head, body = (block[: blank.start()], block[blank.end() :]) if blank else (block, b"")
    headers: dict[str, str] = {}
    for line in re.sub(rb"\r?\n[ \t]+", b" ", head).splitlines()[1:]:
        name, _, value = line.decode("latin-1").partition(":")
        headers.setdefault(name.strip().lower(), value.strip())
    if int(status[1]) != 200:
        return Message(int(status[1]), headers, b"")
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _unchunked(body)
    codings = [c.strip().lower() for c in headers.get("content-encoding", "").split(",")]
    for coding in reversed([c for c in codings if c not in ("", "identity", "none", "utf-8")]):
        body = inflate(body, coding, limit)
    return Message(200, headers, body)


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
