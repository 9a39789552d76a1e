"""The command line of Quern."""

from __future__ import annotations

import logging
import signal
import sys
from typing import Annotated

import typer

from quern.pipelines.cli import answers, builds, export, judge, measures, pages, rows, snapshots, sources, train
from quern.pipelines.cli.common import LOGGERS, new_app
from quern.pipelines.cli.entry import INTERRUPTED
from quern.pipelines.cli.faults import sentence, tell
from quern.schemas.version import VERSION

_stop_asked = False

app = new_app(
    "Grind a folder of web pages into a query-centric index, and answer questions from it with citations.", "quern"
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"quern {VERSION}")
        raise typer.Exit


@app.callback()
def _quern(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and end.")
    ] = False,
) -> None:
    pass


for topic in (builds, pages, answers, sources, measures, judge, rows, snapshots, export):
    app.add_typer(topic.app)
app.add_typer(answers.runs, name="answers")
app.add_typer(snapshots.snapshots, name="snapshots")
app.add_typer(train.app, name="train")


def _interrupted() -> None:
    typer.echo("interrupted; run the same command again: it goes on from where it stopped", err=True)
    sys.exit(INTERRUPTED)


def _stop(signum: int, frame: object) -> None:
    global _stop_asked
    _stop_asked = True
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; exit code 2 for what a user can mend, 130 for an interruption."""
    global _stop_asked
    _stop_asked = False  # A process may run it more than once, as tests do.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        logger.propagate = False
    try:
        # An orchestrator stops a task with SIGTERM: engines must be closed as after Ctrl-C.
        signal.signal(signal.SIGTERM, _stop)
        signal.signal(signal.SIGINT, _stop)
        app(prog_name="quern")
    except KeyboardInterrupt:  # Typer takes those that come once the command runs.
        _interrupted()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            _interrupted()
        raise
    except Exception as error:
        # A library that is interrupted at a bad moment raises an error of its own.
        if _stop_asked:
            _interrupted()
        said = sentence(error, sys.argv[1:])
        if said is None:
            raise
        tell(said)
        sys.exit(2)


if __name__ == "__main__":
    main()
