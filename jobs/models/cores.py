"""The cores that a model may use, and loading one beside other work."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

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
