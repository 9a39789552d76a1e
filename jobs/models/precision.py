"""Which precisions the engine and the processor here can compute in."""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast

from quern.jobs.models.folders import ModelError
from quern.schemas.settings import EmbedSettings

# In both of int8 the products of weights are int8; the rest, such as attention, is bf16 or f32.
Precision = Literal["f32", "bf16", "f16", "int8", "int8_f32"]

_CPUINFO = Path("/proc/cpuinfo")
# Dot products of four pairs of bytes: what int8 gains its speed from.
_INT8_FLAGS = frozenset({"avx512_vnni", "avx_vnni"})


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


@lru_cache(maxsize=1)
def _flags() -> frozenset[str]:
    """What the processor can do, by Linux' names; empty where they cannot be read."""
    try:
        text = _CPUINFO.read_text("ascii", errors="replace")
    except OSError:
        return frozenset()
    line = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return frozenset(line.partition(":")[2].split())


def _has_int8() -> bool:
    return not _INT8_FLAGS.isdisjoint(_flags())


def check_precision(settings: EmbedSettings) -> None:
    """Refuse an `embed.precision` that cannot be computed here; OpenVINO would silently take another.

    Raises:
        ModelError: The engine has no such precision, or the processor no arithmetic for it.
    """
    precision, engine = settings.precision, settings.engine
    if engine != "openvino":
        if precision.startswith("int8"):
            raise ModelError(f"embed.precision {precision}: embed.engine {engine} has none; set it to openvino")
        return
    if settings.device != "cpu":
        raise ModelError(f"embed.device {settings.device}: set embed.engine to torch, which runs on GPUs")
    if precision == "f16":
        raise ModelError("embed.precision f16: OpenVINO runs on the processor here; set embed.precision to f32 or bf16")
    if precision in ("bf16", "int8") and not has_bf16():
        raise ModelError(f"embed.precision {precision}: this processor has no bf16 arithmetic; set it to f32")
    if precision.startswith("int8") and not _has_int8():
        raise ModelError(f"embed.precision {precision}: this processor has no VNNI; set it to f32")
