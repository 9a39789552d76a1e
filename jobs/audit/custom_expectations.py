"""Expectations that Great Expectations has no class for: references between tables, and Arrow types."""

from __future__ import annotations

from typing import Any, ClassVar

from quern.jobs.audit.gx import (
    BatchExpectation,
    ColumnMapExpectation,
    LegacyRendererType,
    RenderedStringTemplateContent,
    renderer,
)


def _sentence(template: str, params: dict[str, Any], runtime: dict[str, Any] | None) -> list[Any]:
    """One sentence of the data docs, with its parameters set apart."""
    template_and_params = {"template": template, "params": params, "styling": (runtime or {}).get("styling")}
    return [RenderedStringTemplateContent(content_block_type="string_template", string_template=template_and_params)]


class ExpectColumnValuesToBeKeysOf(ColumnMapExpectation):  # type: ignore[misc]
    """Every value of `column` is a value of `target_column` in the table `target`; nulls refer to nothing."""

    target: str
    target_column: str

    map_metric: ClassVar[str] = "column_values.key_of"
    success_keys: ClassVar[tuple[str, ...]] = ("mostly", "target", "target_column")

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)  # type: ignore[untyped-decorator]
    def _prescriptive_renderer(
        cls, configuration: Any, result: Any = None, runtime_configuration: dict[str, Any] | None = None, **_: Any
    ) -> list[Any]:
        names = {name: configuration.kwargs[name] for name in ("column", "target", "target_column")}
        return _sentence("$column: values must be keys of $target ($target_column).", names, runtime_configuration)


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

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)  # type: ignore[untyped-decorator]
    def _prescriptive_renderer(
        cls, configuration: Any, result: Any = None, runtime_configuration: dict[str, Any] | None = None, **_: Any
    ) -> list[Any]:
        kinds = configuration.kwargs["column_types"]
        listed = ", ".join(f"{name} $t{i}" for i, name in enumerate(kinds))
        named = {f"t{i}": kind for i, kind in enumerate(kinds.values())}
        return _sentence(f"columns must have the declared types: {listed}.", named, runtime_configuration)
