"""The audit's suites: what tables declare of themselves, as Great Expectations suites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quern.jobs.audit.custom_expectations import ExpectColumnValuesToBeKeysOf, ExpectTableColumnTypesToMatch
from quern.jobs.audit.gx import ExpectationSuite, gxe
from quern.schemas.contract import expectations as ours
from quern.schemas.contract.expectations import MEASURES, RECALL, SHARES, Expectation, Limits, RowCount
from quern.schemas.contract.table import Table

_SMALL = 100
"""Rows by which a table of any size may grow in a night: one of a handful may grow by a handful."""


@dataclass(frozen=True)
class Skipped:
    """An expectation that had nothing to compare with."""

    table: str
    name: str
    severity: str
    why: str


def suite_of(table: Table, limits: Limits, others: Mapping[str, Table]) -> ExpectationSuite:
    """The suite of `table`; references are to those of `others`."""
    keys = {name: other.key[0] for name, other in {**others, table.name: table}.items()}
    expected = [*_contract(table), *table.expectations(limits), *_row_counts(table, limits)]
    kept = [e for e in expected if not isinstance(e, ours.References) or e.target in keys]
    return _suite(table.name, kept, keys)


def shares_suite(jobs: Iterable[str], limits: Limits) -> ExpectationSuite:
    """The suite of the reject shares, a column per job: none may lose too much of its input."""
    most = limits.settings.max_reject_share
    return _suite(SHARES, [ours.Between(job, 0, most, title=f"{job} rejected share") for job in jobs])


def measures_suite(limits: Limits) -> ExpectationSuite:
    """The suite of what jobs measured of their own results."""
    least = limits.settings.min_link_recall
    return _suite(MEASURES, [ours.Between(RECALL, least, 1)] if RECALL in limits.measures else [])


def skipped(tables: Iterable[Table], limits: Limits) -> list[Skipped]:
    """What `suite_of` leaves out because there is no snapshot before, or none that has the table."""
    why = "the last snapshot has no such table" if limits.before else "no snapshot to compare with"
    new = [table for table in tables if table.name not in limits.before]
    left = [(table.name, _since_before(table, 0, limits)) for table in new]
    return [Skipped(name, e.name(name), e.severity, why) for name, expected in left for e in expected]


def name_of(expectation: Any) -> str:
    """Name of an expectation (or of its configuration) in manifests and messages."""
    return str(expectation.meta["name"])


def _contract(table: Table) -> Iterator[Expectation]:
    """Columns, types and keys, as the table declares them."""
    yield ours.Columns((*table.schema.names, *(d.name for d in table.derived)))
    yield ours.Types(table.types())
    yield from (ours.Known(column) for column in table.key)
    if not table.repeats:
        yield ours.UniqueKeys(table.key)


def _row_counts(table: Table, limits: Limits) -> Iterator[Expectation]:
    """That there are rows, and about as many as in the snapshot before."""
    if table.empty:
        yield RowCount(1, None, severity=table.empty, title=f"{table.name} not_empty")
    if table.name in limits.before:
        yield from _since_before(table, limits.before[table.name], limits)


def _since_before(table: Table, rows: int, limits: Limits) -> Iterator[Expectation]:
    """That the table has about as many rows as before, `rows`."""
    change, loss = (int(rows * share) for share in (limits.settings.max_row_change, limits.settings.max_shrink))
    title = f"{table.name} rows since the last snapshot"
    yield RowCount(rows - change, rows + max(change, _SMALL), severity="warning", title=title)
    if not table.shrinks:
        share = f"{limits.settings.max_shrink:g}"
        most = f"the last build had {rows:,}, of which audit.max_shrink ({share}) lets {loss:,} go"
        yield RowCount(rows - loss, None, title=f"{table.name} lost since the last build", notes=most)


def _suite(name: str, expected: Iterable[Expectation], keys: Mapping[str, str] | None = None) -> ExpectationSuite:
    return ExpectationSuite(name=name, expectations=[_converted(name, e, keys or {}) for e in expected])


def _converted(table: str, expected: Expectation, keys: Mapping[str, str]) -> Any:
    """One expectation as the library has it; `keys` are the key columns of tables that are referred to."""
    name = {"name": expected.name(table)}
    make = _CONVERSIONS[type(expected)]
    return make(expected, keys)(severity=expected.severity, notes=expected.notes, meta=name)


def _as(kind: Any, **fields: Any) -> Callable[..., Any]:
    """The class of the library with its own fields, which waits for what all expectations have."""
    return lambda **shared: kind(**fields, **shared)


def _unique(e: ours.UniqueKeys, _: Mapping[str, str]) -> Callable[..., Any]:
    if len(e.columns) == 1:
        return _as(gxe.ExpectColumnValuesToBeUnique, column=e.columns[0])
    return _as(gxe.ExpectCompoundColumnsToBeUnique, column_list=list(e.columns))


def _quantiles(e: ours.Quantiles, _: Mapping[str, str]) -> Callable[..., Any]:
    ranges = {"quantiles": list(e.bounds), "value_ranges": [list(bounds) for bounds in e.bounds.values()]}
    return _as(gxe.ExpectColumnQuantileValuesToBeBetween, column=e.column, quantile_ranges=ranges)


_CONVERSIONS: Mapping[type[Expectation], Callable[[Any, Mapping[str, str]], Callable[..., Any]]] = {
    ours.Columns: lambda e, _: _as(gxe.ExpectTableColumnsToMatchOrderedList, column_list=list(e.names)),
    ours.Types: lambda e, _: _as(ExpectTableColumnTypesToMatch, column_types=dict(e.names)),
    ours.UniqueKeys: _unique,
    ours.RowCount: lambda e, _: _as(gxe.ExpectTableRowCountToBeBetween, min_value=e.least, max_value=e.most),
    ours.Known: lambda e, _: _as(gxe.ExpectColumnValuesToNotBeNull, column=e.column),
    ours.References: lambda e, keys: _as(
        ExpectColumnValuesToBeKeysOf, column=e.column, target=e.target, target_column=keys[e.target]
    ),
    ours.Between: lambda e, _: _as(
        gxe.ExpectColumnValuesToBeBetween, column=e.column, min_value=e.least, max_value=e.most
    ),
    ours.OneOf: lambda e, _: _as(
        gxe.ExpectColumnValuesToBeInSet, column=e.column, value_set=list(e.values), mostly=e.share
    ),
    ours.Greater: lambda e, _: _as(gxe.ExpectColumnPairValuesAToBeGreaterThanB, column_A=e.column, column_B=e.than),
    ours.Equal: lambda e, _: _as(gxe.ExpectColumnPairValuesToBeEqual, column_A=e.column, column_B=e.to),
    ours.KnownShare: lambda e, _: _as(
        gxe.ExpectColumnProportionOfNonNullValuesToBeBetween, column=e.column, min_value=e.least, max_value=e.most
    ),
    ours.Quantiles: _quantiles,
}
