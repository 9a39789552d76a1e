"""The audit on Spark: expectations as suites of Great Expectations, validated by its own engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from quern.jobs.audit.arrow_metrics import EXAMPLES
from quern.jobs.audit.checks import Check, Unexpected, check_of
from quern.jobs.audit.gx import (
    DataContextConfig,
    ExpectationSuite,
    ExpectColumnValuesToBeKeysOf,
    ExpectTableColumnTypesToMatch,
    InMemoryStoreBackendDefaults,
    SparkEngine,
    Validator,
    batch_of,
    gx,
    gxe,
)
from quern.jobs.audit.views import View, spark_frame
from quern.schemas.contract import expectations as ours
from quern.schemas.contract.expectations import Expectation


def check_on_spark(
    views: Mapping[str, View], expected: Mapping[str, Sequence[Expectation]], keys: Mapping[str, str], session: Any
) -> list[Check]:
    """A check of every expectation, table by table.

    Args:
        views: The tables, by name.
        expected: What each is held to.
        keys: The key column of each.
        session: The Spark session.
    """
    rows = sum(view.rows for view in views.values())  # A file that cannot be read is no failed expectation.
    # Shuffles of small tables in few parts, each of which costs a task.
    # Keys of as many rows fill a shuffle partition of some 10 MB.
    session.conf.set("spark.sql.shuffle.partitions", str(max(2, rows // 250_000)))
    engine = SparkEngine(spark=session, persist=False)
    batches = {name: batch_of(name, spark_frame(view, session)) for name, view in views.items()}
    for batch in batches.values():
        engine.load_batch_data(batch.id, batch.data)
    context = memory_context()
    return [
        check
        for name, batch in batches.items()
        for check in _validate(Validator(engine, batches=[batch], data_context=context), name, expected[name], keys)
    ]


def memory_context() -> Any:
    """A data context in memory: no files, no progress bars, nothing sent anywhere."""
    config = DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars={"globally": False},
        analytics_enabled=False,
    )
    return gx.get_context(mode="ephemeral", project_config=config)


def _validate(validator: Any, table: str, expected: Sequence[Expectation], keys: Mapping[str, str]) -> Iterator[Check]:
    converted = [_CONVERSIONS[type(e)](e, keys)(meta={"at": at}) for at, e in enumerate(expected)]
    result = validator.validate(expectation_suite=ExpectationSuite(name=table, expectations=converted))
    results = {found.expectation_config.meta["at"]: found for found in result.results}  # The library reorders them.
    for at, e in enumerate(expected):
        yield check_of(table, e, bool(results[at].success), _found(results[at]))


def _found(found: Any) -> object:
    """What was measured, as the Arrow engine measures it."""
    result = found.result or {}
    if "unexpected_count" in result:
        examples = result.get("partial_unexpected_list", [])[:EXAMPLES]
        return Unexpected(result["unexpected_count"], result["element_count"], examples)
    if "observed_value" not in result:
        return f"could not be checked: {_reason(found.exception_info)}"
    observed = result["observed_value"]
    return (
        observed["values"] if isinstance(observed, dict) else str(observed) if isinstance(observed, list) else observed
    )


def _reason(exception_info: Any) -> str:
    """The message of the first exception among nested descriptions of them."""
    if not isinstance(exception_info, Mapping):
        return str(getattr(exception_info, "exception_message", exception_info))
    if "exception_message" in exception_info:
        return str(exception_info["exception_message"])
    return next((_reason(v) for v in exception_info.values()), "no result")


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
