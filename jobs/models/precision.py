"""Precisions that a model can be run in, and which of them the processor here has arithmetic for."""

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
def _has_bf16() -> bool:
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


def _of_openvino(precision: Literal["auto"] | Precision) -> Precision:
    """`precision`, where OpenVINO has it on this processor; of what it lacks it would quietly take another."""
    if precision == "auto":
        return "bf16" if _has_bf16() else "f32"
    if precision == "f16":
        raise ModelError("embed.precision f16: OpenVINO runs on the processor here; set embed.precision to bf16 or f32")
    if precision in ("bf16", "int8") and not _has_bf16():
        raise ModelError(f"embed.precision {precision}: this processor has no bf16 arithmetic; set it to auto")
    if precision.startswith("int8") and not _has_int8():
        raise ModelError(f"embed.precision {precision}: this processor has no VNNI; set it to auto")
    return precision


def resolve_precision(settings: EmbedSettings) -> Precision:
    """The precision that `embed.precision` comes to on this machine.

    Raises:
        ModelError: The engine has no such precision, or the processor no arithmetic for it.
    """
    gpu = settings.device != "cpu"
    if settings.engine == "openvino":
        if gpu:
            raise ModelError(f"embed.device {settings.device}: set embed.engine to torch or flag, which run on GPUs")
        return _of_openvino(settings.precision)
    if settings.precision.startswith("int8"):
        raise ModelError(
            f"embed.precision {settings.precision}: embed.engine {settings.engine} has none; set it to openvino"
        )
    if settings.precision == "auto":
        return "f16" if gpu else "f32"
    return settings.precision
