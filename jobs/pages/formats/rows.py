"""What reading gives: rows of `pages`, rejects with their place, and sightings of pages that are there or gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quern.jobs.text.given_documents import Given
from quern.jobs.text.plain_text import parse_time
from quern.schemas.digests import bytes_digest
from quern.schemas.tables import PAGES

Row = dict[str, Any]


@dataclass(frozen=True)
class FileReject:
    """A page, line, record or whole file that was left out, or kept in spite of a fault."""

    key: str  # File relative to the input, with `:line` or `@offset` where the fault has a place in it.
    reason: str  # Code, such as `truncated_gzip`.
    detail: str  # What exactly was wrong, for a person.
    file: str = field(default="", compare=False)  # The file alone.


@dataclass(frozen=True)
class Sighting:
    """An archive's word that a page was there (a revisit) or gone (status 404 or 410) at a time."""

    url: str
    fetched_at: datetime
    gone: bool
    file: str


Found = Row | FileReject | Sighting


def modified_of(given: Given) -> str | None:
    """What a document states as `modified_at`, as `pages.last_modified` has it."""
    time = parse_time(given.fields.get("modified_at"))
    return time.isoformat() if time else None


def page_row(url: str, body: bytes, source_file: str, **others: object) -> Row:
    """A row of `pages`; columns that are not given are null."""
    empty = dict.fromkeys(PAGES.schema.names)
    return empty | {"url": url, "body": body, "source_file": source_file, "digest": bytes_digest(body)} | others
