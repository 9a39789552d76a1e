"""Documents that somebody gives as fields: which field says what, what is read of each, and what is kept beside."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from quern.jobs.text.plain_text import YEARS, one_line, parse_time, printable
from quern.schemas.digests import text_digest
from quern.schemas.settings.build.ingest import DOCUMENT_FIELDS

_TIMES: Final = ("published_at", "modified_at")
_WORDS: Final = tuple(name for name in DOCUMENT_FIELDS if name not in ("doc_id", "text", *_TIMES))
METADATA: Final = "metadata"

MOST_METADATA: Final = 64
"""Fields of metadata that a document keeps; so many columns have tables that people make, and no bomb."""
_LONGEST_NAME: Final = 100
_LONGEST_VALUE: Final = 1_000
_ID_DIGITS: Final = 20
# Seconds since 1970 of the year 5138; larger numbers are milliseconds, larger than those of that year micro-, nano-.
_MOST_SECONDS: Final = 100_000_000_000
# As a table of texts writes one: from 1973 on, so that no day like 20240501 is taken for one.
_EPOCH_TEXT: Final = re.compile(r"\d{9,19}(?:\.\d{1,9})?")
_DAY_DIGITS: Final = 8
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class UnfitDocumentError(ValueError):
    """Fields that make no document.

    Attributes:
        reason: Code of the reject.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True)
class Given:
    """A document as it was given.

    Attributes:
        fields: Those of `DOCUMENT_FIELDS` that it has, as strings, and `metadata`, strings by their names.
        unread: Reason and detail of each value that was left out.
    """

    fields: dict[str, Any]
    unread: list[tuple[str, str]] = field(default_factory=list)


def given_document(said: object, names: Mapping[str, str] | None = None) -> Given:
    """The document of the fields `said`; a value that cannot be read is left out and told.

    Args:
        said: An object of JSON, or a row of a table.
        names: What the fields are called there, by their names here.

    Raises:
        UnfitDocumentError: It has no text, no id and no address to make one of, or is no object.
    """
    if not isinstance(said, Mapping):
        raise UnfitDocumentError("invalid_document", f"a document is an object, not a {type(said).__name__}")
    called = {known: known for known in DOCUMENT_FIELDS} | dict(names or {})
    found = Given({})
    text = said.get(called["text"])
    if text is None:
        raise UnfitDocumentError("missing_field", _missing("text", called["text"], said))
    if not isinstance(text, str):
        raise UnfitDocumentError("wrong_type", f"{called['text']} must be a string, not a {type(text).__name__}")
    for name in _WORDS:
        _keep(found, name, called[name], _word(said.get(called[name])))
    for name in _TIMES:
        _keep(found, name, called[name], _time(said.get(called[name])))
    found.fields.update(doc_id=_doc_id(said, called, found.fields.get("url")), text=text)
    left = {name: value for name, value in said.items() if name not in called.values()}
    if metadata := _metadata(left, found.unread):
        found.fields[METADATA] = metadata
    return found


def _missing(name: str, called: str, said: Mapping[str, Any]) -> str:
    if called != name:
        return f"the document has no {called}, which --map names as its {name}"
    there = ", ".join(map(str, list(said)[:8])) or "nothing"
    return f"a document must have {name}; this one has {there}: name what holds it, like --map {name}=NAME"


def _doc_id(said: Mapping[str, Any], called: Mapping[str, str], url: str | None) -> str:
    """The id: as given, whole numbers too; else made of the address, as that of a page is.

    Raises:
        UnfitDocumentError: It has neither, or the id is none.
    """
    stated = said.get(called["doc_id"])
    if _nothing(stated):
        if not url:
            raise UnfitDocumentError("missing_field", _missing("doc_id", called["doc_id"], said))
        return text_digest(url)[:_ID_DIGITS]
    # So pandas writes whole numbers of a column with gaps, and databases their keys.
    if (isinstance(stated, float) and stated.is_integer()) or (isinstance(stated, Decimal) and _whole(stated)):
        stated = int(stated)
    if isinstance(stated, bool) or not isinstance(stated, str | int):
        kind = type(stated).__name__
        raise UnfitDocumentError("wrong_type", f"{called['doc_id']} must be a string or a whole number, not a {kind}")
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


def _keep(found: Given, name: str, called: str, value: str | _Unread | None) -> None:
    if isinstance(value, _Unread):
        found.unread.append((value.reason, f"the document is kept without its {called}, {value.detail}"))
    elif value is not None:
        found.fields[name] = value


def _nothing(value: object) -> bool:
    """Whether a value says that there is none; so a table of pandas says it of numbers."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _whole(number: Decimal) -> bool:
    return number.is_finite() and number == number.to_integral_value()


def _word(value: object) -> str | _Unread | None:
    """A short text: a string, or a number or truth value as one."""
    if _nothing(value):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float | Decimal | date | time | timedelta):
        return one_line(str(value)) or None
    return _Unread("bad_value", f"which is a {type(value).__name__}")


def _time(value: object) -> str | _Unread | None:
    """A time in ISO 8601: of a text, a time, or a number of seconds, milli-, micro- or nanoseconds since 1970."""
    if _nothing(value) or (isinstance(value, str) and not value.strip()):
        return None
    stated: object = value.isoformat() if isinstance(value, date) else value
    if isinstance(stated, str) and _EPOCH_TEXT.fullmatch(stated.strip()):
        stated = float(stated)
    if isinstance(stated, int | float | Decimal) and not isinstance(stated, bool):
        stated = _since_1970(stated)
    time = parse_time(stated)
    return time.isoformat() if time else _Unread("bad_date", f"{str(value)[:80]!r}, which is no date")


def _since_1970(number: float | Decimal) -> str:
    """A number of seconds or parts of them since 1970 as a time; empty where it is none of a calendar.

    Tables have days as numbers too, 20240501, which would be seconds of August 1970; and years, which are no day.
    """
    try:
        seconds = float(number)
        if seconds.is_integer():
            digits = str(int(seconds))
            if len(digits) == _DAY_DIGITS and parse_time(digits):
                return digits
            if int(seconds) in YEARS:
                return ""
        for _ in range(3):
            if abs(seconds) > _MOST_SECONDS:
                seconds /= 1000
        return (_EPOCH + timedelta(seconds=seconds)).isoformat()
    except (OverflowError, ValueError):
        return ""


def _metadata(left: Mapping[str, Any], unread: list[tuple[str, str]]) -> dict[str, str]:
    """What is told beside, as texts by their names; `metadata` that is an object itself is taken for its members."""
    kept: dict[str, str] = {}
    lost = 0
    for name, value in _members(left):
        try:
            text = _value(value)
        except RecursionError:  # JSON that could just be read, from a place that is less deep.
            text, lost = None, lost + 1
        if text is None:
            continue
        name = one_line(str(name)) or ""
        if len(kept) == MOST_METADATA or not name or len(name) > _LONGEST_NAME:
            lost += 1
            continue
        if len(text) > _LONGEST_VALUE:
            unread.append(("cut_metadata", f"{name} is kept to its first {_LONGEST_VALUE:,} characters"))
        kept[name] = text[:_LONGEST_VALUE]
    if lost:
        why = f"{lost} fields beyond {MOST_METADATA}, nested too deep or with names too long are left out"
        unread.append(("cut_metadata", why))
    return dict(sorted(kept.items()))


def _members(left: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in left.items():
        if name == METADATA and isinstance(value, Mapping):
            yield from value.items()
        else:
            yield name, value


def _value(value: object) -> str | None:
    """A value as text: what has members as JSON."""
    if isinstance(value, bytes):
        return None
    if isinstance(value, Mapping | list | tuple):
        return printable(json.dumps(value, ensure_ascii=False, default=str)) if value else None
    word = _word(value)
    return word if isinstance(word, str) else None
