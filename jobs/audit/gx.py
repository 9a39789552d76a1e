# ruff: noqa: E402 - the switches must be set before the library is imported
"""Great Expectations as Quern imports it, its analytics switched off, with metrics and expectations that it lacks.

Importing it takes two to three seconds, so whoever needs it imports it late.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
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

from quern.jobs.audit.arrow_metrics import EXAMPLES
from quern.schemas.contract.table import type_name

__all__ = ["DataContextConfig", "ExpectationSuite", "InMemoryStoreBackendDefaults", "Validator", "gx", "gxe"]


def batch_of(table: str, content: Any) -> Batch:
    """The batch of a whole table; its id is made from the table's name."""
    return Batch(data=content, batch_definition=IDDict(table=table))


def batch_id(table: str) -> str:
    """Id of the batch of `table`."""
    return str(IDDict(table=table).to_id())


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
    keys = batches[batch_id(kwargs["target"])].dataframe.select(kwargs["target_column"])
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
        found: dict[str, str] = metrics["table.arrow_types"]
        wrong = {name: found.get(name, "absent") for name, kind in self.column_types.items() if found.get(name) != kind}
        observed = ", ".join(f"{name} is {kind}" for name, kind in wrong.items()) or "as declared"
        return {"success": not wrong, "result": {"observed_value": observed}}
