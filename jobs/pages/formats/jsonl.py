"""Documents from JSONL files, one a line; a file that is one JSON array has one an element."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from quern.jobs.pages.formats.documents import document_pages
from quern.jobs.pages.formats.packed import DamagedError
from quern.jobs.pages.formats.rows import FileReject, Row
from quern.jobs.text.charsets import page_encoding
from quern.schemas.settings import IngestSettings

_BOM: Final = b"\xef\xbb\xbf"
_PIECE: Final = 1 << 16
_BETWEEN: Final = " \t\r\n,"


def json_pages(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of a JSONL file, and the lines that give none."""
    number = 0
    try:
        head = cast(io.BufferedReader, stream).peek()
        wide = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00")) or b"\x00" in head[:4]
        codec = page_encoding(head[: len(head) // 4 * 4], None) if wide else "utf-8"
        if codec.startswith(("utf-16", "utf-32")):
            text = io.TextIOWrapper(stream, encoding=codec, errors="replace", newline="")
            lines = _lines_of_text(text, settings.max_page_bytes)
        elif head.removeprefix(_BOM).lstrip().startswith(b"["):
            yield from _array(stream, name, settings)
            return
        else:
            lines = _lines(stream, settings.max_page_bytes)
        for number, line in enumerate(lines, 1):
            if line is None:
                detail = f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)"
                yield FileReject(f"{name}:{number}", "too_large", detail)
            elif line.strip():
                line = line.removeprefix(_BOM if number == 1 else b"").strip()
                yield from _json_page(line, name, number, settings)
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
            line = stream.readline(_PIECE)
        yield None


def _lines_of_text(text: io.TextIOWrapper, limit: int) -> Iterator[bytes | None]:
    """The same of a text that is no UTF-8, as UTF-8."""
    while line := text.readline(limit + 1):
        whole = len(line) <= limit or line.endswith("\n")
        yield line.encode("utf-8", "replace") if whole else None
        while line and not line.endswith("\n"):
            line = text.readline(_PIECE)


def _array(stream: BinaryIO, name: str, settings: IngestSettings) -> Iterator[Row | FileReject]:
    """The documents of one JSON array, which is read piece by piece, and a warning that it is one.

    What is wrong with the array ends it: where the next element begins, nothing tells.
    """
    limit, number = settings.max_page_bytes, 0
    yield FileReject(name, "json_array", "the file is one JSON array, not a document a line; its elements were read")
    decoder, text = json.JSONDecoder(), io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape")
    held, ended = text.read(_PIECE).lstrip()[1:], False
    while True:
        held = held.lstrip(_BETWEEN)
        if held.startswith("]"):
            return
        try:
            said, end = decoder.raw_decode(held)
            # A number may go on in the next piece.
            whole = ended or end < len(held)
        except RecursionError as error:
            yield FileReject(f"{name}:{number + 1}", "invalid_json", f"element {number + 1}: {error}")
            return
        except ValueError as error:
            whole, fault = False, error
            if ended or len(held) > limit:
                reason = "too_large" if len(held) > limit else "invalid_json"
                told = f"more than {limit} bytes (ingest.max_page_bytes)" if len(held) > limit else str(fault)
                yield FileReject(f"{name}:{number + 1}", reason, f"element {number + 1}: {told}; the rest is not read")
                return
        if whole:
            number, held = number + 1, held[end:]
            line = json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogateescape")
            yield from document_pages(said, line, name, number, settings)
            continue
        piece = text.read(max(_PIECE, len(held)))
        ended, held = not piece, held + piece


def _json_page(line: bytes, name: str, number: int, settings: IngestSettings) -> Iterator[Row | FileReject]:
    try:
        said = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        yield FileReject(f"{name}:{number}", "not_utf8", f"byte {error.start} of the line is not valid UTF-8")
    except (ValueError, RecursionError) as error:
        yield FileReject(f"{name}:{number}", "invalid_json", str(error))
    else:
        yield from document_pages(said, line, name, number, settings)
