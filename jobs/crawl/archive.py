"""The archive of a crawl process: WARC 1.1 files (ISO 28500:2017), written by warcio.

Each page is a `response` and a `request` record; one that the server says is unchanged is a `revisit` with the
profile server-not-modified. Every record is a gzip member of its own, with SHA-1 digests of block and payload. The
body stands as it was received, with its Content-Encoding; Scrapy has undone the transfer coding, so Transfer-Encoding
is left out and Content-Length is that of the bytes stored. Order and spelling of header names are Scrapy's.

The bytes of a file are appended in memory and reach the disk in `flush`; a tail that was written but not committed by
the frontier, or half of a record, is cut off by `open_archive` when a killed crawl goes on.
"""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO

from warcio.recordbuilder import RecordBuilder
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from quern.jobs.crawl.memory import Known

Headers = Sequence[tuple[str, str]]
_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_VERSION = "1.1"
_STATUSES = frozenset(HTTPStatus)


@dataclass(frozen=True)
class Exchange:
    """A request and its response as they went over the wire, but for the transfer coding."""

    url: str  # Address.
    method_line: str  # First line of the request.
    request_headers: Headers  # Headers of the request.
    status: int  # HTTP status.
    protocol: str  # Such as `HTTP/1.1`.
    headers: Headers  # Headers of the response.
    body: bytes  # Body, with its content coding.
    ip_address: str = ""  # Address that answered.


class Archive:
    """Writes the exchanges of one crawl process to numbered files of about `file_bytes` bytes.

    Attributes:
        file: Name of the file that is being written; empty before the first record.
        size: Its bytes, those not yet flushed included.
    """

    def __init__(self, directory: Path, prefix: str, file_bytes: int, about: Mapping[str, str]) -> None:
        self._directory = directory
        self._prefix = prefix
        self._file_bytes = file_bytes
        self._about = dict(about)
        self._builder = RecordBuilder(warc_version=_VERSION)
        self._pending = io.BytesIO()
        self._writer: Any = WARCWriter(self._pending, gzip=True, warc_version=_VERSION)
        self._stream: BinaryIO | None = None
        self._counted = 0
        self.file = ""
        self.size = 0

    def resume(self, file: str, size: int) -> None:
        """Go on after byte `size` of `file`: what stands behind it was never committed, and is cut off."""
        for path in self._directory.glob(f"{self._prefix}-*.warc.gz"):
            if path.name > file:
                path.unlink()
        if not file:
            return
        path = self._directory / file
        if path.stat().st_size < size:
            raise OSError(f"{path} has lost bytes: {size} were written, {path.stat().st_size} are there")
        os.truncate(path, size)
        self._stream, self.file, self.size = path.open("ab"), file, size

    def write(self, exchange: Exchange, known: Known | None = None) -> tuple[str, str, str]:
        """Append the response and its request; where `known` is given, a revisit: it was answered 304.

        Returns:
            WARC-Payload-Digest, WARC-Record-ID and WARC-Date of the response.
        """
        self._begin_file()
        headers = [(n, v) for n, v in exchange.headers if n.lower() not in ("transfer-encoding", "content-length")]
        if exchange.status != HTTPStatus.NOT_MODIFIED:
            headers.append(("Content-Length", str(len(exchange.body))))
        phrase = HTTPStatus(exchange.status).phrase if exchange.status in _STATUSES else ""
        warc = {"WARC-IP-Address": exchange.ip_address} if exchange.ip_address else {}
        if known:
            warc |= {
                "WARC-Profile": _NOT_MODIFIED,
                "WARC-Refers-To": known.record_id,
                "WARC-Refers-To-Target-URI": known.url,
                "WARC-Refers-To-Date": known.fetched_at,
                "WARC-Payload-Digest": known.digest,
            }
        response = self._builder.create_warc_record(
            exchange.url,
            "revisit" if known else "response",
            payload=None if known else io.BytesIO(exchange.body),
            length=None if known else len(exchange.body),
            http_headers=StatusAndHeaders(f"{exchange.status} {phrase}".strip(), headers, protocol=exchange.protocol),
            warc_headers_dict=warc,
        )
        request = self._builder.create_warc_record(
            exchange.url,
            "request",
            http_headers=StatusAndHeaders(exchange.method_line, list(exchange.request_headers), is_http_request=True),
        )
        self._writer.write_request_response_pair(request, response)
        self._count()
        header = response.rec_headers.get_header
        return header("WARC-Payload-Digest"), header("WARC-Record-ID"), header("WARC-Date")

    def _begin_file(self) -> None:
        """Open the next file where there is none or it is full; each begins with a warcinfo record."""
        if self._stream is not None and self.size < self._file_bytes:
            return
        self.flush()
        number = int(self.file.split("-")[-1].split(".")[0]) + 1 if self.file else 1
        if self._stream is not None:
            self._stream.close()
        self.file, self.size = f"{self._prefix}-{number:05d}.warc.gz", 0
        self._directory.mkdir(parents=True, exist_ok=True)
        self._stream = (self._directory / self.file).open("wb")
        about = {**self._about, "hostname": socket.gethostname()}
        self._writer.write_record(self._builder.create_warcinfo_record(self.file, about))
        self._count()

    def _count(self) -> None:
        self.size += self._pending.tell() - self._counted
        self._counted = self._pending.tell()

    @property
    def pending(self) -> int:
        """Bytes that `flush` will write."""
        return self._counted

    def flush(self) -> None:
        """Bring what was appended to the disk."""
        if self._stream is None or not self._pending.tell():
            return
        self._stream.write(self._pending.getbuffer())
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._pending.seek(0)
        self._pending.truncate()
        self._counted = 0

    def close(self) -> None:
        """Flush and close."""
        self.flush()
        if self._stream is not None:
            self._stream.close()
