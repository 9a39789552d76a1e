"""Which engine computes which metric, told to the registry of Great Expectations on import."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from quern.jobs.audit.arrow_engine import PARTS, TABLE_METRICS, ArrowExecutionEngine, batch_id
from quern.jobs.audit.arrow_metrics import METRICS
from quern.jobs.audit.gx import (
    MetricFunctionTypes,
    MetricProvider,
    SparkDFExecutionEngine,
    get_metric_kwargs,
    metric_value,
    register_metric,
)
from quern.schemas.contract.table import type_name

_EXAMPLES = 20


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
        rows = _dangling(execution_engine, metric_domain_kwargs, metric_value_kwargs).limit(_EXAMPLES)
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


class _Streamed(MetricProvider):  # type: ignore[misc]
    """Stands for every metric of `ArrowExecutionEngine`: none depends on another."""

    @classmethod
    def _get_evaluation_dependencies(cls, *_: Any, **__: Any) -> dict[str, Any]:
        return {}


def _by_engine(*_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError("the Arrow engine computes all of a table's metrics in one pass")


def _register(name: str) -> None:
    keys = get_metric_kwargs(name)
    register_metric(
        metric_name=name,
        metric_domain_keys=keys["metric_domain_keys"],
        metric_value_keys=keys["metric_value_keys"],
        execution_engine=ArrowExecutionEngine,
        metric_class=_Streamed,
        metric_provider=_by_engine,
        metric_fn_type=MetricFunctionTypes.VALUE,
    )


def _names(metric: str) -> list[str]:
    """The names under which the library asks for a metric."""
    kind = metric.split(".", maxsplit=1)[0]
    if kind == "column":
        return [metric]
    return [f"{metric}.{part}" for part in (PARTS if kind != "column_values" else PARTS[:2])]


for _metric in (*TABLE_METRICS, *(n for m in METRICS for n in _names(m))):
    _register(_metric)
