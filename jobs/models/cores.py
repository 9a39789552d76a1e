"""The cores that a model may use."""

from __future__ import annotations

import os


def available_cores() -> int:
    """What this process may use, not what the machine has: a container may hold it to a few cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
