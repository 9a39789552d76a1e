"""Pages from the captures of an archive: what is HTML or plain text becomes a row, the rest says why not.

A capture whose digest does not match, that is cut or not as long as it says, is kept where its content is still a
page, with a reject that says so. A revisit stands for an earlier capture: it makes no row, and is no loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from quern.jobs.pages.formats.files import FILE_TYPES, TEXT_TYPE, media_type, not_file, not_html
from quern.jobs.pages.formats.http_messages import Message, content_type, digest_matches, http_message
from quern.jobs.pages.formats.rows import FileReject, Found, Sighting, page_row
from quern.jobs.pages.formats.warc import Capture, Fault, WarcReader
from quern.schemas.errors import RejectError
from quern.schemas.settings import IngestSettings

_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_GONE: Final = frozenset({404, 410})


class _UnfitError(RejectError):
    """A capture that is no page."""


def read_captures(reader: WarcReader, name: str, settings: IngestSettings) -> Iterator[Found]:
    """Rows, rejects and sightings of the archive `name`."""
    seen: Counter[str] = Counter()
    for record in reader:
        key, url = f"{name}@{record.offset}", quoted(record.url)
        seen[key] += 1
        if seen[key] > 1:  # a fault after a record; a file compressed as a whole has one offset for all records
            key = f"{key}#{seen[key]}"
        if isinstance(record, Fault):
            yield FileReject(key, record.reason, f"{url}: {record.detail}" if url else record.detail, name)
        elif record.kind == "revisit":
            if record.fetched_at:
                yield Sighting(url, record.fetched_at, gone=False, file=name)
            earlier = quoted((record.headers.get("warc-refers-to-target-uri") or "").strip("<> "))
            if earlier and earlier != url:
                yield FileReject(key, "revisit", f"{url}: the same content as {earlier}", name)
        else:
            yield from _page(record, url, name, key, settings)


def _page(capture: Capture, url: str, name: str, key: str, settings: IngestSettings) -> Iterator[Found]:
    message, kind = None, capture.content_type.lower()
    try:
        if capture.kind == "response" and (not kind or kind.startswith("application/http")):
            message = http_message(capture.block, settings.max_page_bytes)
            if message is None and kind:
                raise _UnfitError("not_http", "no HTTP response")
        if message and message.status in _GONE and capture.fetched_at:
            yield Sighting(url, capture.fetched_at, gone=True, file=name)
        row = _row(capture, message, url, name, settings)
    except RejectError as unfit:
        reason, detail = capture.fault or (unfit.reason, str(unfit))
        yield FileReject(key, reason, f"{url}: {detail}", name)
        return
    fault = capture.fault or _wrong_digest(capture, message)
    if fault:
        yield FileReject(key, fault[0], f"{url}: kept, but {fault[1]}", name)
    yield row


def _row(capture: Capture, message: Message | None, url: str, name: str, settings: IngestSettings) -> dict[str, object]:
    if message and message.status != 200:
        raise _UnfitError("http_status", f"status {message.status}")
    body = message.body if message else capture.block
    kind, charset = content_type(message.headers.get("content-type", "") if message else capture.content_type)
    text = kind == TEXT_TYPE and capture.kind == "conversion"
    file = kind in FILE_TYPES.values()
    if kind and kind not in _HTML_TYPES and not text and not file:
        raise _UnfitError("content_type", kind)
    if len(body) > settings.max_page_bytes:
        raise _UnfitError("too_large", f"more than {settings.max_page_bytes} bytes (ingest.max_page_bytes)")
    fault = ("empty", "the page has no content") if not body.strip() else None
    if fault := fault or (not_file(body, kind) if file else None if text else not_html(body)):
        raise _UnfitError(*fault)
    if capture.fault and not text and not file and b"<" not in body[:1024]:
        raise _UnfitError("not_html", "what is left of it has no markup")
    headers = message.headers if message else {}
    return page_row(
        url,
        body,
        name,
        fetched_at=capture.fetched_at,
        status=message.status if message else None,
        content_type=kind or media_type(body),
        charset=charset or ("utf-8" if text else None),
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        warc_file=name,
        warc_offset=capture.offset,
    )


def _wrong_digest(capture: Capture, message: Message | None) -> tuple[str, str] | None:
    """Reason and detail if a digest of the record is not that of its content.

    Archives differ in whether a payload is digested with its chunks' sizes or without: either will do. A capture
    that its writer cut (WARC-Truncated) may carry the digest of the whole.
    """
    if "warc-truncated" in capture.headers:
        return None
    payloads = message.payloads if message else (capture.block,)
    for header, contents in (("warc-block-digest", (capture.block,)), ("warc-payload-digest", payloads)):
        value = capture.headers.get(header)
        if value and not digest_matches(value, contents):
            return "digest_mismatch", f"its content does not match its {header} {value[:80]}"
    return None


def quoted(url: str) -> str:
    """`url` with what no address may hold as percent escapes."""
    return quote(url, safe="%/:?#[]@!$&'()*+,;=~")
