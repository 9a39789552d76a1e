"""The command line of Quern, and what it says of an error: one sentence for what a user can mend."""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from quern.indexes.checksums import DamagedError
from quern.indexes.disk import DiskFault, NoRoomError, disk_fault, free_bytes
from quern.pipelines.cli import answers, builds, measures, pages, rows, snapshots, sources, train
from quern.pipelines.cli.common import LOGGERS, new_app
from quern.pipelines.cli.entry import INTERRUPTED
from quern.schemas.errors import MachineFaultError, QuernError
from quern.schemas.extras import sentence_of
from quern.schemas.version import VERSION

_GOES_ON: Final = (
    "what was finished is kept and what is published stays: make room and run the same command again, it goes on from "
    "there"
)


def sentence(error: BaseException, arguments: Sequence[str]) -> str | None:
    """What to tell of `error`, given the arguments of the command; None where it is a fault of Quern."""
    if isinstance(error, ModuleNotFoundError):
        return sentence_of(error)
    own = isinstance(error, QuernError)
    # Errors of Quern say themselves what to do, but for those of engines, which only repeat what these say.
    if not own or (isinstance(error, MachineFaultError) and not isinstance(error, DamagedError)):
        failure = disk_fault(error)
        if failure is not None:
            path, cause = _place(failure.by, arguments), failure.by
            text = getattr(cause, "strerror", None) or failure.fault.value
            match failure.fault:
                case DiskFault.FULL:
                    return f"no space is left {_where(path, cause)}; {_GOES_ON}"
                case DiskFault.TOO_LARGE:
                    return f"{path} needs a larger file than `ulimit -f` or its file system allows; {_GOES_ON}"
                case DiskFault.UNREADABLE:
                    return (
                        f"the disk of {path} fails ({text}); the machine's log (`dmesg`) says more: what is published "
                        "stays as it is, and `quern verify` reads all of it"
                    )
                case DiskFault.READ_ONLY:
                    return f"{path} cannot be written: {text}; commands that only read do without that"
    return str(error) if own else None


def _place(error: BaseException, arguments: Sequence[str]) -> Path:
    """Where the fault is: the file that the error names, or what the command names on the fullest disk."""
    filename = getattr(error, "filename", None)
    if isinstance(filename, str) and filename:
        return Path(filename)
    if isinstance(error, FileNotFoundError):  # So Python says that there is no room in any folder for temporary files.
        return Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - named, not used
    places = [Path(path) for a in arguments for path in (a, a.partition("=")[2]) if path and os.path.exists(path)]  # noqa: PTH110 - a path may be none at all
    with suppress(FileNotFoundError):
        places.append(Path(tempfile.gettempdir()))
    return min(places or [Path.cwd()], key=free_bytes)


def _where(path: Path, error: BaseException) -> str:
    if isinstance(error, NoRoomError):
        return f"for {path}: {_size(error.needed)} needed, {_size(error.free)} free"
    free = free_bytes(path)
    if free < 64 << 20:  # A disk that is not full has more.
        return f"for {path}: {_size(free)} free, now that what was begun is deleted"
    # It is another disk, of another machine perhaps, or a quota.
    return f"where this command writes, and {path} has {_size(free)} free"


def _size(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def tell(said: str) -> None:
    """Say it on standard error, which may lie on the full disk itself."""
    with suppress(OSError):
        sys.stderr.write(f"quern: {said}\n")
        sys.stderr.flush()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # What is left goes nowhere: else the exit code would tell of that alone.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


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


for topic in (builds, pages, answers, sources, measures, rows, snapshots):
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
        message = sentence(error, sys.argv[1:])
        if message is None:
            raise
        tell(message)
        sys.exit(2)


if __name__ == "__main__":
    main()
