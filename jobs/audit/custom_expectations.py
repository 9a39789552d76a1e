"""Expectations that Great Expectations has no class for: references between tables, and Arrow types."""

from __future__ import annotations

from typing import Any, ClassVar

from quern.jobs.audit.gx import BatchExpectation, ColumnMapExpectation


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
