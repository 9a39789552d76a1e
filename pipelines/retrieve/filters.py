"""Filters: conditions on the columns of documents and chunks that a chunk must meet to be ranked at all.

A condition is `COLUMN OPERATOR VALUE`: `site=tidewiki.example`, `published_at>=2024-05-01`, `language!=en`,
`token_count<100`, `language in (de, fr)`, `title contains tide`; `and` joins several. The value is read by the type of
the column; nothing is evaluated. A value may stand in quotes, single or double, that it doubles where it has them
itself. `known_at` is the later of `published_at` and `modified_at`: what a page said before it was modified is not in
the snapshot. `metadata.NAME` is what was given of a document under another name (`metadata.grade>=3`): a text
(`metadata.zip=0123` is not 123), of which only the order is that of numbers where both are numbers. A name that has an
operator in it stands in double quotes (`metadata."a=b">=3`).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog.folder import Snapshot
from quern.indexes.keys import positions_in
from quern.indexes.vectors import Positions
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question
from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.errors import QuernError
from quern.schemas.tables import CHUNKS, DOCUMENTS, Table
from quern.schemas.words.lines import shortened
from quern.schemas.words.meant import no_such

Mask = npt.NDArray[np.bool_]

# The value of `in` is a list, and that of a sign begins with none: a name may hold these words.
_BEGINS: Final = re.compile(
    r"(?P<column>metadata\.(?:\"[^\"]+\"|[^<>=!]+?)|\w[^<>=!]*?)"
    r"(?:\s*(?P<sign>>=|<=|!=|==|=|<|>)|\s+(?P<word>in(?=\s*\()|contains(?=\s+[^\s<>=!])))\s*",
    re.IGNORECASE,
)
_QUOTED: Final = r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'"
_ITEM: Final = re.compile(rf"\s*({_QUOTED}|[^\s,()\"'][^,()]*)")
_OPERANDS: Final = {True: re.compile(rf"\((?:{_ITEM.pattern}\s*(?:,(?!\s*\))|(?=\))))+\)"), False: re.compile(_QUOTED)}
_JOINED: Final = re.compile(r"\s+(and|or)\s+", re.IGNORECASE)
_SHOWN: Final = 80  # Characters of a condition in a message.
_MOST_CHARACTERS: Final = 1000  # Of a condition: an address has less, and more is no condition but pasted text.
MOST_MASKS: Final = 256  # Held for the next batches: as many as a batch has questions, each of one bit a chunk.
KNOWN_AT: Final = "known_at"
METADATA: Final = "metadata"
_KNOWN_BY: Final = ("published_at", "modified_at")
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


class FilterError(QuernError):
    """A condition that cannot be read; the message says what is wrong with it and what there is."""


@dataclass(frozen=True)
class Condition:
    """A condition on one column."""

    table: str  # `documents` or `chunks`.
    column: str  # Name of the column.
    operator: str  # One of `=`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `contains`.
    # The value twice, or the first and the last moment of a date: `=2024-05` is all of May. `in` has several.
    ranges: tuple[tuple[object, object], ...]

    def holds(self, values: pa.Array) -> Mask:
        """Which of the values meet it; what is missing meets no condition."""
        if self.operator == "in":
            equal = [replace(self, operator="=", ranges=(one,)).holds(values) for one in self.ranges]
            either: Mask = np.logical_or.reduce(equal)
            return either
        low, high = (pa.scalar(v, values.type) for v in self.ranges[0])
        if self.operator == "contains":
            met = pc.match_substring(values, low.as_py(), ignore_case=True)
        elif self.operator in ("=", "!="):
            met = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
            met = met if self.operator == "=" else pc.invert(met)
        else:
            compare = {">=": pc.greater_equal, "<=": pc.less_equal, ">": pc.greater, "<": pc.less}[self.operator]
            met = compare(values, high if self.operator in ("<=", ">") else low)
        return np.asarray(pc.fill_null(met, False).to_numpy(zero_copy_only=False))


def conditions_in(text: str) -> tuple[Condition, ...]:
    """The conditions that `text` states, all of which must hold.

    Raises:
        FilterError: One is not of the form, names no column, or its value is not of the column's type.
    """
    if len(text) > _MOST_CHARACTERS:
        start = shortened(text[:_MOST_CHARACTERS], 60)
        raise FilterError(f"the filter {start!r} has {len(text):,} characters, more than {_MOST_CHARACTERS:,}")
    conditions: list[Condition] = []
    rest = text.strip()
    while rest or not conditions:
        begins = _BEGINS.match(rest)
        if begins is None:
            raise FilterError(
                f"the filter {text!r} is not COLUMN OPERATOR VALUE, such as site=example.org, {_EXAMPLE}, "
                "language in (de, fr) or title contains tide"
            )
        operator = (begins["sign"] or begins["word"]).lower()
        operator = "=" if operator == "==" else operator
        values, rest = _operand(text, operator, rest[begins.end() :])
        conditions.append(_condition(text, begins["column"].strip(), operator, values))
    return tuple(conditions)


def _operand(text: str, operator: str, rest: str) -> tuple[list[str], str]:
    """The values at the start of `rest`, and the conditions after them.

    Raises:
        FilterError: They cannot be read.
    """
    listed = operator == "in"
    if listed or rest.startswith(('"', "'")):
        match = _OPERANDS[listed].match(rest)
        if match is None:
            form = "a list such as (de, fr)" if listed else "closed; a quote within is doubled"
            raise FilterError(f"the filter {text!r}: the value {rest!r} is not {form}")
        after = rest[match.end() :]
        joined = _JOINED.match(after)
        if after.strip() and (joined is None or joined[1].lower() == "or"):
            raise FilterError(f"the filter {text!r}: {after.strip()!r} after the value is not `and` with a condition")
        items = _ITEM.findall(match[0][1:-1]) if listed else [match[0]]
        values = [i[1:-1].replace(i[0] * 2, i[0]) if i[0] in "\"'" else i.strip() for i in items]
        return values, after[joined.end() :] if joined else ""
    if rest.startswith(("=", "<", ">", "!")):
        raise FilterError(f"the filter {text!r}: the value {rest!r} begins with an operator; put it in quotes")
    for joined in _JOINED.finditer(rest):  # `Salt and Pepper` is a value.
        if _BEGINS.match(rest, joined.end()):
            if joined[1].lower() == "or":
                raise FilterError(f"the filter {text!r}: `or` is not understood; say COLUMN in (ONE, OTHER)")
            return [rest[: joined.start()].strip()], rest[joined.end() :]
    return [rest], ""


def _condition(text: str, name: str, operator: str, values: Sequence[str]) -> Condition:
    """The condition on the column `name`; `text` is for messages."""
    if name.startswith(f"{METADATA}."):
        field = name.removeprefix(f"{METADATA}.").strip()
        field = field[1:-1] if field.startswith('"') and field.endswith('"') else field
        number = _number(values[0]) if operator[0] in "<>" else None
        same = tuple((value, value) for value in (values if number is None else [number]))
        return Condition(DOCUMENTS.name, f"{METADATA}.{field}", operator, same)
    tables = [table for table in (DOCUMENTS, CHUNKS) if name in _columns(table)]
    if name != KNOWN_AT and not tables:
        columns = sorted({KNOWN_AT, *_columns(DOCUMENTS), *_columns(CHUNKS), f"{METADATA}.NAME"})
        raise FilterError(f"the filter {text!r}: {no_such('column of documents or chunks', name, columns)}")
    table = tables[0] if tables else DOCUMENTS
    kind = TIMESTAMP if name == KNOWN_AT else table.schema.field(name).type
    if operator == "contains" and not pa.types.is_string(kind):
        raise FilterError(
            f"the filter {text!r}: `contains` is for texts, and {name} is a column of type {_named(kind)}"
        )
    ranges = []
    for value in values:
        first_and_last: tuple[object, object] = (value, value)
        try:
            if pa.types.is_timestamp(kind):
                first_and_last = _moments(value)
            elif pa.types.is_integer(kind):
                first_and_last = (int(value),) * 2
            for each in first_and_last:  # A value that the column cannot hold fails here, not within a batch.
                pa.scalar(each, kind)
        except (ValueError, OverflowError):
            raise FilterError(f"the filter {text!r} compares {value!r} with a column of type {_named(kind)}") from None
        ranges.append(first_and_last)
    return Condition(table.name, name, operator, tuple(ranges))


_EXAMPLE: Final = "published_at>=2024-05-01"


def known_by(day: date | None) -> list[str]:
    """The conditions that evidence meets as of `day`: it was published, and not modified after it."""
    return [] if day is None else [f"{KNOWN_AT}<={day.isoformat()}"]


def conditions_of(question: Question) -> list[str]:
    """The conditions that what is found for a question meets, by its own fields."""
    return [*question.where, *known_by(question.as_of)]


def _columns(table: Table) -> list[str]:
    """The columns that a condition can be about."""
    return [f.name for f in table.schema if f.name not in table.hidden and not pa.types.is_nested(f.type)]


def _named(kind: pa.DataType) -> str:
    return "date (2024, 2024-05, 2024-05-01, 2024-05-01T12:00)" if pa.types.is_timestamp(kind) else str(kind)


def _moments(value: str) -> tuple[datetime, datetime]:
    """The first and last moment of a year, month or day; of a time, that time twice. UTC where no zone is given."""
    partial = _DATE.fullmatch(value)
    if partial is None:
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return moment, moment
    year, month, day = (int(part) if part else None for part in partial.groups())
    first = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    last = first.replace(month=month or 12)
    last = last.replace(day=day or monthrange(last.year, last.month)[1])
    return first, datetime.combine(last, time.max, UTC)


@dataclass(frozen=True)
class Allowed:
    """Which chunks may be found for each question."""

    masks: Mask  # One row for each different filter, shape (filters, chunks).
    of_question: Positions  # Which filter each question has, shape (questions,).

    def each(self) -> list[tuple[Positions, Mask]]:
        """The questions of each filter, and the chunks that it lets through."""
        return [(np.flatnonzero(self.of_question == n), mask) for n, mask in enumerate(self.masks)]


def allowed(searcher: Searcher, filters: Sequence[Sequence[str]]) -> Allowed | None:
    """Which chunks may be found for each question; None where all may.

    Args:
        searcher: The snapshot.
        filters: The conditions of each question, all of which a chunk must meet.

    Raises:
        FilterError: A condition cannot be read.
    """
    if not any(filters):
        return None
    keys = [tuple(sorted(set(f))) for f in filters]
    number: dict[tuple[str, ...], int] = {}
    of_question = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
    held = searcher.held(Masks)
    return Allowed(np.stack([held.of(key) for key in number]), of_question)


class Masks:
    """The masks of the filters that were asked for last, for the next batches."""

    def __init__(self, searcher: Searcher) -> None:
        self._snapshot, self._members = searcher.snapshot, searcher.graph.members
        self.packed = lru_cache(MOST_MASKS)(self._packed)

    def of(self, conditions: tuple[str, ...]) -> Mask:
        """The chunks that meet all conditions, shape (chunks,)."""
        return np.unpackbits(self.packed(conditions), count=len(self._members.chunks)).astype(np.bool_)

    def _packed(self, conditions: tuple[str, ...]) -> npt.NDArray[np.uint8]:
        members = self._members
        mask = np.ones(len(members.chunks), dtype=np.bool_)
        for each in (each for text in conditions for each in conditions_in(text)):
            documents = each.table == DOCUMENTS.name
            keys = members.documents.keys if documents else members.chunks
            met = np.zeros(len(keys), dtype=np.bool_)
            for ids, holds in met_by(self._snapshot, each):
                at = positions_in(keys, ids)
                met[at[at >= 0]] = holds[at >= 0]
            mask &= met[members.documents.of_chunk] if documents else met
        return np.packbits(mask)


def met_by(snapshot: Snapshot, each: Condition) -> Iterator[tuple[pa.Array, Mask]]:
    """Keys of the rows of the condition's table, and which of them meet it."""
    key = "doc_id" if each.table == DOCUMENTS.name else "chunk_id"
    group, _, name = each.column.partition(".")
    columns = _KNOWN_BY if each.column == KNOWN_AT else (group,)
    for batch in snapshot.table(each.table).batches(list(dict.fromkeys([key, *columns]))):
        values = batch.column(columns[0])
        for other in map(batch.column, columns[1:]):  # The later of two moments, or the one that is known.
            later = pc.fill_null(pc.greater(values, other), pc.is_valid(values))
            values = pc.if_else(later, values, other)
        if name:
            values = pc.map_lookup(values, pa.scalar(name), "first")
            if isinstance(each.ranges[0][0], float):  # Only what is a number is compared with one.
                values = pa.array(map(_number, values.to_pylist()), pa.float64())
        yield batch.column(key), each.holds(values)


def _number(text: str | None) -> float | None:
    """The number that a text states; None where it states none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def check_columns(searcher: Searcher, conditions: Sequence[str]) -> None:
    """Refuse conditions on columns that do not exist, and on metadata that no document of the snapshot has.

    Raises:
        FilterError: One is; the message names what is most like it, or all that there are.
    """
    for text in conditions:
        for column in (each.column for each in conditions_in(text)):
            name = column.removeprefix(f"{METADATA}.")
            if name != column and name not in (there := searcher.held(_metadata_names)):
                raise FilterError(no_such("metadata", name, there) if there else "no document has metadata")


def _metadata_names(searcher: Searcher) -> list[str]:
    """Names of the metadata that documents have."""
    column = searcher.snapshot.table(DOCUMENTS.name).batches([METADATA])
    return sorted(set[str]().union(*(batch.column(0).keys.unique().to_pylist() for batch in column)))


def documents_that_meet(snapshot: Snapshot, conditions: Sequence[str]) -> list[str]:
    """Ids of the documents, duplicates among them, that meet all conditions.

    Raises:
        FilterError: A condition cannot be read, or is about chunks.
    """
    met: set[str] | None = None
    for each in (each for text in conditions for each in conditions_in(text)):
        if each.table != DOCUMENTS.name:
            raise FilterError(
                f"the filter on {each.column} is about chunks; documents are chosen by columns of documents"
            )
        ids = {i for keys, holds in met_by(snapshot, each) for i in keys.filter(pa.array(holds)).to_pylist()}
        met = ids if met is None else met & ids
    return sorted(met or ())


def nothing_passes(searcher: Searcher, conditions: Sequence[str]) -> str | None:
    """Why nothing was found where no document passes the conditions, as a sentence; None where one does."""
    if not conditions or (together := allowed(searcher, [conditions])) is None or together.masks.any():
        return None
    alone = allowed(searcher, [[one] for one in conditions])
    unmet = [c for c, n in zip(conditions, alone.of_question, strict=True) if not alone.masks[n].any()] if alone else []
    if not unmet:
        return f"No document passes all filters together: {', '.join(shortened(c, _SHOWN) for c in conditions)}."
    return f"No document passes the filter {shortened(unmet[0], _SHOWN)}."
