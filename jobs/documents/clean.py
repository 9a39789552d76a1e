"""Documents from pages: main text and metadata, found in a child process; JSONL documents as they were given."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version as installed
from typing import Any, ClassVar, Final, Literal
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.jobs.core.contract import Job, Outcome, Reject, outcome
from quern.jobs.documents.html.child import ChildError, UnfitError, child
from quern.jobs.pages.formats.files import FILE_TYPES, MARKDOWN_TYPE, MDX_TYPE, PDF_TYPE, TEXT_TYPE, is_text_file
from quern.jobs.pages.formats.rows import JSON_TYPE
from quern.jobs.text.charsets import decode_page
from quern.jobs.text.given_documents import METADATA, given_document
from quern.jobs.text.language import language_of, language_tag
from quern.jobs.text.markdown import given_markdown
from quern.jobs.text.plain_text import paragraphs, parse_time, printable, utc_offset
from quern.schemas.digests import text_digest
from quern.schemas.extras import require
from quern.schemas.settings import CleanSettings
from quern.schemas.tables import DOCUMENTS, Table
from quern.schemas.words.scripts import CJK_CHARACTER

MOST_ID_CHARACTERS: Final = 200
_ID_DIGITS: Final = 20
_LONGEST_SCAN: Final = 3600.0  # Seconds for the scanned pages of one file.
_PORTS: Final = {"http": 80, "https": 443}
PARSER: Final = "quern.jobs.documents.html.extract"
_FILE_READER: Final = "quern.jobs.documents.files.extract"
_SCAN_READER: Final = "quern.jobs.documents.files.scanned"
_GIVEN: Final = ("site_name", "title", "author", "published_at", "modified_at", "url", "language")
# Every library that has a say in a document's text, dates or language.
_LIBRARIES: Final = tuple(
    "trafilatura justext courlan lxml lxml_html_clean htmldate dateparser python-dateutil charset-normalizer pypdfium2 "
    "markdown-it-py py3langid".split()
)

# A character of Chinese, Japanese or Korean says what about four letters of an alphabet do.
_LETTERS_OF_A_SYLLABLE: Final = 4

Row = dict[str, Any]


def normalise_url(url: str) -> str:
    """`url` with a lower-case host and without default port, fragment and `utm_` parameters."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    if parts.scheme not in _PORTS or not host:
        return url
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS[parts.scheme]:
        netloc = f"{netloc}:{port}"
    query = parts.query
    if "utm_" in query.lower():
        pairs = [(k, v) for k, v in parse_qsl(query, keep_blank_values=True) if not k.lower().startswith("utm_")]
        query = urlencode(pairs, quote_via=quote)
    return urlunsplit((parts.scheme, netloc, parts.path or "/", query, ""))


def site_of(url: str) -> str | None:
    """Host name of an http(s) address without `www.`."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host and parts.scheme in _PORTS else None


def _given(page: Row) -> Row:
    """The document that fields give. Its text stays as it is, save for control characters.

    A date that cannot be read is left out.
    """
    try:
        strings = given_document(json.loads(page["body"])).fields
    except (ValueError, RecursionError) as error:
        raise UnfitError(getattr(error, "reason", "parse_error"), f"{type(error).__name__}: {error}") from None
    return _stated(strings)


def _markdown(page: Row) -> Row:
    """The document of a Markdown file: what its front matter states, and its text as it stands."""
    doc_id, mdx = text_digest(page["url"])[:_ID_DIGITS], page["content_type"] == MDX_TYPE
    row = _stated(given_markdown(page["body"], page["charset"], doc_id, mdx=mdx).fields)
    return row | {"url": row["url"] or normalise_url(page["url"])}


def _stated(strings: Mapping[str, Any]) -> Row:
    """The document of fields as `given_document` reads them."""
    doc_id, text = strings["doc_id"], strings["text"]
    if len(doc_id) > MOST_ID_CHARACTERS:
        raise UnfitError("bad_doc_id", f"a doc_id has 1 to {MOST_ID_CHARACTERS} characters: {doc_id[:80]!r}")
    text = printable(text)
    address = strings.get("url")
    published = parse_time(strings.get("published_at"))
    language = language_tag(strings.get("language"))
    row: Row = {
        "doc_id": doc_id,
        "url": normalise_url(address) if address else None,
        "site": strings.get("site") or (site_of(address) if address else None),
        "title": strings.get("title"),
        "author": strings.get("author"),
        "published_at": published,
        "utc_offset": utc_offset(published),
        "modified_at": parse_time(strings.get("modified_at")),
        "language": language or language_of(text)[0],
        "text": text,
        "site_name": strings.get("site_name"),
        "images": [],
        "metadata": strings.get(METADATA, {}),
    }
    fields = [name for name in _GIVEN if row[name] is not None]
    by = {"language": "given" if language else "text"}
    return row | {"metadata_from": [{"field": name, "by": by.get(name, "given")} for name in fields]}


def _archived_text(page: Row) -> Row:
    """The document of a text file as it stands, or without gaps of a page of which an archive holds the text (WET)."""
    text = decode_page(page["body"], page["charset"])
    text = printable(text) if is_text_file(page["url"]) else paragraphs(text)
    row = _at_address(page["url"], {"text": text})
    return row | {"metadata_from": [entry for entry in row["metadata_from"] if entry["field"] != "url"]}


def _at_address(address: str, fields: Row) -> Row:
    """The document that a page or file at `address` makes, with the `fields` read from it."""
    url, language = normalise_url(address), language_of(fields["text"])[0]
    row = dict.fromkeys(DOCUMENTS.schema.names) | fields | {"url": url, "site": site_of(url), "language": language}
    by = {"url": "url", "language": "text"}
    return row | {
        "doc_id": text_digest(url)[:_ID_DIGITS],
        "images": [],
        "metadata": {},
        "metadata_from": [{"field": n, "by": by.get(n, "given")} for n in _GIVEN if row.get(n) is not None],
    }


_READ: Final[Mapping[str, Callable[[Row], Row]]] = {
    JSON_TYPE: _given,
    TEXT_TYPE: _archived_text,
    MARKDOWN_TYPE: _markdown,
    MDX_TYPE: _markdown,
}


@dataclass(frozen=True)
class Clean(Job):
    """Main text and metadata of pages; trafilatura reads HTML in a child process with limits."""

    settings: CleanSettings = field(default_factory=CleanSettings)

    name: ClassVar[str] = "clean"
    version: ClassVar[int] = 29
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("url", "content_type", "charset", "body")
    known_by: ClassVar[tuple[str, ...]] = ("url", "content_type", "charset", "digest")
    key: ClassVar[str] = "url"

    @property
    def makes(self) -> Table:
        """Documents."""
        return DOCUMENTS

    def configuration(self) -> Mapping[str, object]:
        """The settings and the versions of the libraries that read the page."""
        libraries = {name: installed(name) for name in _LIBRARIES}
        if self.settings.ocr:
            require("rapidocr", "clean.ocr", "leave it off: pages without a text layer are rejects")
            libraries["rapidocr"] = installed("rapidocr")
        return {"settings": self.settings.model_dump(), "libraries": libraries}

    def preference(self, rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """A page at its own canonical address before those that name it; then the later modified, the longer text."""
        own = [
            normalise_url(page) == url
            for page, url in zip(*(rows.column(n).to_pylist() for n in ("page_url", "url")), strict=True)
        ]
        seconds = pc.fill_null(rows.column("modified_at").cast(pa.int64()), 0).to_numpy() // 1_000_000
        length = pc.utf8_length(rows.column("text")).to_numpy()
        modified, length = np.clip(seconds, 0, (1 << 37) - 1), np.minimum(length, (1 << 24) - 1)
        return np.asarray((np.asarray(own, dtype=np.int64) << 61) + (modified << 24) + length, dtype=np.int64)

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """Documents of `batch`; what makes none is rejected with its reason."""
        rows: list[Row] = []
        parents: list[int] = []
        rejects: list[Reject] = []
        # One page at a time: each is parsed on its own, and that takes nearly all of the time.
        for i, page in enumerate(batch.to_pylist()):
            try:
                row = self._document(page)
                unread = row.pop("without_text", [])
                rows.append(row)
                parents.append(i)
                if unread:
                    numbers = ", ".join(map(str, unread[:20]))
                    detail = f"kept, but {len(unread)} pages of the file have no text layer: {numbers}"
                    rejects.append(Reject(i, "pages_without_text", detail))
            except UnfitError as error:
                rejects.append(Reject(i, error.reason, str(error)))
            except ChildError as error:
                rejects.append(Reject(i, error.reason, error.detail, error.transient))
        return outcome(DOCUMENTS, rows, parents, rejects)

    def _document(self, page: Row) -> Row:
        reader = self._of_file if page["content_type"] in FILE_TYPES.values() else _READ.get(page["content_type"])
        row = reader(page) if reader else self._extracted(page)
        given = page["content_type"] in (JSON_TYPE, *FILE_TYPES.values()) or is_text_file(page["url"])
        characters = len(row["text"].strip())
        weight = characters + (_LETTERS_OF_A_SYLLABLE - 1) * len(CJK_CHARACTER.findall(row["text"]))
        if weight < (1 if given else max(1, self.settings.min_characters)):
            raise UnfitError("no_text", f"the main text has {characters} characters")
        if characters > self.settings.max_characters:
            raise UnfitError("too_long", f"the main text has {characters} characters, more than clean.max_characters")
        digest = text_digest(row["title"], row["text"])
        return row | {"page_url": page["url"], "digest": digest, "personal_data": [], "duplicate_of": None}

    def _of_file(self, page: Row) -> Row:
        """The document of a PDF or DOCX file."""
        limits = {name: getattr(self.settings, name) for name in ("max_pages", "max_characters")}
        reader = child(_FILE_READER, self.settings.memory_per_page)
        header = {"content_type": page["content_type"], **limits}
        fields = reader.ask(header, page["body"], self.settings.seconds_per_file)
        if self.settings.ocr and (scans := len(fields.get("without_text", []))):
            reader = child(_SCAN_READER, self.settings.memory_per_page)
            limit = self.settings.seconds_per_file + min(scans * self.settings.seconds_per_page, _LONGEST_SCAN)
            try:
                fields = reader.ask(header, page["body"], limit)
            except ChildError:
                if not fields["text"]:
                    raise  # Else what has a text layer is kept, and the scanned pages are reported as without OCR.
        if page["content_type"] == PDF_TYPE and not fields["text"]:
            pages = len(fields["page_starts"])
            raise UnfitError("no_text_layer", f"no text layer: {pages} pages without text, maybe scanned")
        times = {name: parse_time(fields[name]) for name in ("published_at", "modified_at")}
        return _at_address(page["url"], fields | times)

    def _extracted(self, page: Row) -> Row:
        """The document of an HTML page."""
        header = {"url": page["url"], "charset": page["charset"]}
        parser = child(PARSER, self.settings.memory_per_page)
        fields = parser.ask(header, page["body"], self.settings.seconds_per_page)
        url = normalise_url(fields.pop("canonical") or page["url"])
        fields |= {name: parse_time(fields[name]) for name in ("published_at", "modified_at")}
        return fields | {
            "utc_offset": utc_offset(fields["published_at"]),
            "doc_id": text_digest(url)[:_ID_DIGITS],
            "url": url,
            "metadata": {},
            "site": site_of(url) if page["url"].startswith("file:") else site_of(page["url"]),
        }
