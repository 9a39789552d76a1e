"""Pages from files: HTML, documents as JSONL, tables and texts, WARC; what cannot be read is a reject."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa

from quern.jobs.pages.formats.captures import read_captures
from quern.jobs.pages.formats.files import file_page, text_pages
from quern.jobs.pages.formats.jsonl import json_pages
from quern.jobs.pages.formats.packed import PACKED_ENDINGS, DamagedError, MemberStream, opening
from quern.jobs.pages.formats.rows import FileReject, Found, Row, Sighting
from quern.jobs.pages.formats.segments import WARC_BEGINS, Archive
from quern.jobs.pages.formats.tables import delimited_pages, parquet_pages
from quern.jobs.pages.formats.warc import WarcReader
from quern.jobs.pages.inputs import DELIMITED, FILES, HTML, JSONL, PARQUET, WARC, Input, opened
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES

BATCH_ROWS: Final = 256
BATCH_BYTES: Final = 32 << 20
# Faults of a file; others are the machine's, and end the job.
_OF_THE_FILE: Final = frozenset(
    {errno.EACCES, errno.EPERM, errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ENXIO}
)


@dataclass(frozen=True)
class Span:
    """A range of a file that is read at once: all of it, but for large archives."""

    file: Input
    start: int
    end: int


def spans_of(file: Input, size: int) -> list[Span]:
    """The spans of about `size` bytes that a file is read in."""
    whole = max(file.size, 1)
    if file.fault or file.kind not in WARC or whole <= size:
        return [Span(file, 0, whole)]
    return [Span(file, start, min(start + size, whole)) for start in range(0, whole, size)]


class Reading:
    """What one span holds; iterate once.

    Attributes:
        began: Where its first record begins, of an archive.
        ended: Where the first record after it begins.
        records: Records read, by type.
        readable: Whether the file could be opened.
    """

    def __init__(self, span: Span, settings: IngestSettings) -> None:
        self._span = span
        self._settings = settings
        self.began, self.ended = span.start, span.end
        self.records: dict[str, int] = {}
        self.readable = True

    def __iter__(self) -> Iterator[Found]:
        file = self._span.file
        if file.fault:
            self.readable = file.fault[0] == "unknown_kind"
            yield FileReject(file.name, *file.fault, file.name)
            return
        try:
            with opened(file.location) as raw:
                yield from self._content(raw, file)
        except DamagedError as error:
            yield FileReject(file.name, error.reason, str(error), file.name)
        except OSError as error:
            if error.errno not in _OF_THE_FILE:
                raise
            self.readable = False
            yield FileReject(file.name, "unreadable", error.strerror or str(error), file.name)

    def _content(self, raw: BinaryIO, file: Input) -> Iterator[Found]:
        head = raw.read(8)
        raw.seek(0)
        if not head:
            yield FileReject(file.name, "empty", "the file has no bytes", file.name)
        elif file.kind in WARC:
            yield from self._archive(raw, file)
        else:
            # What its name says, not its content: a page may be a gzip file itself, and is then no page.
            codec = _named_packing(file)
            stream: BinaryIO = io.BufferedReader(codec(raw, self._settings.max_ratio)) if codec else raw
            if file.kind in HTML + FILES:
                yield file_page(stream, Path(file.path), file.name, file.kind, self._settings)
            elif file.kind in JSONL:
                yield from json_pages(stream, file.name, self._settings)
            elif file.kind in DELIMITED:
                yield from delimited_pages(stream, file.name, file.kind, self._settings)
            elif file.kind in PARQUET:
                yield from parquet_pages(stream, file.name, self._settings)
            else:
                yield from text_pages(stream, Path(file.path), file.name, file.kind, self._settings)

    def _archive(self, raw: BinaryIO, file: Input) -> Iterator[Found]:
        archive = Archive(raw, file.size, self._settings.max_ratio)
        codec = _named_packing(file)
        if codec and not archive.packed and self._span.start == 0 and not WARC_BEGINS.match(opening(raw, 1 << 12)):
            raise DamagedError(f"not_{codec.form}", f"the file is not {codec.form}-compressed, whatever its name says")
        reader = WarcReader(archive, self._settings.max_page_bytes, self._span.start, self._span.end)
        yield from read_captures(reader, file.name, self._settings)
        self.began, self.ended, self.records = reader.began, reader.ended, dict(reader.records)


def _named_packing(file: Input) -> type[MemberStream] | None:
    """How the file is compressed, by its name."""
    return next((s for ending, s in PACKED_ENDINGS.items() if file.location.lower().endswith(ending)), None)


def batched(
    found: Iterator[Found], batch_rows: int = BATCH_ROWS, batch_bytes: int = BATCH_BYTES
) -> Iterator[pa.RecordBatch | FileReject | Sighting]:
    """Rows as batches of `PAGES`, everything else as it is.

    A batch holds at most `batch_rows` rows, and ends with the row that brings its bodies to `batch_bytes`.
    """
    rows: list[Row] = []
    size = 0
    for one in found:
        if not isinstance(one, dict):
            yield one
            continue
        rows.append(one)
        size += len(one["body"])
        if len(rows) == batch_rows or size >= batch_bytes:
            yield pa.RecordBatch.from_pylist(rows, schema=PAGES.schema)
            rows, size = [], 0
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=PAGES.schema)
