"""The audit's suites: what every table must satisfy, as Great Expectations suites.

Critical is what makes an index wrong or empties it: a fault of the program or of the input as a whole. It blocks
publication. What a corpus may well be like, or one hostile page can cause (a date in the year 9999, many
duplicates), is a warning. Thresholds come from `schemas.settings.AuditSettings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from quern.jobs.audit.custom_expectations import ExpectColumnValuesToBeKeysOf, ExpectTableColumnTypesToMatch
from quern.jobs.audit.gx import Expectation, ExpectationSuite, gxe
from quern.schemas.expectations import DERIVED, MEASURES, RECALL, SHARES, column_types
from quern.schemas.settings import AuditSettings
from quern.schemas.tables import TABLES, Table

WARNING = "warning"
CRITICAL = "critical"

# bf16 vectors have unit length within 1e-3 (two bytes of which 8 bits are mantissa, averaged over hundreds of numbers).
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Limits:
    """What suites are made with.

    Attributes:
        settings: Thresholds.
        as_of: When the audited build began; nothing can have been published a day later.
        before: Rows per table of the snapshot before; empty for a first build.
        measures: What jobs measured of their own results.
    """

    settings: AuditSettings
    as_of: datetime
    before: Mapping[str, int] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """An expectation that had nothing to compare with."""

    table: str
    name: str
    severity: str
    why: str


def suite_of(table: Table, limits: Limits, others: Mapping[str, Table]) -> ExpectationSuite:
    """The suite of `table`; references are to those of `others`."""
    name = table.name
    special = _OF_TABLE[name](limits) if name in _OF_TABLE else ()
    made = [*_contract(table), *special, *_row_counts(name, limits)]
    kept = [e for e in made if getattr(e, "target", name) in {name, *others}]
    return ExpectationSuite(name=name, expectations=[_named(name, e) for e in kept])


def shares_suite(jobs: Iterable[str], limits: Limits) -> ExpectationSuite:
    """The suite of the reject shares, a column per job: none may lose too much of its input."""
    most = limits.settings.max_reject_share
    made = [_between(job, 0, most, name=f"{job} rejected share") for job in jobs]
    return ExpectationSuite(name=SHARES, expectations=[_named(SHARES, e) for e in made])


def measures_suite(limits: Limits) -> ExpectationSuite:
    """The suite of what jobs measured of their own results."""
    made = [_between(RECALL, limits.settings.min_link_recall, 1)] if RECALL in limits.measures else []
    return ExpectationSuite(name=MEASURES, expectations=[_named(MEASURES, e) for e in made])


def skipped(tables: Sequence[str], limits: Limits) -> list[Skipped]:
    """What `suite_of` leaves out because there is no snapshot before, or none that has the table."""
    why = "no snapshot to compare with" if not limits.before else "the last snapshot has no such table"
    gone = [name for name in tables if name not in limits.before]
    found = [Skipped(name, f"{name} {_SINCE}", WARNING, why) for name in gone]
    return found + [Skipped("documents", _LOSS, CRITICAL, why) for name in gone if name == "documents"]


_SINCE = "rows since the last snapshot"
_LOSS = "documents lost since the last build"
_EMPTY_MAY_BE = frozenset(
    {"rejects", "events", "timelines", "triplets", "images", "sources", "nodes", "queries", "edges"}
)

_KINDS = {
    "expect_table_columns_to_match_ordered_list": "columns",
    "expect_table_column_types_to_match": "types",
    "expect_table_row_count_to_be_between": "rows",
    "expect_column_values_to_not_be_null": "not_null",
    "expect_column_values_to_be_unique": "unique_keys",
    "expect_compound_columns_to_be_unique": "unique_keys",
    "expect_column_values_to_be_keys_of": "references",
    "expect_column_values_to_be_between": "between",
    "expect_column_values_to_be_in_set": "in_set",
    "expect_column_pair_values_a_to_be_greater_than_b": "greater",
    "expect_column_pair_values_to_be_equal": "equal",
    "expect_column_proportion_of_non_null_values_to_be_between": "known_share",
    "expect_column_quantile_values_to_be_between": "quantiles",
}


def name_of(expectation: Any) -> str:
    """Name of an expectation (or of its configuration) in manifests and messages."""
    return str(expectation.meta["name"])


def _named(table: str, expectation: Expectation) -> Expectation:
    """`expectation` with a name such as `chunks.doc_id references documents`."""
    if not expectation.meta:
        column = getattr(expectation, "column", None) or getattr(expectation, "column_A", None)
        keys = expectation.expectation_type.endswith("unique")
        subject = f"{table}.{column}" if column and not keys else table
        kind = _KINDS[expectation.expectation_type]
        expectation.meta = {"name": f"{subject} {kind} {getattr(expectation, 'target', '')}".strip()}
    return expectation


def _contract(table: Table) -> Iterator[Expectation]:
    """Columns, types and keys, as `schemas.tables` declares them."""
    derived = [d.name for d in DERIVED.get(table.name, ())]
    yield gxe.ExpectTableColumnsToMatchOrderedList(column_list=[*table.schema.names, *derived])
    yield ExpectTableColumnTypesToMatch(column_types=column_types(table))
    yield from (gxe.ExpectColumnValuesToNotBeNull(column=c) for c in table.key)
    if table.name == "rejects":  # Several captures of one address may be left out for one reason.
        return
    if len(table.key) == 1:
        yield gxe.ExpectColumnValuesToBeUnique(column=table.key[0])
    else:
        yield gxe.ExpectCompoundColumnsToBeUnique(column_list=list(table.key))


def _row_counts(table: str, limits: Limits) -> Iterator[Expectation]:
    """That there are rows, and about as many as in the snapshot before."""
    if table not in _EMPTY_MAY_BE:
        yield _rows(1, None, f"{table} not_empty")
    elif table == "nodes":
        yield _rows(1, None, "nodes not_empty", WARNING)
    if table not in limits.before:
        return
    before, change = limits.before[table], limits.settings.max_row_change
    yield _rows(_least(before, change), _most(before, change), f"{table} {_SINCE}", WARNING)
    if table == "documents":
        yield _rows(_least(before, limits.settings.max_shrink), None, _LOSS)


def _least(rows: int, loss: float) -> int:
    return rows - int(rows * loss)


def _most(rows: int, change: float) -> int:
    # A table of a handful of rows may grow by a handful.
    return rows + max(int(rows * change), 100)


def _rows(least: int | None, most: int | None, name: str, severity: str = CRITICAL) -> Expectation:
    meta = {"name": name}
    return gxe.ExpectTableRowCountToBeBetween(min_value=least, max_value=most, severity=severity, meta=meta)


def _between(
    column: str, least: Any, most: Any, severity: str = CRITICAL, name: str = "", notes: str | None = None
) -> Expectation:
    meta = {"name": name} if name else None
    return gxe.ExpectColumnValuesToBeBetween(
        column=column, min_value=least, max_value=most, severity=severity, meta=meta, notes=notes
    )


def _known(column: str) -> Expectation:
    return gxe.ExpectColumnValuesToNotBeNull(column=column)


def _references(column: str, target: str) -> Expectation:
    return ExpectColumnValuesToBeKeysOf(column=column, target=target, target_column=TABLES[target].key[0])


def _date(column: str, limits: Limits) -> Expectation:
    earliest = datetime(limits.settings.earliest_year, 1, 1, tzinfo=UTC)
    return _between(column, earliest, limits.as_of + timedelta(days=1), WARNING)


def _unit(notes: str = "Cosines are computed as dot products.") -> Expectation:
    return _between("vector_norm", 1 - _TOLERANCE, 1 + _TOLERANCE, notes=notes)


def _similarity() -> Expectation:
    return _between("similarity", -1 - _TOLERANCE, 1 + _TOLERANCE)


def _one_of(column: str, *values: str) -> Expectation:
    return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(values))


def _pages(limits: Limits) -> Iterator[Expectation]:
    yield _known("body")
    yield _date("fetched_at", limits)
    yield _between("status", 100, 599, WARNING, notes="RFC 9110, section 15.")
    yield _between("warc_offset", 0, None)


def _documents(limits: Limits) -> Iterator[Expectation]:
    settings = limits.settings
    yield _known("page_url")
    yield _references("page_url", "pages")
    yield _known("text")
    yield _between("text_length", 1, None)
    yield gxe.ExpectColumnQuantileValuesToBeBetween(
        column="text_length",
        quantile_ranges={
            "quantiles": [0.5, 0.95],
            "value_ranges": [
                [settings.min_median_characters, settings.max_median_characters],
                [None, settings.max_p95_characters],
            ],
        },
        severity=WARNING,
    )
    yield _date("published_at", limits)
    yield _date("modified_at", limits)
    yield gxe.ExpectColumnProportionOfNonNullValuesToBeBetween(
        column="language", min_value=1 - settings.max_unknown_language, max_value=1, severity=WARNING
    )
    if settings.languages:
        yield gxe.ExpectColumnValuesToBeInSet(
            column="language",
            value_set=list(settings.languages),
            mostly=1 - settings.max_other_language,
            severity=WARNING,
        )
    yield _references("duplicate_of", "documents")
    yield gxe.ExpectColumnProportionOfNonNullValuesToBeBetween(
        column="duplicate_of",
        min_value=0,
        max_value=settings.max_duplicates,
        severity=WARNING,
        meta={"name": "documents.duplicate_of duplicates share"},
    )


def _chunks(_: Limits) -> Iterator[Expectation]:
    yield _known("doc_id")
    yield _references("doc_id", "documents")
    yield _known("text")
    yield _between("start", 0, None)
    yield gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A="end", column_B="start")
    yield gxe.ExpectColumnPairValuesToBeEqual(
        column_A="text_length",
        column_B="span_length",
        meta={"name": "chunks spans"},
        notes="The chunk's text is as long as its span of `documents.text`.",
    )
    yield _between("token_count", 1, None)
    yield _unit()


def _queries(_: Limits) -> Iterator[Expectation]:
    yield _known("chunk_id")
    yield _references("chunk_id", "chunks")
    yield _known("question")
    yield _similarity()


def _nodes(_: Limits) -> Iterator[Expectation]:
    yield _references("query_id", "queries")
    yield _known("chunk_id")
    yield _references("chunk_id", "chunks")
    yield _unit()


def _edges(_: Limits) -> Iterator[Expectation]:
    yield _references("source", "nodes")
    yield _known("target")
    yield _references("target", "nodes")
    yield _one_of("kind", "neighbour", "answer_question", "mention")
    yield _between("rank", 0, None)
    yield _similarity()


def _events(limits: Limits) -> Iterator[Expectation]:
    yield _references("chunk_id", "chunks")
    yield _date("date", limits)
    yield _one_of("precision", "year", "month", "day")
    yield _one_of("date_from", "text", "document")
    yield _unit()


def _triplets(_: Limits) -> Iterator[Expectation]:
    yield _references("chunk_id", "chunks")


def _images(_: Limits) -> Iterator[Expectation]:
    yield _references("doc_id", "documents")
    yield _between("width", 0, None, WARNING)
    yield _between("height", 0, None, WARNING)


def _sources(limits: Limits) -> Iterator[Expectation]:
    yield _between("documents", 1, None)
    yield _date("reachable_at", limits)


_OF_TABLE: Mapping[str, Callable[[Limits], Iterator[Any]]] = {
    "pages": _pages,
    "documents": _documents,
    "chunks": _chunks,
    "queries": _queries,
    "nodes": _nodes,
    "edges": _edges,
    "events": _events,
    "triplets": _triplets,
    "images": _images,
    "sources": _sources,
}
