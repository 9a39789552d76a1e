"""Plain text and times out of what web pages state."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Final

from quern.schemas.words.lines import squeeze

_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff\ud800-\udfff]")
_BREAKS: Final = re.compile("\r\n|[\r\x0c\x85\u2028\u2029]")
_TABLE_RULE: Final = re.compile(r"^\|(?:-+\|)+$")
_TABLE_ROW: Final = re.compile(r"^\|\s+(.*?)\s*\|$")
# Years that a document can be of: from the first printed books on. Others, such as 1 and 9999, stand for none.
YEARS: Final = range(1450, 2200)
_DATE_ONLY: Final = re.compile(r"^\d{4}[-/]\d{1,2}[-/]\d{1,2}$")
# A day with a zone, as XML Schema writes it: Python takes the zone for the time of day.
_DAY_IN_ZONE: Final = re.compile(r"^(\d{4}-\d\d-\d\d)(?:Z|[+-]\d\d:?\d\d)$")
# What Python reads besides: a week alone, as its Monday, and a number, whose ninth digit it takes for a `T`.
_NO_DAY: Final = re.compile(r"^\d{4}(?:-?W\d\d$|-?\d\d-?\d{3})")
_MOST_AHEAD: Final = timedelta(hours=14)
"""Hours that a zone is ahead of UTC or behind it: on Kiritimati."""


def printable(text: str) -> str:
    """`text` without control characters and lone surrogates, its line breaks as `\\n`."""
    # Most lines are printable as they are, which Python tells without a search.
    return text if text.isprintable() else _CONTROL.sub("", _BREAKS.sub("\n", text))


def paragraphs(text: str) -> str:
    """`text` with one paragraph or table row a line: no empty lines, single spaces, no rules of tables."""
    lines = (squeeze(line) for line in printable(text).split("\n"))
    return "\n".join(_TABLE_ROW.sub(r"\1", line) for line in lines if line and not _TABLE_RULE.match(line))


def one_line(text: str | None) -> str | None:
    """`text` on one line with single spaces; null where nothing is left."""
    return squeeze(printable(text)) or None if text else None


def parse_time(stated: object) -> datetime | None:
    """A stated time in its own offset; a date alone is midnight UTC, and a time without a zone is read as UTC.

    Null for what is no time, has an impossible zone, or is outside of the years 1450 to 2199.
    """
    if not isinstance(stated, str) or len(stated) > 100:
        return None
    return iso_time(stated) or mail_time(stated)


def iso_time(stated: str) -> datetime | None:
    """A time in ISO 8601, or a day like 2024/5/3, as `parse_time` reads it."""
    stated = _DAY_IN_ZONE.sub(r"\1", stated.strip())
    if _NO_DAY.match(stated):
        return None
    if _DATE_ONLY.match(stated):
        stated = "-".join(f"{int(part):02d}" for part in re.split("[-/]", stated))
    return _read(datetime.fromisoformat, stated)


def mail_time(stated: str) -> datetime | None:
    """A time of mails and HTTP (RFC 2822), as `parse_time` reads it; a zone that is unknown there counts as UTC."""
    return _read(parsedate_to_datetime, stated.strip())


def _read(parse: Callable[[str], datetime], text: str) -> datetime | None:
    try:
        time = parse(text)
        if abs(time.utcoffset() or timedelta()) > _MOST_AHEAD:
            return None
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return time if time.year in YEARS else None


# ---- times are stored in UTC with the page's own offset beside them, and read in that offset


def utc_offset(time: datetime | None) -> int | None:
    """Minutes that a time's own zone is ahead of UTC; null where it is UTC."""
    offset = time.utcoffset() if time else None
    return round(offset.total_seconds() / 60) or None if offset else None


def publication(row: Mapping[str, Any]) -> datetime | None:
    """When the document of a row was published, in its own offset: its day is the day that its reader had."""
    time: datetime | None = row["published_at"]
    offset = row.get("utc_offset")
    return time.astimezone(timezone(timedelta(minutes=offset))) if time and offset else time
