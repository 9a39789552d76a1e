"""Dates that pages state or show, and that addresses hold."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from htmldate.extractors import try_date_expr

from quern.jobs.text.plain_text import parse_time

# A date in an address, such as /2024/03/05/, /2024/mar/05/ or /20240305-ferry.
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PARTED: Final = re.compile(
    rf"(?<!\d)(19[89]\d|20\d\d)([/_.-])(0?[1-9]|1[0-2]|{'|'.join(_MONTHS)})\2(0?[1-9]|[12]\d|3[01])(?!\d)", re.I
)
_JOINED: Final = re.compile(r"(?<!\d)(19[89]\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_CJK: Final = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号號일]")
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_PARTS: Final = re.compile(r"\s*[|•·]\s*|(?<=\.)\s+")
_NUMBER: Final = re.compile(r"\d+")
# Years that htmldate, which compares times without zones, may find in text; `parse_time` bounds what is stated.
_EARLIEST: Final = datetime(1980, 1, 1)
_LATEST: Final = datetime(2099, 12, 31)
# A time with a zone that `parse_time` could not read is wrong, and its day with it.
_ZONED: Final = re.compile(r"\d[T ]\d.*[+-]\d\d:?\d\d\s*$", re.S)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Longest text of a date and what stands beside it, such as a name or a place, in characters.
LONGEST_LINE: Final = 60


def stated_time(value: object) -> datetime | None:
    """A stated time in its own offset, also one written out (`March 5, 2024`); Unix time zero is unknown."""
    time = parse_time(value)
    if time is None and isinstance(value, str) and not _ZONED.search(value):
        time = written_date(value)
    return None if time == _EPOCH else time


def written_date(text: str) -> datetime | None:
    """The day that a line, or a part of it, names with its year: as htmldate reads it, or in CJK characters.

    A part is what bars, dots in the middle or full stops set apart, at most `LONGEST_LINE` characters.
    """
    text = " ".join(text.split())
    if not _YEAR.search(text):
        return None
    for part in (text, *parts_of(text)):
        time = _day(part) if len(part) <= LONGEST_LINE else None
        if time is not None:
            return time
    return None


def parts_of(line: str) -> list[str]:
    """What bars, dots in the middle or full stops, which stay, set apart in a line."""
    return _PARTS.split(line)


def _day(text: str) -> datetime | None:
    if match := _CJK.search(text):
        return parse_time("-".join(match.groups()))
    if len(_NUMBER.findall(text)) < 2 and not _JOINED.search(text):
        return None  # a year, or a month and its year: htmldate would take the first day
    # The dot keeps htmldate from its shortcut for texts that begin with a year, which fills gaps with today.
    return parse_time(try_date_expr(f"· {text}", "%Y-%m-%d", False, _EARLIEST, _LATEST))


def url_date(url: str) -> datetime | None:
    """The day in the path of an address."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    if match := _PARTED.search(path):
        year, _, month, day = match.groups()
        number = _MONTHS.index(month.lower()) + 1 if month.isalpha() else month
        return parse_time(f"{year}-{number}-{day}")
    digits = _JOINED.search(path)
    return parse_time("-".join(digits.groups())) if digits else None
