"""A time limit for iterators that have none."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from quern.jobs.reasoning.generators.contract import GeneratorError

_NOTHING: Final = object()


class Patience:
    """Interrupts the main thread where it waits for a row for too long: Ray itself would wait for ever.

    Ray starts a copy that died again, however often it dies, and its iterators take no time limit; but they stop what
    they run when they are interrupted.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: float | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._over = False

    def rows(self, rows: Iterable[Any]) -> Iterator[Any]:
        """The rows as they come.

        Raises:
            GeneratorError: None came for so many seconds.
        """
        threading.Thread(target=self._watch, name="vllm-patience", daemon=True).start()
        waiting = iter(rows)
        try:
            while True:
                with _interruptible():
                    self._wait(self._seconds)
                    try:
                        row = next(waiting, _NOTHING)
                    finally:
                        self._wait(None)
                if row is _NOTHING:
                    return
                yield row
        except KeyboardInterrupt:
            if not self._over:
                raise
            raise GeneratorError(
                f"vLLM gave no reply for {self._seconds:.0f} seconds (generator.patience): it may still be loading, or "
                "its copies die one after the other; Ray's session logs, in worker-*.out, say why"
            ) from None
        finally:
            self._ended.set()

    def _wait(self, seconds: float | None) -> None:
        with self._lock:
            self._until = None if seconds is None else time.monotonic() + seconds

    def _watch(self) -> None:
        while not self._ended.wait(min(1.0, self._seconds / 4)):
            with self._lock:
                if self._until is not None and time.monotonic() > self._until:
                    self._over, self._until = True, None
                    _thread.interrupt_main()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let the main thread be interrupted meanwhile: what is started in the background inherits that it is not.

    Other threads may not change what a signal does; there the caller's choice stands.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
