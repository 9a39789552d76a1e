"""The library's Spark engine, and metrics of ours on it, told to the registry of Great Expectations on import."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quern.jobs.audit.arrow_metrics import EXAMPLES
from quern.jobs.audit.gx import Batch, IDDict, MetricProvider, SparkDFExecutionEngine, metric_value
from quern.schemas.contract.table import type_name


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
