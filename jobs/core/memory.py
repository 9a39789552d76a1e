"""The memory of a build: the peak over all of its processes, sampled."""

from __future__ import annotations

import threading
from types import TracebackType

import psutil

_EVERY_S = 1.0


class MemoryMeter:
    """Samples, while the block runs, the memory of this process and all that it started.

    The figure is the proportional set size: what Ray's processes share is counted once. Peaks shorter than
    a second may be missed.
    """

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> MemoryMeter:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        me = psutil.Process()
        while True:
            self.peak_bytes = max(self.peak_bytes, _tree_bytes(me))
            if self._done.wait(_EVERY_S):
                return


def _tree_bytes(root: psutil.Process) -> int:
    total = 0
    for process in [root, *root.children(recursive=True)]:
        try:
            full = process.memory_full_info()
            total += getattr(full, "pss", full.rss)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # it ended between the listing and the reading
    return total
