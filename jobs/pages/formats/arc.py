"""Captures of web pages in ARC files, the Internet Archive's format before WARC, versions 1 and 2."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from typing import Final

from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.segments import Place, Segment
from quern.jobs.pages.formats.warc import HEADER_BYTES, ArchiveReader, Capture, Fault, Found, Reading

_CHUNK: Final = 1 << 16
# An ARC record's line: address (which may hold spaces), IP, date, media type, further fields of version 2, length.
ARC_BEGINS: Final = re.compile(
    rb"(?P<url>[A-Za-z][\w+.-]*:\S[^\r\n]{0,4000}?) (?P<ip>[\d.:A-Fa-f]+) (?P<date>\d{8,}) (?P<type>\S+)"
    rb"(?: [^\r\n]{0,400}?)? (?P<length>\d{1,15})\r?\n"
)


class ArcReader(ArchiveReader):
    """The captures of an ARC file; what is between records and is no record is one fault."""

    def _segment(self, segment: Segment) -> Reading:
        stream, position, lost = io.BufferedReader(segment, _CHUNK), 0, False
        try:
            while line := stream.readline(HEADER_BYTES):
                at, position = segment.place(position), position + len(line)
                match = ARC_BEGINS.fullmatch(line)
                if match is None:
                    if line.strip() and not lost:
                        yield Fault(at.offset, "damaged_arc", f"no ARC record begins here: {line[:80]!r}")
                    lost = lost or bool(line.strip())
                    continue
                if not self.archive.packed and at.offset >= self.end:
                    return at
                lost, length = False, int(match["length"])
                block, read, damage = _read_block(stream, length, self.limit + HEADER_BYTES)
                position += read
                self.records["filedesc" if match["url"].startswith(b"filedesc:") else "response"] += 1
                found = _arc_capture(at, match, block, read, damage)
                if found is not None:
                    yield found
                if damage is not None:
                    return self.after_damage(segment.damaged_at())
        except DamagedError as error:
            yield Fault(segment.place(position).offset, error.reason, str(error))
            return self.after_damage(segment.damaged_at())
        return None


def _read_block(stream: io.BufferedReader[Segment], length: int, limit: int) -> tuple[bytes, int, DamagedError | None]:
    """The next `length` bytes, of which no more than `limit` are kept; how many there were, and what ended them."""
    kept, read = bytearray(), 0
    try:
        while read < length and (piece := stream.read1(min(_CHUNK, length - read))):
            read += len(piece)
            kept += piece[: max(0, limit - len(kept))]
    except DamagedError as error:
        return bytes(kept), read, error
    return bytes(kept), read, None


def _arc_capture(
    at: Place, match: re.Match[bytes], block: bytes, read: int, damage: DamagedError | None
) -> Found | None:
    url, length = match["url"].decode("utf-8", "replace"), int(match["length"])
    if url.startswith("filedesc:"):
        return Fault(at.offset, damage.reason, str(damage)) if damage else None
    if len(block) < read:
        return Fault(at.offset, "too_large", f"the record has {length} bytes, more than ingest.max_page_bytes", url)
    fault = None
    if read < length:
        detail = f"the record has {read} of its {length} bytes"
        fault = (damage.reason, f"{detail}: {damage}") if damage else ("truncated_arc", detail)
    try:
        fetched_at = datetime.strptime(match["date"][:14].decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        fetched_at = None
    kind = "application/http" if block.startswith(b"HTTP/") else match["type"].decode("ascii", "replace")
    return Capture(at.offset, "response", url, fetched_at, kind, block, fault=fault)
