"""Times of pages: stored in UTC with the page's own offset beside them, read in that offset."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any


def utc_offset(time: datetime | None) -> int | None:
    """Minutes that a time's own zone is ahead of UTC; null where it is UTC."""
    offset = time.utcoffset() if time else None
    return round(offset.total_seconds() / 60) or None if offset else None


def publication(row: Mapping[str, Any]) -> datetime | None:
    """When the document of a row was published, in its own offset: its day is the day that its reader had."""
    time: datetime | None = row["published_at"]
    offset = row.get("utc_offset")
    return time.astimezone(timezone(timedelta(minutes=offset))) if time and offset else time
