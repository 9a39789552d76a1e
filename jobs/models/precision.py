"""Which precisions the engine and the processor here can compute in."""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from types import ModuleType
from typing import Any, Literal, cast

from quern.jobs.models.folders import ModelError
from quern.schemas.settings import EmbedSettings

Precision = Literal["f32", "bf16", "f16"]


def import_openvino() -> ModuleType:
    """The module `openvino` without its telemetry, which would report to a web service on import."""
    if "openvino" not in sys.modules:
        # With None in its place the import of the telemetry fails, and OpenVINO then takes a stub.
        cast(dict[str, Any], sys.modules).setdefault("openvino_telemetry", None)
    return importlib.import_module("openvino")


@lru_cache(maxsize=1)
def has_bf16() -> bool:
    """Whether the processor has arithmetic for bf16; without it OpenVINO would silently compute in f32."""
    capabilities = import_openvino().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    return "BF16" in capabilities


def check_precision(settings: EmbedSettings) -> None:
    """Refuse an `embed.precision` that cannot be computed here; OpenVINO would silently take another.

    Raises:
        ModelError: OpenVINO has no such precision, or the processor no arithmetic for it.
    """
    precision = settings.precision
    if settings.engine != "openvino":
        return
    if settings.device != "cpu":
        raise ModelError(f"embed.device {settings.device}: set embed.engine to torch, which runs on GPUs")
    if precision == "f16":
        raise ModelError("embed.precision f16: OpenVINO runs on the processor here; set embed.precision to f32 or bf16")
    if precision == "bf16" and not has_bf16():
        raise ModelError("embed.precision bf16: this processor has no bf16 arithmetic; set it to f32")
