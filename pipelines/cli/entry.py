"""Where the command `quern` begins: it can be stopped at once, and spends no time on what nobody asked for."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

INTERRUPTED = 130


def _stop(signum: int, frame: object) -> None:
    sys.stderr.write("interrupted before it began\n")
    sys.exit(INTERRUPTED)


def _stop_again(dropped: sys.UnraisableHookArgs) -> None:
    """Interrupt anew: Python drops what is raised in a finalizer or a weak reference's callback."""
    if issubclass(dropped.exc_type, (KeyboardInterrupt, SystemExit)):
        to = threading.main_thread().ident  # It may wait in a system call, which only a signal of its own ends.
        threading.Timer(0.1, signal.pthread_kill, (to, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(dropped)


class _Leaving:
    """Ends the process once all else that is done at its end is done: its memory goes back whole.

    Python would take a third of a second to two seconds to free, object by object, what a command has loaded. What was
    registered first is called last, after all threads and all that modules close at the end.
    """

    def __init__(self) -> None:
        self.code: int | None = None
        atexit.register(self._leave)

    def _leave(self) -> None:
        if self.code is None:  # An error that Python tells itself.
            return
        with suppress(OSError, ValueError):  # Nobody reads any more: Python says so in its own way.
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:  # It is where the command was started with the stream closed.
                    stream.flush()
            os._exit(self.code)


class _NoPandas(MetaPathFinder):
    """A finder that says of pandas that it is not there."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """No module of that name; of others nothing is said."""
        if name == "pandas":
            raise ModuleNotFoundError(name)
        return None


def start_light() -> None:
    """Look for garbage less often, and keep pyarrow from importing pandas before it is wanted."""
    # Of a start a tenth to a fifth is the search for garbage among what modules define, which is none: imports of
    # `quern stage` and of LanceDB take 15 to 19 % less than with Python's 700. So many objects are some MiB.
    gc.set_threshold(100_000)
    import pyarrow as pa

    # The first array of Python's values imports pandas, a quarter of a second, to see whether they are a Series. Told
    # that there is none pyarrow asks no more; `to_pandas` imports it all the same.
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)


def main() -> None:
    """Run the command line; exit code 2 for what a user can mend, 130 for an interruption."""
    leaving = _Leaving()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    sys.unraisablehook = _stop_again
    start_light()
    from quern.pipelines.cli.main import main as run

    try:
        run()
        leaving.code = 0
    except SystemExit as stop:
        leaving.code = 0 if stop.code is None else stop.code if isinstance(stop.code, int) else None
        raise
    finally:
        # What was asked for is done, or was told not to be: a signal would now end Python while it tidies up.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
