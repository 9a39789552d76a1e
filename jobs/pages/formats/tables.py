"""Documents from tables: CSV and TSV, a row a document, and Parquet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final, cast
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from quern.jobs.pages.formats.documents import document_pages
from quern.jobs.pages.formats.html_files import binary
from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.rows import FileReject, Row
from quern.jobs.text.delimited import DELIMITERS, delimited, opened
from quern.jobs.text.given_documents import columns_of, is_there
from quern.schemas.settings import IngestSettings
from quern.schemas.settings.build.ingest import DOCUMENT_FIELDS
from quern.schemas.words.meant import meant

_BATCH_ROWS: Final = 64
# A batch of rows holds no more, be a row group all of one value: that may stand a thousand times for itself.
_BATCH_BYTES: Final = 64 << 20


def delimited_pages(stream: BinaryIO, name: str, kind: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a CSV or TSV file with a header, and the rows that give none; an empty cell says nothing."""
    number = 0
    try:
        file = cast(io.BufferedReader, stream)
        head = file.peek()
        text, dialect = opened(
            file, DELIMITERS[kind], lambda names: not _fault(names, settings, repeated=True), settings.csv_escape
        )
        table = delimited(text, dialect, settings.max_page_bytes)
        names = [column.strip() for column in table.names]
        if fault := _fault(names, settings, repeated=True):
            what = binary(head)
            yield FileReject(name, *(("not_text", f"the content is {what}") if what else fault), name)
            return
        yield from _missing(names, name, settings)
        for row in table.rows:
            number = row.line
            if row.fault:
                yield FileReject(f"{name}:{number}", "malformed_row", row.fault)
                continue
            said = _by_column(names, row.cells)
            yield from document_pages(said, None, name, number, settings)
    except csv.Error as error:
        yield FileReject(name, "malformed_row", f"the header is not valid CSV ({error})", name)
    except DamagedError as error:
        yield FileReject(f"{name}:{number + 1}", error.reason, str(error))


def parquet_pages(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a Parquet file, a row each, and the rows that give none."""
    number = 0
    try:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        with pq.ParquetFile(stream) as file:
            names = file.schema_arrow.names
            group = _largest_group(file.metadata)
            if fault := _fault(names, settings) or _bomb(group, size, settings.max_ratio):
                yield FileReject(name, *fault, name)
                return
            yield from _missing(names, name, settings)
            rows = min(_BATCH_ROWS, max(1, _BATCH_BYTES // max(1, group)))
            for batch in file.iter_batches(batch_size=rows):
                for at in range(batch.num_rows):
                    number += 1
                    yield from _parquet_page(batch.slice(at, 1), name, number, settings)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # A fault of the machine.
            raise
        cause = " ".join(str(error).split())[:200]
        yield FileReject(f"{name}:{number + 1}" if number else name, "damaged_parquet", cause, name)


def _largest_group(metadata: pq.FileMetaData) -> int:
    """Bytes of the largest row group, decompressed.

    Single columns are not asked: where what is said of one is damaged, pyarrow (26) ends the process.
    """
    groups = (metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups))
    return max(groups, default=0)


def _bomb(group: int, size: int, max_ratio: int) -> tuple[str, str] | None:
    """That a row group is compressed so well that it is made to fill memory."""
    if group <= max(_BATCH_BYTES, max_ratio * size):
        return None
    return "compression_ratio", f"a row group decompresses to more than {max_ratio} times the size of the file"


def _parquet_page(row: pa.RecordBatch, name: str, number: int, settings: IngestSettings) -> Iterator[Row | FileReject]:
    said: dict[str, Any] = {}
    for column, cell in zip(row.schema.names, row.columns, strict=True):
        try:
            if pa.types.is_timestamp(cell.type) and cell.type.unit == "ns":  # Python's times have microseconds.
                cell = cell.cast(pa.timestamp("us", cell.type.tz), safe=False)
            (value,) = cell.to_pylist()
            # Older writers do not tell texts from bytes.
            value = value.decode() if isinstance(value, bytes) and pa.types.is_binary(cell.type) else value
            value = str(value) if isinstance(value, UUID) else value
        except (ValueError, OverflowError, KeyError, pa.ArrowException) as error:
            # No UTF-8, a date that Python has none of, a time zone that nobody knows.
            cause = " ".join(str(error).split())[:200]
            detail = f"the column {column} cannot be read, and counts as empty ({cause})"
            yield FileReject(f"{name}:{number}", "bad_value", detail)
            continue
        said[column] = value
    yield from document_pages(said, None, name, number, settings)


def _by_column(names: Sequence[str], cells: Sequence[str]) -> dict[str, str | None]:
    """What the columns of a row say; a name that stands several times, as trackers write lists, has all its values."""
    said: dict[str, list[str]] = {name: [] for name in names if name}
    for name, cell in zip(names, cells, strict=False):
        if name and cell.strip():
            said[name].append(cell)
    return {name: values[0] if len(values) == 1 else "; ".join(values) or None for name, values in said.items()}


def _fault(names: Sequence[str], settings: IngestSettings, *, repeated: bool = False) -> tuple[str, str] | None:
    """Why no row of a table with these columns can be a document; said once, not of each row.

    Args:
        names: Its columns.
        settings: What they are called.
        repeated: Whether a name that stands several times may have several values.
    """
    single = {settings.names.get(field, field) for field in DOCUMENT_FIELDS if field != "text"}
    twice = [c for c, count in Counter(names).items() if count > 1 and c and (c in single or not repeated)]
    if twice:
        return "duplicate_column", f"the column {twice[0]!r} stands there twice"
    own_id = "_id" if "_id" in names and "doc_id" not in names else "doc_id"
    called = {"doc_id": own_id, "text": "text"} | settings.names
    there = ", ".join(f"'{name}'" for name in names[:20]) or "none"
    needed = ("text", *(["doc_id"] if called.get("url", "url") not in names else []))
    missing = {field: lacking for field in needed if (lacking := _lacking(called[field], names))}
    # Of columns that are joined one is enough.
    missing = {field: its for field, its in missing.items() if len(its) == len(columns_of(called[field], names))}
    if not missing:
        return None
    absent = [
        f"no column {' or '.join(map(repr, its))}, for the {field} of documents" for field, its in missing.items()
    ]
    lacks, how = " and ".join(absent), ",".join(f"{field}=NAME" for field in missing)
    return "missing_field", f"there is {lacks}; its columns are {there}: name what holds it, like --map {how}"


def _missing(names: Sequence[str], name: str, settings: IngestSettings) -> Iterator[FileReject]:
    """A warning for each column that `--map` names and that is not there."""
    for field, called in settings.names.items():
        for lacking in _lacking(called, names):
            near = meant(lacking, names)
            told = f"there is no column {lacking!r}, which --map names as {field}" + (f"; {near!r} is" if near else "")
            yield FileReject(name, "missing_column", told, name)


def _lacking(called: str, names: Sequence[str]) -> list[str]:
    """Columns that a field is called by and that are not there."""
    return [column for column in columns_of(called, names) if not is_there(column, names)]
