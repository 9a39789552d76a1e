"""Documents that somebody gives as fields: which field says what, what is read of each, and what is kept beside."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from quern.jobs.text.plain_text import one_line, printable
from quern.jobs.text.written_times import Undecided, written_time
from quern.schemas.digests import text_digest
from quern.schemas.errors import RejectError
from quern.schemas.settings.documents import DOCUMENT_FIELDS
from quern.schemas.words.fields import split_names

_TIMES: Final = ("published_at", "modified_at")
_LISTS: Final = ("title", "author", "site_name")
"""Fields whose values may be lists: those that are for people to read."""
_WORDS: Final = tuple(name for name in DOCUMENT_FIELDS if name not in ("doc_id", "text", *_TIMES))
METADATA: Final = "metadata"
_OWN_ID: Final = "_id"  # Of BEIR, and of databases of documents.

MOST_METADATA: Final = 64
"""Fields of metadata that a document keeps; so many columns have tables that people make, and no bomb."""
_PARAGRAPH: Final = "\n\n"
_LONGEST_VALUE: Final = 1_000
# Seconds since 1970 of the year 5138; larger numbers are milliseconds, larger than those of that year micro-, nano-.
_MOST_SECONDS: Final = 100_000_000_000
# As a table of texts writes one: from 1973 on, so that no day like 20240501 is taken for one.
_EPOCH_TEXT: Final = re.compile(r"\d{9,19}(?:\.\d{1,9})?")
# Of numbers too: 45000 is a day of spreadsheets, 202405 a month, and 0 stands for no time.
_LEAST_SECONDS: Final = 100_000_000
_DAY_DIGITS: Final = (8, 12, 14)
"""Digits of a day without marks: 20240501, 202405011405, 20240501140500."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class UnfitDocumentError(RejectError):
    """Fields that make no document."""


@dataclass(frozen=True)
class Given:
    """A document as it was given."""

    # Those of `DOCUMENT_FIELDS` that it has, as strings, and `metadata`, strings by their names.
    fields: dict[str, Any]
    unread: list[tuple[str, str]] = field(default_factory=list)  # Reason and detail of each value that was left out.


def given_document(said: object, names: Mapping[str, str] | None = None, day_first: bool | None = None) -> Given:
    """The document of the fields `said`; a value that cannot be read is in `unread`, and kept as metadata.

    Where the text is there and empty, the title stands for it. `names` are those of the columns by the names of
    fields, several joined by `+`; `day_first` tells whether the day is before the month in 03/05/2024.

    Raises:
        UnfitDocumentError: It has no text, no id and no address to make one of, or is no object.
    """
    if not isinstance(said, Mapping):
        raise UnfitDocumentError("invalid_document", f"a document is an object, not a {type(said).__name__}")
    called = {known: known for known in DOCUMENT_FIELDS} | dict(names or {})
    if called["doc_id"] == "doc_id" and "doc_id" not in said and isinstance(said.get(_OWN_ID), str | int):
        called["doc_id"] = _OWN_ID
    columns = {name: columns_of(its, said) for name, its in called.items()}
    found = Given({})
    kept: dict[str, Any] = {}

    def keep(name: str, value: str | _Unread | None) -> None:
        if isinstance(value, _Unread):
            found.unread.append((value.reason, f"the document is kept without its {called[name]}, {value.detail}"))
            kept.update((column, value_of(said, column)) for column in columns[name])
        elif value is not None:
            found.fields[name] = value

    for name, its in columns.items():  # What cannot be joined is left out of what is.
        for column in its if len(its) > 1 else ():
            stated = value_of(said, column)
            if isinstance(value := _word(_paragraphs(stated) if name == "text" else _one(stated)), _Unread):
                found.unread.append((value.reason, f"{called[name]} is joined without {column}, {value.detail}"))
                kept[column] = stated
    for name in _WORDS:
        stated = _joined(said, columns[name])
        words = list(map(_word, stated)) if name in _LISTS and isinstance(stated, list) else []
        texts = [word for word in words if isinstance(word, str)]
        keep(name, ", ".join(texts) if texts and len(texts) == len(words) else _word(stated))
    for name in _TIMES:
        keep(name, _time(_joined(said, columns[name]), day_first, found.fields.get("language")))
    text = _text(said, called["text"], columns["text"], found.fields.get("title"))
    doc_id = _doc_id(_joined(said, columns["doc_id"]), called["doc_id"], said, found.fields.get("url"))
    found.fields.update(doc_id=doc_id, text=text)
    used = {column for its in columns.values() for column in its}
    left = kept | _without(said, used)
    if metadata := _metadata(left, found.unread):
        found.fields[METADATA] = metadata
    return found


def columns_of(called: str, there: Container[str]) -> tuple[str, ...]:
    """The columns that a field is called by: one, or those that `+` joins, where none of `there` is called so."""
    return (called,) if called in there else tuple(split_names(called))


def value_of(said: Mapping[str, Any], column: str) -> Any:
    """The value of a column, or of the path `document.body` where none is called so; on its way a list stands for all
    of its members.
    """
    head, dot, rest = column.partition(".")
    if column in said or not dot:
        return said.get(column)
    inner = said.get(head)
    if isinstance(inner, Mapping):
        return value_of(inner, rest)
    found: list[Any] = []
    for member in inner if isinstance(inner, list) else ():
        value = value_of(member, rest) if isinstance(member, Mapping) else None
        found += value if isinstance(value, list) else [] if value is None else [value]
    return found or None


def _without(said: Mapping[str, Any], used: Collection[str]) -> dict[str, Any]:
    """What is left of the fields without the columns or paths `used`."""
    left = {name: value for name, value in said.items() if name not in used}
    for column in used:
        head, dot, rest = column.partition(".")
        if dot and column not in said and head in left:
            inner = left[head]
            if isinstance(inner, Mapping):
                left[head] = _without(inner, [rest])
            elif isinstance(inner, list):
                each = (_without(member, [rest]) if isinstance(member, Mapping) else member for member in inner)
                left[head] = [member for member in each if member != {}]
    return left


def _joined(said: Mapping[str, Any], columns: Sequence[str], by: str = " ") -> Any:
    """The value of a field; of several columns those that say something, as one text."""
    whole = _paragraphs if by == _PARAGRAPH else _one
    values = [whole(value_of(said, column)) for column in columns]
    if len(values) == 1:
        return values[0]
    texts = (value if isinstance(value, str) else _word(value) for value in values)
    return by.join(text for text in texts if isinstance(text, str) and text.strip()) or None


def _one(value: Any) -> Any:
    """A value that a list has again and again, as the equal columns of two tables that were joined."""
    return value[0] if isinstance(value, list) and len(value) > 1 and all(v == value[0] for v in value) else value


def _paragraphs(value: Any) -> Any:
    """A list of texts as one text."""
    if not isinstance(value, list) or not all(one is None or isinstance(one, str) for one in value):
        return value
    return _PARAGRAPH.join(one for one in value if one and one.strip()) or None


def _text(said: Mapping[str, Any], called: str, columns: Sequence[str], title: str | None) -> str:
    """The text, or the title where the text is there and empty."""
    text = _joined(said, columns, _PARAGRAPH)
    there = any(column in said or value_of(said, column) is not None for column in columns)
    if there and title and (text is None or (isinstance(text, str) and not text.strip())):
        return title
    if text is None:
        empty = f"its {called} is empty, and it has no title that could stand for it"
        raise UnfitDocumentError("missing_field", empty if there else _missing("text", called, said))
    if not isinstance(text, str):
        raise UnfitDocumentError("wrong_type", f"{called} must be a string, not a {type(text).__name__}")
    return text


def _missing(name: str, called: str, said: Mapping[str, Any]) -> str:
    if called != name:
        return f"the document has no {called}, which --map names as its {name}"
    there = ", ".join([str(its) for its, value in said.items() if value is not None][:8]) or "nothing"
    return f"a document must have {name}; this one has {there}: name what holds it, like --map {name}=NAME"


def _doc_id(stated: Any, called: str, said: Mapping[str, Any], url: str | None) -> str:
    """The id: as given, whole numbers too; else made of the address, as that of a page is."""
    if _nothing(stated):
        if not url:
            raise UnfitDocumentError("missing_field", _missing("doc_id", called, said))
        return text_digest(url)[:20]
    # So pandas writes whole numbers of a column with gaps, and databases their keys.
    if (isinstance(stated, float) and stated.is_integer()) or (
        isinstance(stated, Decimal) and stated.is_finite() and stated == stated.to_integral_value()
    ):
        stated = int(stated)
    stated = str(stated) if isinstance(stated, UUID) else stated
    if isinstance(stated, bool) or not isinstance(stated, str | int):
        kind = type(stated).__name__
        raise UnfitDocumentError("wrong_type", f"{called} must be a string or a whole number, not a {kind}")
    doc_id = str(stated)
    if not doc_id.strip():
        raise UnfitDocumentError("bad_doc_id", "doc_id is empty")
    if printable(doc_id) != doc_id or "\n" in doc_id:
        raise UnfitDocumentError("bad_doc_id", "doc_id holds a control character or half of a surrogate pair")
    return doc_id


@dataclass(frozen=True)
class _Unread:
    reason: str
    detail: str


def _nothing(value: object) -> bool:
    """Whether a value says that there is none; so a table of pandas says it of numbers."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _word(value: object) -> str | _Unread | None:
    """A short text: a string, or a number or truth value as one."""
    if _nothing(value):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float | Decimal | date | time | timedelta | UUID):
        return one_line(str(value)) or None
    return _Unread("bad_value", f"which is a {type(value).__name__}")


def _time(value: object, day_first: bool | None, language: str | None) -> str | _Unread | None:
    """A time in ISO 8601: of a text, a time, or a number of seconds, milli-, micro- or nanoseconds since 1970."""
    if _nothing(value) or (isinstance(value, str) and not value.strip()):
        return None
    stated: object = value.isoformat() if isinstance(value, date) else value
    if isinstance(stated, str) and _EPOCH_TEXT.fullmatch(stated.strip()):
        stated = float(stated)
    if isinstance(stated, int | float | Decimal) and not isinstance(stated, bool):
        stated = _since_1970(stated)
    time = written_time(stated, day_first, language) if isinstance(stated, str) else None
    shown = repr(value[:80] if isinstance(value, str) else value)[:80]
    if isinstance(time, Undecided):
        how = "--day-first or --month-first (ingest.day_first) tells which"
        return _Unread("ambiguous_date", f"{shown}, in which day and month may be exchanged: {how}")
    return time.isoformat() if time else _Unread("bad_date", f"{shown}, which is no date")


def _since_1970(number: float | Decimal) -> str:
    """A number of seconds or parts of them since 1970 as a time, or a day such as 20240501; else empty."""
    try:
        seconds = float(number)
        if seconds.is_integer():
            digits = str(int(seconds))
            if len(digits) in _DAY_DIGITS and written_time(digits):
                return digits
        if 0 <= seconds < _LEAST_SECONDS:
            return ""
        for _ in range(3):
            if abs(seconds) > _MOST_SECONDS:
                seconds /= 1000
        return (_EPOCH + timedelta(seconds=seconds)).isoformat()
    except (OverflowError, ValueError):
        return ""


def _metadata(left: Mapping[str, Any], unread: list[tuple[str, str]]) -> dict[str, str]:
    """Other fields as texts by their names; `metadata` that is an object itself is taken for its members."""
    kept: dict[str, str] = {}
    lost = 0
    entries: list[tuple[str, Any]] = []
    for name, value in left.items():
        entries += value.items() if name == METADATA and isinstance(value, Mapping) else [(name, value)]
    for name, value in entries:
        text: str | _Unread | None
        try:
            if isinstance(value, Mapping | list | tuple):  # What has members is kept as JSON.
                text = printable(json.dumps(value, ensure_ascii=False, default=str)) if value else None
            else:
                text = _word(value)
        except RecursionError:  # JSON that could just be read, from a place that is less deep.
            text, lost = None, lost + 1
        if not isinstance(text, str):
            continue
        name = one_line(str(name)) or ""
        if len(kept) == MOST_METADATA or not name or len(name) > 100:
            lost += 1
            continue
        if len(text) > _LONGEST_VALUE:
            unread.append(("cut_metadata", f"{name} is kept to its first {_LONGEST_VALUE:,} characters"))
        kept[name] = text[:_LONGEST_VALUE]
    if lost:
        why = f"{lost} fields beyond {MOST_METADATA}, nested too deep or with names too long are left out"
        unread.append(("cut_metadata", why))
    return dict(sorted(kept.items()))
