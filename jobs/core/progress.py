"""Progress of long steps: a bar with rate and time left on a terminal, one log line per step otherwise."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

import psutil

log = logging.getLogger(__name__)


@contextmanager
def watched(name: str, total: int | None, count: Callable[[], int], stream: TextIO | None = None) -> Iterator[None]:
    """Show while the block runs how many of `total` rows, None where it is not known, `count()` says are done.

    The work itself is not touched: `count` is polled from a thread, so it serves work in other processes.
    """
    stream = stream or sys.stderr
    if not stream.isatty() or total == 0:
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    done = threading.Event()
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task(name, total=total, rate="")
        started = time.monotonic()

        def poll() -> None:
            while not done.wait(0.25):
                rows = count() if total is None else min(count(), total)
                bar.update(task, completed=rows, rate=f"{rows / (time.monotonic() - started):,.0f} rows/s")

        poller = threading.Thread(target=poll, daemon=True)
        poller.start()
        try:
            yield
        finally:
            done.set()
            poller.join()


class MemoryMeter:
    """Samples, while the block runs, the memory of this process and all that it started.

    The figure is the proportional set size: what Ray's processes share is counted once. Peaks shorter than
    a second may be missed.
    """

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._last = self._lap = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> MemoryMeter:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()

    def lap(self) -> int:
        """The largest memory since the last call; of a lap without a sample the last sample before it."""
        peak, self._lap = self._lap, self._last
        return peak

    def _sample(self) -> None:
        me = psutil.Process()
        while True:
            total = 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    full = process.memory_full_info()
                    total += getattr(full, "pss", full.rss)
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue  # it ended between the listing and the reading
            self._last = total
            self._lap = max(self._lap, self._last)
            self.peak_bytes = max(self.peak_bytes, self._last)
            if self._done.wait(1.0):
                return
