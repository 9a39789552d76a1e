"""Documents from JSONL files, one a line, or from the arrays of objects that are often called so."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, cast

from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.rows import FileReject, Row, document_pages
from quern.jobs.pages.formats.tables import mixed_encoding
from quern.jobs.text.charsets import Utf8Lines
from quern.schemas.errors import RejectError
from quern.schemas.settings import IngestSettings

_BLOCK: Final = 1 << 16
# An array of objects, or an object over several lines.
_VALUES: Final = re.compile(r'\s*(?:\[\s*[{\]]|\{\s*\n\s*")')
_BETWEEN: Final = re.compile(r"[\s,\[\]]*")
_DECODER: Final = json.JSONDecoder()


def json_pages(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a JSONL file, and the lines that give none; of an array those of its objects."""
    number = 0
    encoded = Utf8Lines(cast(io.BufferedReader, stream))
    plain = io.BufferedReader(encoded, _BLOCK)
    try:
        if values := _VALUES.match(plain.peek().decode("utf-8-sig", "ignore")):
            if "[" in values[0]:
                yield FileReject(name, "json_array", "the file is a JSON array, of which each element is read", name)
            yield from _json_values(plain, name, settings)
        for number, line in enumerate(_lines(plain, settings.max_page_bytes), 1):
            if line is None:
                detail = f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)"
                yield FileReject(f"{name}:{number}", "too_large", detail)
            elif line.strip():
                line = line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip()
                try:
                    value = json.loads(line.decode("utf-8"))
                except (ValueError, RecursionError) as error:
                    yield FileReject(f"{name}:{number}", "invalid_json", str(error))
                else:
                    yield from document_pages(value, line, name, number, settings)
    except DamagedError as error:
        # A damaged file keeps its good lines; one that is not gzip at all has no line to name.
        key = name if error.reason == "not_gzip" else f"{name}:{number + 1}"
        yield FileReject(key, error.reason, str(error))
    if encoded.other:
        yield FileReject(name, "mixed_encoding", mixed_encoding(encoded), name)


def _lines(stream: BinaryIO, limit: int) -> Iterator[bytes | None]:
    """Lines of at most `limit` bytes; null for a longer one, of which no more is held in memory."""
    while line := stream.readline(limit + 1):
        if len(line) <= limit or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(1 << 16)
        yield None


def _json_values(
    stream: io.BufferedReader[Utf8Lines], name: str, settings: IngestSettings
) -> Iterator[Row | FileReject]:
    """The documents of arrays, or of objects one after the other; each is named by its first line."""
    documents = 0
    try:
        for line, value, text in json_values(stream, settings.max_page_bytes):
            documents += 1
            yield from document_pages(value, text.encode("utf-8", "ignore"), name, line, settings)
    except UnreadableValueError as error:
        yield FileReject(f"{name}:{error.line}", error.reason, f"{error}; the rest is not read")
        while stream.read1(_BLOCK):  # Damage further on in a compressed file is reported too.
            pass
    else:
        if not documents:
            yield FileReject(name, "empty", "the array has no objects", name)


class UnreadableValueError(RejectError):
    """Text that is no JSON, or a value that is too large, which begins in `line`, from 1."""

    def __init__(self, line: int, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.line = line


def json_values(stream: io.BufferedIOBase, limit: int) -> Iterator[tuple[int, Any, str]]:
    """The values of arrays or of JSON lines, each with its first line and its text; `limit` bytes of one are held.

    Raises:
        UnreadableValueError: A value cannot be read; after it nothing is. Or the array is not closed.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    held, at, line = "", 0, 1
    ended = is_open = False
    while True:
        between = _BETWEEN.match(held, at)[0]  # type: ignore[index]  # It matches the empty text too.
        is_open = between.rfind("[") > between.rfind("]") or (is_open and "]" not in between)
        at, line = at + len(between), line + between.count("\n")
        if at == len(held) and ended:
            break
        try:
            value, end = _DECODER.raw_decode(held, at)
        except (ValueError, RecursionError) as error:
            longest = len(held) - at > limit
            if ended or longest or isinstance(error, RecursionError):
                detail = getattr(error, "msg", None) or str(error)
                reason = "too_large" if longest else "invalid_json"
                raise UnreadableValueError(line, reason, detail) from None
            piece = stream.read1(max(_BLOCK, len(held) - at))
            held, at, ended = held[at:] + decoder.decode(piece, not piece), 0, not piece
            continue
        yield line, value, held[at:end]
        at, line = end, line + held.count("\n", at, end)
    if is_open:
        raise UnreadableValueError(line, "invalid_json", "the array is not closed: the file is cut")
