"""Where the command `quern` begins: it can be stopped before all that it needs is imported."""

from __future__ import annotations

import signal
import sys

INTERRUPTED = 130


def _stop(signum: int, frame: object) -> None:
    sys.stderr.write("interrupted before it began\n")
    sys.exit(INTERRUPTED)


def main() -> None:
    """Run the command line; exit code 2 for what a user can mend, 130 for an interruption."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    from quern.pipelines.cli.start import start_light

    start_light()
    from quern.pipelines.cli.main import main as run

    try:
        run()
    finally:
        # What was asked for is done, or was told not to be: a signal would now end Python while it tidies up.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
