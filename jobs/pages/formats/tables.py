"""Documents from tables: CSV and TSV, a row a document, and Parquet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from quern.jobs.pages.formats.documents import document_pages
from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.rows import FileReject, Row
from quern.jobs.text.delimited import delimited
from quern.schemas.settings import IngestSettings

_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_BATCH_ROWS: Final = 64  # Texts may be long.


def delimited_pages(stream: BinaryIO, name: str, kind: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a CSV or TSV file with a header, and the rows that give none; an empty cell says nothing.

    What is no UTF-8 in it is written as the sign for that.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    number = 0
    try:
        table = delimited(text, _DELIMITERS[kind], settings.max_page_bytes)
        if fault := _fault(table.names, settings):
            yield FileReject(name, *fault, name)
            return
        for row in table.rows:
            number = row.line
            if row.fault:
                yield FileReject(f"{name}:{number}", "malformed_row", row.fault)
                continue
            said = {column: cell for column, cell in zip(table.names, row.cells, strict=False) if cell.strip()}
            yield from document_pages(said, None, name, number, settings.names, settings.max_page_bytes)
    except csv.Error as error:
        yield FileReject(name, "malformed_row", f"the header is not valid CSV ({error})", name)
    except DamagedError as error:
        yield FileReject(f"{name}:{number + 1}", error.reason, str(error))
    finally:
        text.detach()


def parquet_pages(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a Parquet file, a row each, and the rows that give none."""
    number = 0
    try:
        with pq.ParquetFile(stream) as file:
            if fault := _fault(file.schema_arrow.names, settings):
                yield FileReject(name, *fault, name)
                return
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                for at in range(batch.num_rows):
                    number += 1
                    yield from _parquet_page(batch.slice(at, 1), name, number, settings)
    except (pa.ArrowException, OSError) as error:
        cause = " ".join(str(error).split())[:200]
        yield FileReject(f"{name}:{number + 1}" if number else name, "damaged_parquet", cause, name)


def _parquet_page(row: pa.RecordBatch, name: str, number: int, settings: IngestSettings) -> Iterator[Row | FileReject]:
    try:
        (said,) = row.to_pylist()
    except (ValueError, OverflowError) as error:  # A text that is no UTF-8, or a date that Python has none of.
        yield FileReject(f"{name}:{number}", "malformed_row", " ".join(str(error).split())[:200])
        return
    said = {column: value for column, value in said.items() if value is not None}
    yield from document_pages(said, None, name, number, settings.names, settings.max_page_bytes)


def _fault(names: Sequence[str], settings: IngestSettings) -> tuple[str, str] | None:
    """Why no row of a table with these columns can be a document; said once, not of each row."""
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        return "duplicate_column", f"the column {twice[0]!r} stands there twice"
    called = {"doc_id": "doc_id", "text": "text"} | settings.names
    there = ", ".join(map(str, names[:20])) or "none"
    for field in ("text", *(["doc_id"] if called.get("url", "url") not in names else [])):
        if called[field] not in names:
            return "missing_field", (
                f"there is no column {called[field]}, for the {field} of documents; its columns are {there}: name the "
                f"one that holds it, like --map {field}=NAME"
            )
    return None
