"""What the machine gives models: its cores, OpenVINO, and the precisions that both can compute in."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from types import ModuleType
from typing import Any, Literal, TypeVar, cast

from quern.jobs.models.folders import ModelError
from quern.schemas.settings import EmbedSettings

Precision = Literal["f32", "bf16", "f16"]
Made = TypeVar("Made")


def available_cores() -> int:
    """What this process may use, not what the machine has: a container may hold it to a few cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_background(make: Callable[[], Made]) -> Future[Made]:
    """What `make` returns, made in a thread of its own."""
    threads = ThreadPoolExecutor(1)
    try:
        return threads.submit(make)
    finally:
        threads.shutdown(wait=False)


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
