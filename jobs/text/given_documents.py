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
    labels = {known: known for known in DOCUMENT_FIELDS} | dict(names or {})
    if labels["doc_id"] == "doc_id" and "doc_id" not in said and isinstance(said.get(_OWN_ID), str | int):
        labels["doc_id"] = _OWN_ID
    columns = {name: columns_of(its, said) for name, its in labels.items()}
    document = Given({})
    extra: dict[str, Any] = {}

    def keep(name: str, value: str | _Unread | None) -> None:
        if isinstance(value, _Unread):
            document.unread.append((value.reason, f"the document is kept without its {labels[name]}, {value.detail}"))
            extra.update((column, value_of(said, column)) for column in columns[name])
        elif value is not None:
            document.fields[name] = value

    for name, its in columns.items():  # What cannot be joined is left out of what is.
        for column in its if len(its) > 1 else ():
            raw = value_of(said, column)
            if isinstance(value := _word(_paragraphs(raw) if name == "text" else _one(raw)), _Unread):
                document.unread.append((value.reason, f"{labels[name]} is joined without {column}, {value.detail}"))
                extra[column] = raw
    for name in _WORDS:
        raw = _joined(said, columns[name])
        words = list(map(_word, raw)) if name in _LISTS and isinstance(raw, list) else []
        texts = [word for word in words if isinstance(word, str)]
        keep(name, ", ".join(texts) if texts and len(texts) == len(words) else _word(raw))
    for name in _TIMES:
        keep(name, _time(_joined(said, columns[name]), day_first, document.fields.get("language")))
    text = _text(said, labels["text"], columns["text"], document.fields.get("title"))
    doc_id = _doc_id(_joined(said, columns["doc_id"]), labels["doc_id"], said, document.fields.get("url"))
    document.fields.update(doc_id=doc_id, text=text)
    used_columns = {column for its in columns.values() for column in its}
    rest = extra | _without(said, used_columns)
    if metadata := _metadata(rest, document.unread):
        document.fields[METADATA] = metadata
    return document


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
    values: list[Any] = []
    for member in inner if isinstance(inner, list) else ():
        value = value_of(member, rest) if isinstance(member, Mapping) else None
        values += value if isinstance(value, list) else [] if value is None else [value]
    return values or None


def _without(fields: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    """The fields without the columns or paths `columns`."""
    others = {name: value for name, value in fields.items() if name not in columns}
    for column in columns:
        head, dot, rest = column.partition(".")
        if dot and column not in fields and head in others:
            inner = others[head]
            if isinstance(inner, Mapping):
                others[head] = _without(inner, [rest])
            elif isinstance(inner, list):
                each = (_without(member, [rest]) if isinstance(member, Mapping) else member for member in inner)
                others[head] = [member for member in each if member != {}]
    return others


def _joined(fields: Mapping[str, Any], columns: Sequence[str], by: str = " ") -> Any:
    """The value of a field; of several columns those that say something, as one text."""
    whole = _paragraphs if by == _PARAGRAPH else _one
    values = [whole(value_of(fields, column)) for column in columns]
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


def _text(fields: Mapping[str, Any], label: str, columns: Sequence[str], title: str | None) -> str:
    """The text, or the title where the text is there and empty."""
    text = _joined(fields, columns, _PARAGRAPH)
    there = any(column in fields or value_of(fields, column) is not None for column in columns)
    if there and title and (text is None or (isinstance(text, str) and not text.strip())):
        return title
    if text is None:
        empty = f"its {label} is empty, and it has no title that could stand for it"
        raise UnfitDocumentError("missing_field", empty if there else _missing("text", label, fields))
    if not isinstance(text, str):
        raise UnfitDocumentError("wrong_type", f"{label} must be a string, not a {type(text).__name__}")
    return text


def _missing(name: str, label: str, fields: Mapping[str, Any]) -> str:
    if label != name:
        return f"the document has no {label}, which --map names as its {name}"
    there = ", ".join([str(its) for its, value in fields.items() if value is not None][:8]) or "nothing"
    return f"a document must have {name}; this one has {there}: name what holds it, like --map {name}=NAME"


def _doc_id(value: Any, label: str, fields: Mapping[str, Any], url: str | None) -> str:
    """The id: as given, whole numbers too; else made of the address, as that of a page is."""
    if _nothing(value):
        if not url:
            raise UnfitDocumentError("missing_field", _missing("doc_id", label, fields))
        return text_digest(url)[:20]
    # So pandas writes whole numbers of a column with gaps, and databases their keys.
    if (isinstance(value, float) and value.is_integer()) or (
        isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value()
    ):
        value = int(value)
    value = str(value) if isinstance(value, UUID) else value
    if isinstance(value, bool) or not isinstance(value, str | int):
        kind = type(value).__name__
        raise UnfitDocumentError("wrong_type", f"{label} must be a string or a whole number, not a {kind}")
    doc_id = str(value)
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
    raw: object = value.isoformat() if isinstance(value, date) else value
    if isinstance(raw, str) and _EPOCH_TEXT.fullmatch(raw.strip()):
        raw = float(raw)
    if isinstance(raw, int | float | Decimal) and not isinstance(raw, bool):
        raw = _since_1970(raw)
    time = written_time(raw, day_first, language) if isinstance(raw, str) else None
    quote = repr(value[:80] if isinstance(value, str) else value)[:80]
    if isinstance(time, Undecided):
        how = "--day-first or --month-first (ingest.day_first) tells which"
        return _Unread("ambiguous_date", f"{quote}, in which day and month may be exchanged: {how}")
    return time.isoformat() if time else _Unread("bad_date", f"{quote}, which is no date")


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


def _metadata(fields: Mapping[str, Any], unread: list[tuple[str, str]]) -> dict[str, str]:
    """Other fields as texts by their names; `metadata` that is an object itself is taken for its members."""
    metadata: dict[str, str] = {}
    lost = 0
    entries: list[tuple[str, Any]] = []
    for name, value in fields.items():
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
        if len(metadata) == MOST_METADATA or not name or len(name) > 100:
            lost += 1
            continue
        if len(text) > _LONGEST_VALUE:
            unread.append(("cut_metadata", f"{name} is kept to its first {_LONGEST_VALUE:,} characters"))
        metadata[name] = text[:_LONGEST_VALUE]
    if lost:
        why = f"{lost} fields beyond {MOST_METADATA}, nested too deep or with names too long are left out"
        unread.append(("cut_metadata", why))
    return dict(sorted(metadata.items()))
