"""Captures of web pages in WARC files.

Records are told apart by fastwarc: it reads a WARC file several times as fast as warcio, whose records are Python
objects made line by line, and gives each record's position. Neither goes on after a fault, so that is done here: what
can be read of a damaged record is kept, and reading goes on at the next record. Every fault is told with its place.

Source: WARC 1.1 (ISO 28500:2017).
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from fastwarc.warc import ArchiveIterator, WarcRecord

from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.segments import WARC_BEGINS, Archive, Place, Scanned, Segment
from quern.jobs.text.plain_text import parse_time

HEADER_BYTES: Final = 1 << 16
_KEPT: Final = frozenset({"response", "resource", "conversion", "revisit"})
_SKIPPED: Final = frozenset({"warcinfo", "request", "metadata"})
_UNKNOWN: Final = "unknown"
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_ENDS_WELL: Final = re.compile(rb"(?:\r?\n){2}|\s*\Z")


@dataclass(frozen=True)
class Fault:
    """What could not be read, or was not as it should be."""

    offset: int  # At which byte of the file its record or member begins.
    reason: str  # Code of the reject.
    detail: str  # What exactly was wrong, for a person.
    url: str = ""  # Address of the capture, where it is known.


@dataclass(frozen=True)
class Capture:
    """One archived response."""

    offset: int  # Byte of the file at which its record, or the member that holds it, begins.
    kind: str  # `response`, `resource`, `conversion` or `revisit`.
    url: str  # Address it was fetched from.
    fetched_at: datetime | None  # When.
    content_type: str  # Media type that the record declares, with parameters.
    block: bytes  # The record's content: an HTTP message, or the page itself.
    headers: Mapping[str, str] = field(default_factory=dict)  # The record's other headers, by lower-case name.
    # What was wrong with the record, though its content is here: reason and detail.
    fault: tuple[str, str] | None = None


Found = Capture | Fault
Reading = Generator[Found, None, Place | None]


class WarcReader:
    """The captures of those segments of an archive that begin in the range [start, end) of its bytes.

    Attributes:
        began: Where the first segment of the range begins.
        ended: Where the first one after the range begins, or the file's size.
        records: Records read, by type.
    """

    def __init__(self, archive: Archive, limit: int, start: int, end: int) -> None:
        self.archive = archive
        self.limit = limit
        self.start = start
        self.end = end
        self.began = self.ended = archive.size
        self.records: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Found]:
        place = Place(0) if self.start == 0 else self.archive.boundary(self.start)
        self.began = place.offset if place else self.archive.size
        while place is not None and place.offset < self.end:
            if not self.archive.spend(0):
                yield Fault(place.offset, "too_damaged", "so much had to be read again that nothing after was read")
                place = None
                break
            segment = self.archive.segment(place)
            while (place := (yield from self._segment(segment))) is None and self.archive.packed:
                place = segment.next()
                if place is None or place.offset >= self.end:
                    break
                segment = segment.following()
        self.ended = place.offset if place else self.archive.size

    def _after_damage(self, offset: int) -> Place:
        """The first record after the member at `offset`, which is damaged, or the end of the file."""
        return self.archive.boundary(offset + 1) or Place(self.archive.size)

    def _segment(self, segment: Segment) -> Reading:
        """The captures of one segment; null at its end, the place to go on at after a fault."""
        at: Place | None = None
        capture: Found | None = None
        whole = True
        head = segment.peek(64)
        # Lines may end without a carriage return, against the standard: fastwarc's strict mode skips such records.
        bare = WARC_BEGINS.match(head) is not None and b"\r\n" not in head
        try:
            for record in _records(segment, bare):
                if capture is not None:
                    yield capture
                at, capture, whole = segment.place(record.stream_pos), None, False
                if not self.archive.packed and at.offset >= self.end:
                    return at
                capture, whole = self._take(record, at)
                if not whole:
                    return (yield from self._mend(at))
        except DamagedError as error:
            if at is not None and not whole:
                return (yield from self._mend(at))
            if capture is not None:
                yield capture
            yield Fault(segment.damaged_at(), error.reason, str(error))
            return self._after_damage(segment.damaged_at())
        except (OSError, ValueError) as error:  # so fastwarc says that no record begins where one should
            if segment.broken is not None:
                raise segment.broken from None
            if at is None:
                return (yield from self._seek(segment.place(0), str(error)))
            return (yield from self._mend(at, counted=whole))
        if capture is not None:
            yield capture
        return None

    def _take(self, record: WarcRecord, at: Place) -> tuple[Found | None, bool]:
        """What `record` gives, and whether it was all there."""
        kind, length = _kind(record), record.content_length
        if not self.archive.packed and at.offset + length > self.archive.size:
            return None, False  # before all that follows is read for nothing
        if kind not in _KEPT or length > self.limit + HEADER_BYTES:
            whole = record.reader.consume() >= length
            self.records[_counted(kind)] += whole
            if kind in _KEPT:
                return _too_large(at, record), whole
            unknown = Fault(at.offset, "unknown_record", f"a record of type {kind[:40]!r} is not read")
            return None if kind in _SKIPPED else unknown, whole
        block = record.reader.read(length)
        self.records[_counted(kind)] += len(block) == length
        return _capture(record, at, block), len(block) == length

    def _mend(self, at: Place, *, counted: bool = False) -> Reading:
        """What is there of the record at `at`, which is cut, damaged, or not as long as it says."""
        scanned = self.archive.scan(at, self.limit + HEADER_BYTES)
        on = scanned.next or scanned.after or Place(self.archive.size)
        head = _BLANK_LINE.search(scanned.raw)
        record = next(_records(io.BytesIO(scanned.raw), bare=True), None) if head else None
        if head is None or record is None:
            reason = scanned.damage.reason if scanned.damage else "truncated_warc"
            yield Fault(at.offset, reason, f"the record's header is cut: {scanned.damage or 'the file ends there'}")
            return self._after_damage(scanned.damaged_at) if scanned.damage else on
        kind, declared, there = _kind(record), record.content_length, scanned.length - head.end()
        self.records[_counted(kind)] += not counted
        block, fault = _block_of(scanned, head.end(), declared, there, ends=on.offset >= self.archive.size)
        if kind not in _KEPT:
            yield Fault(at.offset, *fault)
        elif len(block) > self.limit + HEADER_BYTES:
            yield _too_large(at, record)
        else:
            capture = _capture(record, at, block)
            yield replace(capture, fault=fault) if isinstance(capture, Capture) else capture
        return self._after_damage(scanned.damaged_at) if scanned.damage else on

    def _seek(self, at: Place, detail: str) -> Reading:
        """Nothing where a record should begin: where the next one does."""
        yield Fault(at.offset, "damaged_warc", f"no WARC record begins here: {detail}")
        scanned = self.archive.scan(at, 0)
        if scanned.damage:
            return self._after_damage(scanned.damaged_at)
        return scanned.next or scanned.after or Place(self.archive.size)


def _records(stream: io.RawIOBase | io.BytesIO, bare: bool) -> Iterator[WarcRecord]:
    return iter(
        ArchiveIterator(stream, parse_http=False, stream_detect=False, max_header_len=HEADER_BYTES, quirks_mode=bare)
    )


def _block_of(scanned: Scanned, head: int, declared: int, there: int, ends: bool) -> tuple[bytes, tuple[str, str]]:
    """The content of a record that is not as it should be, and what is wrong with it.

    Its header has `head` bytes and declares `declared`, of which `there` are there; the file may end with it.
    """
    block = scanned.raw[head:]
    if scanned.damage:
        return block[:declared], (scanned.damage.reason, f"{there} of {declared} bytes were read: {scanned.damage}")
    if declared <= there and _ENDS_WELL.match(block, declared):
        detail = f"no record begins after its {declared} bytes, but {there - declared} bytes that were skipped"
        return block[:declared], ("damaged_warc", detail)
    if there < declared and ends:
        return block, ("truncated_warc", f"the record has {there} of its {declared} bytes")
    return block.rstrip(b"\r\n"), ("wrong_length", f"Content-Length is {declared}, but {there} bytes are there")


def _kind(record: WarcRecord) -> str:
    """The type that a record names; any text may stand there."""
    return (record.headers.get("WARC-Type") or _UNKNOWN).strip().lower()


def _counted(kind: str) -> str:
    """The name that a type is counted under: counts go to logs and to the page store, and a file may name any."""
    return kind if kind in _KEPT or kind in _SKIPPED else _UNKNOWN


def _target(record: WarcRecord) -> str:
    return (record.headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")


def _too_large(at: Place, record: WarcRecord) -> Fault:
    detail = f"the record has {record.content_length} bytes, more than ingest.max_page_bytes"
    return Fault(at.offset, "too_large", detail, _target(record))


def _capture(record: WarcRecord, at: Place, block: bytes) -> Found:
    headers = {name.lower(): value for name, value in record.headers.items()}
    url = _target(record)
    if not url:
        return Fault(at.offset, "no_url", "the record has no WARC-Target-URI")
    when, declared = parse_time(headers.get("warc-date")), headers.get("content-type", "")
    return Capture(at.offset, _kind(record), url, when, declared, block, headers)
