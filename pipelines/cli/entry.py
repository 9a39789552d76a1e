"""Where the command `quern` begins: it can be stopped before all that it needs is imported."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress

INTERRUPTED = 130


def _stop(signum: int, frame: object) -> None:
    sys.stderr.write("interrupted before it began\n")
    sys.exit(INTERRUPTED)


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


def main() -> None:
    """Run the command line; exit code 2 for what a user can mend, 130 for an interruption."""
    leaving = _Leaving()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    from quern.pipelines.cli.start import start_light

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
