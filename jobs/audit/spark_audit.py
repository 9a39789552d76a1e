# ruff: noqa: E402 - the switches must be set before the library is imported
"""The audit on Spark: expectations as suites of Great Expectations, validated by its own engine.

Its analytics are switched off here, and what it lacks is added. Importing it takes two to three seconds, so whoever
needs it imports this late.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

# Read when the library is imported: it must neither count its uses nor ask for newer versions.
os.environ["GX_ANALYTICS_ENABLED"] = "false"
# It imports PySpark wherever that is installed, which warns of a pandas that is not used here.
warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")

import great_expectations as gx
import great_expectations.expectations as gxe
from great_expectations.core.batch import Batch
from great_expectations.core.expectation_suite import ExpectationSuite
from great_expectations.core.id_dict import IDDict
from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults
from great_expectations.execution_engine import SparkDFExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation, ColumnMapExpectation
from great_expectations.expectations.metrics.metric_provider import MetricProvider, metric_value
from great_expectations.validator.validator import Validator

from quern.jobs.audit.arrow_audit import EXAMPLES
from quern.jobs.audit.checks import Check, Unexpected, check_of
from quern.jobs.audit.views import View
from quern.schemas.contract import expectations as ours
from quern.schemas.contract.expectations import Expectation
from quern.schemas.contract.table import type_name


class SparkEngine(SparkDFExecutionEngine):  # type: ignore[misc]
    """The library's Spark engine, which looks for examples of unexpected rows only where some were counted.

    Counts of a table are computed together in few jobs, examples in one job per expectation.
    """

    def resolve_metrics(
        self, metrics_to_resolve: Iterable[Any], metrics: Any = None, runtime_configuration: Any = None
    ) -> dict[Any, Any]:
        """Values of the metrics, by id; examples wait until it is known how many rows are unexpected."""
        wanted = list(metrics_to_resolve)
        examples = [m for m in wanted if m.metric_name.endswith(_VALUES)]
        others = [m for m in wanted if m not in examples]
        if others:
            return dict(super().resolve_metrics(others, metrics, runtime_configuration))
        counts = {_rule(m_id): count for m_id, count in (metrics or {}).items() if m_id[0].endswith(_COUNT)}
        none: dict[Any, Any] = {m.id: [] for m in examples if counts.get(_rule(m.id)) == 0}
        some = [m for m in examples if m.id not in none]
        return none | (dict(super().resolve_metrics(some, metrics, runtime_configuration)) if some else {})


_VALUES, _COUNT = ".unexpected_values", ".unexpected_count"


def _rule(metric_id: tuple[str, str, Any]) -> tuple[str, str]:
    """What a count and its examples have in common: the rule and the columns."""
    return metric_id[0].rpartition(".")[0], metric_id[1]


class KeyOf(MetricProvider):  # type: ignore[misc]
    """`column_values.key_of` on Spark: an anti join with the keys of the other table."""

    metric_name = "column_values.key_of"
    domain_keys = ("batch_id", "table", "column", "row_condition", "condition_parser")
    value_keys = ("target", "target_column")

    @metric_value(engine=SparkDFExecutionEngine, metric_name_suffix=".unexpected_count")  # type: ignore[untyped-decorator]
    def _count(*_: Any, execution_engine: Any, metric_domain_kwargs: Any, metric_value_kwargs: Any, **__: Any) -> int:
        return int(_dangling(execution_engine, metric_domain_kwargs, metric_value_kwargs).count())

    @metric_value(engine=SparkDFExecutionEngine, metric_name_suffix=".unexpected_values")  # type: ignore[untyped-decorator]
    def _values(
        *_: Any, execution_engine: Any, metric_domain_kwargs: Any, metric_value_kwargs: Any, **__: Any
    ) -> list[Any]:
        rows = _dangling(execution_engine, metric_domain_kwargs, metric_value_kwargs).limit(EXAMPLES)
        return [row[0] for row in rows.collect()]


def _dangling(engine: Any, domain: Any, kwargs: Any) -> Any:
    batches = engine.batch_manager.batch_data_cache
    rows = batches[domain["batch_id"]].dataframe.select(domain["column"]).dropna()
    keys = batches[str(IDDict(table=kwargs["target"]).to_id())].dataframe.select(kwargs["target_column"])
    keys = keys.withColumnRenamed(kwargs["target_column"], domain["column"])
    return rows.join(keys, domain["column"], "left_anti")


class ArrowTypes(MetricProvider):  # type: ignore[misc]
    """`table.arrow_types` on Spark: the names of the types of all columns, as Arrow calls them."""

    metric_name = "table.arrow_types"
    domain_keys = ("batch_id",)

    @metric_value(engine=SparkDFExecutionEngine)  # type: ignore[untyped-decorator]
    def _spark(*_: Any, execution_engine: Any, metric_domain_kwargs: Any, **__: Any) -> dict[str, str]:
        from pyspark.sql.pandas.types import to_arrow_schema

        frame = execution_engine.batch_manager.batch_data_cache[metric_domain_kwargs["batch_id"]].dataframe
        return {f.name: type_name(f.type) for f in to_arrow_schema(frame.schema, timezone="UTC")}


class ExpectColumnValuesToBeKeysOf(ColumnMapExpectation):  # type: ignore[misc]
    """Every value of `column` is a value of `target_column` in the table `target`; nulls refer to nothing."""

    target: str
    target_column: str

    map_metric: ClassVar[str] = "column_values.key_of"
    success_keys: ClassVar[tuple[str, ...]] = ("mostly", "target", "target_column")


class ExpectTableColumnTypesToMatch(BatchExpectation):  # type: ignore[misc]
    """The named columns have the types that `schemas.tables` declares."""

    column_types: dict[str, str]

    metric_dependencies: ClassVar[tuple[str, ...]] = ("table.arrow_types",)
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)
    success_keys: ClassVar[tuple[str, ...]] = ("column_types",)
    args_keys: ClassVar[tuple[str, ...]] = ("column_types",)

    def _validate(
        self, metrics: dict[str, Any], runtime_configuration: Any = None, execution_engine: Any = None
    ) -> dict[str, Any]:
        types: dict[str, str] = metrics["table.arrow_types"]
        wrong = {name: types.get(name, "absent") for name, kind in self.column_types.items() if types.get(name) != kind}
        observed = ", ".join(f"{name} is {kind}" for name, kind in wrong.items()) or "as declared"
        return {"success": not wrong, "result": {"observed_value": observed}}


# ---- the audit


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
    batches = {
        name: Batch(data=_spark_frame(view, session), batch_definition=IDDict(table=name))
        for name, view in views.items()
    }
    for batch in batches.values():
        engine.load_batch_data(batch.id, batch.data)
    context = memory_context()
    checks: list[Check] = []
    for name, batch in batches.items():
        converted = [_CONVERSIONS[type(e)](e, keys)(meta={"at": at}) for at, e in enumerate(expected[name])]
        suite = ExpectationSuite(name=name, expectations=converted)
        result = Validator(engine, batches=[batch], data_context=context).validate(expectation_suite=suite)
        results = {one.expectation_config.meta["at"]: one for one in result.results}  # The library reorders them.
        checks += [
            check_of(name, e, bool(results[at].success), _found(results[at])) for at, e in enumerate(expected[name])
        ]
    return checks


def _spark_frame(view: View, session: Any) -> Any:
    """The view as a Spark DataFrame; its derived columns are computed by Spark."""
    from pyspark.sql import functions as f

    # Spark reads a path as a pattern: brackets and the like must stand for themselves.
    path = "".join(f"\\{c}" if c in "[]{}*?\\" else c for c in str(view.source))
    derived = {}
    for column in view.derived:
        first, *others = map(f.col, column.columns)
        if column.kind == "length":
            derived[column.name] = f.length(first).cast("bigint")
        elif column.kind == "difference":
            derived[column.name] = first - others[0]
        else:
            square = f.transform(first, lambda x: x.cast("double") * x.cast("double"))
            derived[column.name] = f.sqrt(f.aggregate(square, f.lit(0.0), lambda total, x: total + x))
    return session.read.parquet(path).withColumns(derived)


def memory_context() -> Any:
    """A data context in memory: no files, no progress bars, nothing sent anywhere."""
    config = DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars={"globally": False},
        analytics_enabled=False,
    )
    return gx.get_context(mode="ephemeral", project_config=config)


def _found(outcome: Any) -> object:
    result = outcome.result or {}
    if "unexpected_count" in result:
        examples = result.get("partial_unexpected_list", [])[:EXAMPLES]
        return Unexpected(result["unexpected_count"], result["element_count"], examples)
    if "observed_value" not in result:
        return f"could not be checked: {_reason(outcome.exception_info)}"
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


_CONVERSIONS: Mapping[type[Expectation], Callable[[Any, Mapping[str, str]], Callable[..., Any]]] = {
    ours.Columns: lambda e, _: _as(gxe.ExpectTableColumnsToMatchOrderedList, column_list=list(e.names)),
    ours.Types: lambda e, _: _as(ExpectTableColumnTypesToMatch, column_types=dict(e.names)),
    ours.UniqueKeys: lambda e, _: (
        _as(gxe.ExpectColumnValuesToBeUnique, column=e.columns[0])
        if len(e.columns) == 1
        else _as(gxe.ExpectCompoundColumnsToBeUnique, column_list=list(e.columns))
    ),
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
    ours.Quantiles: lambda e, _: _as(
        gxe.ExpectColumnQuantileValuesToBeBetween,
        column=e.column,
        quantile_ranges={"quantiles": list(e.bounds), "value_ranges": [list(bounds) for bounds in e.bounds.values()]},
    ),
}
