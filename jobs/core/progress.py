"""Progress of long steps: a bar with rate and time left on a terminal, one log line per step otherwise."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

log = logging.getLogger(__name__)

_EVERY_S = 0.25


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
            while not done.wait(_EVERY_S):
                rows = count() if total is None else min(count(), total)
                bar.update(task, completed=rows, rate=f"{rows / (time.monotonic() - started):,.0f} rows/s")

        poller = threading.Thread(target=poll, daemon=True)
        poller.start()
        try:
            yield
        finally:
            done.set()
            poller.join()
