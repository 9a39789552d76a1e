"""Documents from tables: CSV and TSV, a row a document, and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from quern.jobs.pages.formats.files import binary
from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.rows import FileReject, Row, document_pages
from quern.jobs.text.charsets import Utf8Lines
from quern.jobs.text.delimited import DELIMITERS, delimited, opened
from quern.jobs.text.given_documents import columns_of
from quern.schemas.settings import IngestSettings
from quern.schemas.words.fields import quoted
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
        lines, asked = Utf8Lines(file), (settings.csv_escape or None, settings.skip_lines)
        text, dialect = opened(lines, DELIMITERS[kind], lambda names: not _fault(names, settings), *asked)
        table = delimited(text, dialect, settings.max_page_bytes)
        names = [column.strip() for column in table.names]
        if fault := _fault(names, settings):
            what = binary(head)
            yield FileReject(name, *(("not_text", f"the content is {what}") if what else fault), name)
            return
        yield from _missing(names, name, settings)
        if dialect.skip and settings.skip_lines is None:
            detail = f"the header is line {dialect.skip + 1}; what is before it is skipped (ingest.skip_lines)"
            yield FileReject(name, "preamble", detail, name)
        for row in table.rows:
            number = row.line
            if row.fault:
                yield FileReject(f"{name}:{number}", "malformed_row", row.fault)
                continue
            cells = (cell if cell.strip() else None for cell in row.cells)
            yield from document_pages(_collected(zip_longest(names, cells)), None, name, number, settings)
        if lines.mixed:
            yield FileReject(name, "mixed_encoding", mixed_encoding(lines), name)
    except csv.Error as error:
        yield FileReject(name, "malformed_row", f"the header is not valid CSV ({error})", name)
    except DamagedError as error:
        yield FileReject(f"{name}:{number + 1}", error.reason, str(error))


def mixed_encoding(lines: Utf8Lines) -> str:
    """The detail of a reject for a file that has lines of two encodings."""
    return f"lines that are not UTF-8 were read as {lines.other}, each for itself"


def _collected(cells: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The cells of a row by their columns; those of columns of one name, `Labels,Labels`, as a list."""
    every: dict[str, list[Any]] = {}
    for column, cell in cells:
        if column:
            every.setdefault(column, []).append(cell)
    several = {column: [cell for cell in its if cell is not None] for column, its in every.items()}
    return {column: its[0] if len(its) == 1 else its or None for column, its in several.items()}


def parquet_pages(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a Parquet file, a row each, and the rows that give none."""
    number = 0
    try:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        with pq.ParquetFile(stream) as file:
            names = file.schema_arrow.names
            # Single columns are not asked: where the metadata of one is damaged, pyarrow (26) ends the process.
            groups = (file.metadata.row_group(n).total_byte_size for n in range(file.num_row_groups))
            largest = max(groups, default=0)
            fault = _fault(names, settings)
            if not fault and largest > max(_BATCH_BYTES, settings.max_ratio * size):  # It is made to fill memory.
                times = f"{settings.max_ratio} times the size of the file"
                fault = ("compression_ratio", f"a row group decompresses to more than {times}")
            if fault:
                yield FileReject(name, *fault, name)
                return
            yield from _missing(names, name, settings)
            rows = min(_BATCH_ROWS, max(1, _BATCH_BYTES // max(1, largest)))
            for batch in file.iter_batches(batch_size=rows):
                for at in range(batch.num_rows):
                    number += 1
                    yield from _parquet_page(batch.slice(at, 1), name, number, settings)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # A fault of the machine.
            raise
        cause = " ".join(str(error).split())[:200]
        yield FileReject(f"{name}:{number + 1}" if number else name, "damaged_parquet", cause, name)


def _parquet_page(row: pa.RecordBatch, name: str, number: int, settings: IngestSettings) -> Iterator[Row | FileReject]:
    fields: list[tuple[str, Any]] = []
    for column, cell in zip(row.schema.names, row.columns, strict=True):
        try:
            (value,) = cell.cast(_in_microseconds(cell.type), safe=False).to_pylist()
            # Older writers do not tell texts from bytes.
            value = value.decode() if isinstance(value, bytes) and pa.types.is_binary(cell.type) else value
        except (ValueError, OverflowError, KeyError, pa.ArrowException) as error:
            # No UTF-8, a date that Python has none of, a time zone that nobody knows.
            cause = " ".join(str(error).split())[:200]
            detail = f"the column {column} cannot be read, and counts as empty ({cause})"
            yield FileReject(f"{name}:{number}", "bad_value", detail)
            continue
        fields.append((column, value))
    yield from document_pages(_collected(fields), None, name, number, settings)


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    """A type with microseconds for nanoseconds, which Python has none of; so does CSV read them."""
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_microseconds(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_microseconds(kind.value_type)))
    return {pa.time64("ns"): pa.time64("us"), pa.duration("ns"): pa.duration("us")}.get(kind, kind)


def _fault(names: Sequence[str], settings: IngestSettings) -> tuple[str, str] | None:
    """Why no row of a table with these columns can be a document; said once, not of each row."""
    own_id = "_id" if "_id" in names and "doc_id" not in names else "doc_id"
    called = {"doc_id": own_id, "text": "text"} | settings.names
    there = ", ".join(map(quoted, names[:20])) or "none"
    needed = ("text", *(["doc_id"] if called.get("url", "url") not in names else []))
    missing = {field: lacking for field in needed if (lacking := _lacking(called[field], names))}
    # Of columns that are joined one is enough.
    missing = {field: its for field, its in missing.items() if len(its) == len(columns_of(called[field], names))}
    if not missing:
        return None
    absent = [
        f"no column {' or '.join(map(quoted, its))}, for the {name} of documents" for name, its in missing.items()
    ]
    lacks, how = " and ".join(absent), ",".join(f"{field}=NAME" for field in missing)
    return "missing_field", f"there is {lacks}; its columns are {there}: name what holds it, like --map {how}"


def _missing(names: Sequence[str], name: str, settings: IngestSettings) -> Iterator[FileReject]:
    """A warning for each column that `--map` names and that is not there."""
    for field, called in settings.names.items():
        for lacking in _lacking(called, names):
            near = meant(lacking, names)
            also = f"; {quoted(near)} is" if near else ""
            detail = f"there is no column {quoted(lacking)}, which --map names as {field}{also}"
            yield FileReject(name, "missing_column", detail, name)


def _lacking(called: str, names: Sequence[str]) -> list[str]:
    """Columns that a field is called by and that are not there; of a path the first part is looked for."""
    return [one for one in columns_of(called, names) if one not in names and one.partition(".")[0] not in names]
