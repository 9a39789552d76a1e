"""Pages from files: HTML, JSONL documents, WARC and ARC, streamed into batches; what cannot be read is a reject."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.archives import Capture, Fault, Message, arc_captures, http_message, warc_captures
from jobs.inflate import DamagedError, GzipStream
from jobs.plain import plain
from schemas.digests import bytes_digest
from schemas.groups import IngestSettings
from schemas.tables import PAGES

log = logging.getLogger(__name__)

BATCH_ROWS: Final = 256
BATCH_BYTES: Final = 32 << 20
_HTML: Final = (".html", ".htm", ".xhtml")
_JSONL: Final = (".jsonl",)
_WARC: Final = (".warc",)
_ARC: Final = (".arc",)
_KINDS: Final = _HTML + _JSONL + _WARC + _ARC
_OPTIONAL: Final = ("url", "title", "author", "published_at", "site", "language")
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_LABEL: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_MAGIC: Final = {
    b"%PDF-": "a PDF file",
    b"\x89PNG": "a PNG image",
    b"GIF8": "a GIF image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PK\x03\x04": "a zip file",
    b"\x1f\x8b": "gzip data",
    b"\x7fELF": "a program",
}
# The bytes that the WHATWG MIME Sniffing standard takes as proof of a binary file.
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_SNIFFED: Final = 1445
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")

Row = dict[str, Any]


class IngestError(ValueError):
    """There is nothing to read; the message says why in one sentence."""


@dataclass(frozen=True)
class FileReject:
    """A page, line, record or whole file that was left out.

    Attributes:
        key: File relative to the input, with `:line` or `@offset` where the fault has a place in it.
        reason: Code, such as `truncated_gzip`.
        detail: What exactly was wrong, for a person.
    """

    key: str
    reason: str
    detail: str


# ---- which files -----------------------------------------------------------------------------------------


def list_inputs(root: Path) -> list[Path]:
    """The files to read: `root` itself, or every file of a known kind under it, sorted by path.

    Raises:
        IngestError: `root` is missing, unreadable, or holds no file of a known kind.
    """
    return _inputs(root)[0]


def _inputs(root: Path) -> tuple[list[Path], list[FileReject]]:
    """The files to read, and the folders under `root` that were not entered.

    A `root` that is a symbolic link is followed. A file keeps the link's name where that tells its kind.

    Raises:
        IngestError: As `list_inputs`.
    """
    try:
        mode = root.stat().st_mode
    except FileNotFoundError:
        raise IngestError(f"{root} does not exist") from None
    except OSError as error:
        raise IngestError(f"{root} cannot be read: {error.strerror}") from None
    if not stat.S_ISDIR(mode):
        path = root if _kind(root) else root.resolve()
        if not _kind(path):
            raise IngestError(
                f"{root} is none of the kinds of file that can be read: {', '.join(_KINDS)}, each also as .gz"
            )
        return [path], []
    if not os.access(root, os.R_OK | os.X_OK):
        raise IngestError(f"{root} cannot be read: permission denied")
    found, skipped, closed = _walk(root)
    if skipped:
        log.debug("ingest skipped=%d kinds=%s", skipped.total(), ",".join(sorted(skipped)[:20]))
    if not found:
        kinds = ", ".join(_KINDS)
        holds = f"none of the kinds of file that can be read ({kinds}, each also as .gz)" if skipped else "no files"
        unread = f"; not entered: {closed[0].key} ({closed[0].detail})" if closed else ""
        more = f" and {len(closed) - 1} more" if len(closed) > 1 else ""
        raise IngestError(f"{root} holds {holds}{unread}{more}")
    return found, closed


def _walk(root: Path) -> tuple[list[Path], Counter[str], list[FileReject]]:
    """Files of a known kind, other files counted by suffix, and folders that were not entered."""
    found: list[Path] = []
    skipped: Counter[str] = Counter()
    closed: list[FileReject] = []

    def unreadable(error: OSError) -> None:
        closed.append(FileReject(_name(Path(error.filename), root), "unreadable_folder", error.strerror or str(error)))

    for folder, folders, names in os.walk(root, onerror=unreadable):
        # Folders behind symbolic links are not entered: they lead outside, or to what is read anyway.
        for link in (path for name in folders if (path := Path(folder, name)).is_symlink()):
            closed.append(FileReject(_name(link, root), "linked_folder", "a symbolic link to a folder is not followed"))
        for name in names:
            path = Path(folder, name)
            if _kind(path):
                found.append(path)
            else:
                skipped[path.suffix.lower() or "(none)"] += 1
    closed.sort(key=lambda reject: reject.key)
    return sorted(found, key=lambda path: path.parts), skipped, closed


def _kind(path: Path) -> str:
    """The suffix that says how to read `path`, without `.gz`; empty for an unknown kind."""
    name = path.name.lower().removesuffix(".gz")
    return next((kind for kind in _KINDS if name.endswith(kind) and name != kind), "")


# ---- batches ---------------------------------------------------------------------------------------------


def read_pages(
    root: Path, settings: IngestSettings, *, batch_rows: int = BATCH_ROWS, batch_bytes: int = BATCH_BYTES
) -> Iterator[pa.RecordBatch | FileReject]:
    """Pages under `root` as batches of `PAGES`, and what was left out: first folders, then in the order of the files.

    A batch holds at most `batch_rows` rows, and ends with the row that brings its bodies to `batch_bytes`.

    Raises:
        IngestError: There is nothing to read; before the first batch.
    """
    paths, closed = _inputs(root)
    yield from closed
    base = root if root.is_dir() else paths[0].parent
    rows: list[Row] = []
    size = 0
    for path in paths:
        for found in _read_file(path, base, root.resolve(), settings):
            if isinstance(found, FileReject):
                yield found
                continue
            rows.append(found)
            size += len(found["body"])
            if len(rows) == batch_rows or size >= batch_bytes:
                yield pa.RecordBatch.from_pylist(rows, schema=PAGES.schema)
                rows, size = [], 0
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=PAGES.schema)


def _name(path: Path, base: Path) -> str:
    """`path` relative to `base`; bytes that are no UTF-8 are written as escapes, as Arrow text must be valid."""
    return os.fsencode(path.relative_to(base).as_posix()).decode("utf-8", "backslashreplace")


def _read_file(path: Path, base: Path, within: Path, settings: IngestSettings) -> Iterator[Row | FileReject]:
    name, kind = _name(path, base), _kind(path)
    try:
        with _opened(path, within) as raw:
            if not raw.peek(1):
                yield FileReject(name, "empty", "the file has no bytes")
                return
            zipped = GzipStream(raw, settings.max_ratio) if path.name.lower().endswith(".gz") else None
            stream = cast(io.BufferedReader, io.BufferedReader(zipped)) if zipped else raw
            if kind in _HTML:
                yield _html_page(stream, path.relative_to(base), name, settings)
            elif kind in _JSONL:
                yield from _json_pages(stream, name, settings)
            else:
                captures = warc_captures if kind in _WARC else arc_captures
                yield from _captured(captures(stream, settings.max_page_bytes), name, zipped, settings)
    except DamagedError as error:
        yield FileReject(name, error.reason, str(error))
    except OSError as error:
        yield FileReject(name, "unreadable", error.strerror or str(error))


@contextmanager
def _opened(path: Path, within: Path) -> Iterator[io.BufferedReader]:
    """The file, if it is a regular file inside `within`, the resolved input, or is the input itself.

    Raises:
        OSError: It is not, or cannot be opened.
    """
    if path.is_symlink() and path.exists() and not path.resolve().is_relative_to(within):
        raise OSError("a symbolic link that leads outside the folder is not followed")
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
        raise OSError("not a regular file")
    with path.open("rb") as stream:
        yield stream


def _row(url: str, body: bytes, source_file: str, **others: object) -> Row:
    empty = dict.fromkeys(PAGES.schema.names)
    return empty | {"url": url, "body": body, "source_file": source_file, "digest": bytes_digest(body)} | others


# ---- HTML files ------------------------------------------------------------------------------------------


def _html_page(stream: BinaryIO, path: Path, name: str, settings: IngestSettings) -> Row | FileReject:
    body = stream.read(settings.max_page_bytes + 1)
    if len(body) > settings.max_page_bytes:
        return FileReject(name, "too_large", f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)")
    fault = not_html(body)
    if fault:
        return FileReject(name, *fault)
    return _row(page_url(path), body, name, content_type=_media_type(body))


def page_url(path: Path) -> str:
    """Address of a page by its file's path: `https:` where the first folder is named like a host, as `wget -r` does."""
    parts = path.parts
    if parts[-1].lower().endswith(".gz"):
        parts = (*parts[:-1], parts[-1][: -len(".gz")])
    relative = "/".join(quote(os.fsencode(part), safe="~:@!$&'()*+,;=") for part in parts)
    return f"https://{relative}" if len(parts) > 1 and _is_host(parts[0]) else f"file:///{relative}"


def _is_host(name: str) -> bool:
    labels = name.split(".")
    top = labels[-1]
    return (
        len(labels) > 1 and all(_LABEL.fullmatch(label) for label in labels) and len(top) > 1 and not top[0].isdigit()
    )


def not_html(body: bytes) -> tuple[str, str] | None:
    """Reason and detail if `body` is no HTML page. Markup with stray control bytes is a page all the same."""
    head = body[:_SNIFFED].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not body.strip():
        return "empty", "the page has no content"
    if head.startswith(b"<?xml") and b"<html" not in body[:8192].lower():
        return "not_html", "the page is XML of another kind"
    if head.startswith((b"<", *_UTF16)):
        return None
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            return "not_html", f"the content is {what}"
    if _BINARY.search(head):
        return "not_html", "the content is binary"
    return None


def _media_type(body: bytes) -> str:
    head = body[:_SNIFFED].lstrip()
    xhtml = head.startswith(b"<?xml") and b"http://www.w3.org/1999/xhtml" in head
    return "application/xhtml+xml" if xhtml else "text/html"


# ---- JSONL documents -------------------------------------------------------------------------------------


def _json_pages(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    number = 0
    try:
        for number, line in enumerate(_lines(stream, settings.max_page_bytes), 1):
            if line is None:
                detail = f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)"
                yield FileReject(f"{name}:{number}", "too_large", detail)
            elif line.strip():
                yield _json_page(line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip(), name, number)
    except DamagedError as error:
        # A damaged file keeps its good lines; one that is not gzip at all has no line to name.
        key = name if error.reason == "not_gzip" else f"{name}:{number + 1}"
        yield FileReject(key, error.reason, str(error))


def _lines(stream: BinaryIO, limit: int) -> Iterator[bytes | None]:
    """Lines of at most `limit` bytes; null for a longer one, of which no more is held in memory."""
    while line := stream.readline(limit + 1):
        if len(line) <= limit or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(1 << 16)
        yield None


def _json_page(line: bytes, name: str, number: int) -> Row | FileReject:
    key = f"{name}:{number}"
    try:
        given = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return FileReject(key, "not_utf8", f"byte {error.start} of the line is not valid UTF-8")
    except (ValueError, RecursionError) as error:
        return FileReject(key, "invalid_json", str(error))
    fault = _document_fault(given)
    if fault:
        return FileReject(key, *fault)
    # Its id identifies a document, not its `url`: two passages of one page may share that.
    return _row(f"doc:{given['doc_id']}", line, name, content_type="application/json", warc_offset=number)


def _document_fault(given: object) -> tuple[str, str] | None:
    if not isinstance(given, dict):
        return "invalid_document", f"a document is an object, not a {type(given).__name__}"
    for field in ("doc_id", "text"):
        if field not in given:
            return "missing_field", f"a document must have {field}"
        if not isinstance(given[field], str):
            return "wrong_type", f"{field} must be a string, not a {type(given[field]).__name__}"
    if not given["doc_id"].strip():
        return "bad_doc_id", "doc_id is empty"
    if plain(given["doc_id"]) != given["doc_id"] or "\n" in given["doc_id"]:
        return "bad_doc_id", "doc_id holds a control character or half of a surrogate pair"
    for field in _OPTIONAL:
        if not isinstance(given.get(field), str | None):
            return "wrong_type", f"{field} must be a string or null, not a {type(given[field]).__name__}"
    return None


# ---- WARC and ARC ----------------------------------------------------------------------------------------


def _captured(
    captures: Iterable[Capture | Fault], name: str, zipped: GzipStream | None, settings: IngestSettings
) -> Iterator[Row | FileReject]:
    seen: Counter[str] = Counter()
    for found in captures:
        offset = zipped.member_offset(found.position) if zipped else found.position
        key = f"{name}@{offset}"
        seen[key] += 1
        if seen[key] > 1:  # a fault after a record; a file compressed as a whole has one offset for all records
            key = f"{key}#{seen[key]}"
        if isinstance(found, Fault):
            detail = f"{_quoted(found.url)}: {found.detail}" if found.url else found.detail
            yield FileReject(key, found.reason, detail)
        else:
            yield _capture_page(found, name, offset, key, settings)


def _capture_page(capture: Capture, name: str, offset: int, key: str, settings: IngestSettings) -> Row | FileReject:
    url = _quoted(capture.url)
    declared = capture.content_type
    message: Message | None = None
    if declared.lower().startswith("application/http"):
        try:
            message = http_message(capture.block, settings.max_page_bytes)
        except DamagedError as error:
            return FileReject(key, error.reason, f"{url}: {error}")
        if message is None:
            return FileReject(key, "not_http", f"{url}: no HTTP response")
        if message.status != 200:
            return FileReject(key, "http_status", f"{url}: status {message.status}")
        declared = message.headers.get("content-type", "")
    body = message.body if message else capture.block
    kind, charset = _content_type(declared)
    if kind and kind not in _HTML_TYPES:
        return FileReject(key, "content_type", f"{url}: {kind}")
    if len(body) > settings.max_page_bytes:
        return FileReject(key, "too_large", f"{url}: more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)")
    fault = not_html(body)
    if fault:
        return FileReject(key, fault[0], f"{url}: {fault[1]}")
    headers = message.headers if message else {}
    return _row(
        url,
        body,
        name,
        fetched_at=capture.fetched_at,
        status=message.status if message else None,
        content_type=kind or _media_type(body),
        charset=charset,
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        warc_file=name,
        warc_offset=offset,
    )


def _quoted(url: str) -> str:
    """`url` with what no address may hold as percent escapes."""
    return quote(url, safe="%/:?#[]@!$&'()*+,;=~")


def _content_type(declared: str) -> tuple[str, str | None]:
    """Media type and charset of a Content-Type header."""
    kind, *parameters = declared.split(";")
    charset = next((p.partition("=")[2] for p in parameters if p.strip().lower().startswith("charset=")), "")
    return kind.strip().lower(), charset.strip().strip("\"'") or None


# ---- the same address more than once ---------------------------------------------------------------------


def superseded(urls: pa.ChunkedArray | pa.Array, fetched_at: pa.ChunkedArray | pa.Array) -> npt.NDArray[np.bool_]:
    """Which rows have a later capture of the same address, shape (rows,).

    The latest `fetched_at` stays, one without a time counts as the earliest; among equals the last row stays.
    Needs about 50 bytes a row beside the addresses.
    """
    codes = _combined(urls).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    when = _combined(fetched_at).cast(pa.int64()).fill_null(np.iinfo(np.int64).min).to_numpy(zero_copy_only=False)
    order = np.lexsort((np.arange(len(codes)), when, codes))
    gone = np.zeros(len(codes), dtype=np.bool_)
    gone[order[:-1]] = codes[order][:-1] == codes[order][1:]
    return gone


def _combined(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if not isinstance(column, pa.ChunkedArray):
        return column
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def latest_captures(paths: Sequence[Path], batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch | FileReject]:
    """The staged pages of `paths` with one row per address, the others as rejects.

    Of a page `duplicate_url`, of a JSONL document, whose address is made from its id, `duplicate_doc_id`.

    Reads the addresses and times of all rows first, then streams the rows.
    """
    small = pa.concat_tables([pq.read_table(path, columns=["url", "fetched_at"]) for path in paths])
    gone = superseded(small["url"], small["fetched_at"])
    start = 0
    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=batch_rows, columns=PAGES.schema.names):
                lost = gone[start : start + batch.num_rows]
                start += batch.num_rows
                yield from _duplicates(batch.filter(pa.array(lost)))
                kept = batch.filter(pa.array(~lost))
                if kept.num_rows:
                    yield pa.RecordBatch.from_arrays(kept.columns, schema=PAGES.schema)


def _duplicates(lost: pa.RecordBatch) -> Iterator[FileReject]:
    for row in lost.select(["url", "source_file", "warc_file", "warc_offset"]).to_pylist():
        url, file, offset = row["url"], row["source_file"], row["warc_offset"]
        if offset is not None and row["warc_file"] is None:
            yield FileReject(f"{file}:{offset}", "duplicate_doc_id", f"{url}: the same doc_id stands again further on")
            continue
        key = file if offset is None else f"{file}@{offset}"
        yield FileReject(key, "duplicate_url", f"{url} was captured again later, or stands again further on")
