"""Processes that do an engine's work, so that the sudden end of one is an error here and not the end of this process.

Unlike those of `multiprocessing`, a child does not import the program that started it: a script without
`if __name__ == "__main__"` can build.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

from quern.indexes.disk import said_by
from quern.jobs.core.work import EngineError
from quern.schemas.errors import QuernError

Call = Callable[..., None]
"""A function of a module, `(items, say, *arguments)`: takes items as it wants them, and says results."""


class ChildDiedError(EngineError):
    """A child ended in the middle of its work; the message says how."""


class Child:
    """A process that runs functions, one after the other; it ends with its parent."""

    def __init__(self, **environment: str) -> None:
        """Start it, with these variables beside those of this process."""
        here, there = socket.socketpair()
        self.connection = Connection(here.detach())
        self._ready = False
        path = [p or str(Path.cwd()) for p in sys.path]
        serving = f"from {__name__} import serve; serve({there.fileno()}, {os.getpid()})"
        with there:
            self.process = subprocess.Popen(
                [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}; {serving}"],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,  # Standard output is the command's own.
                env={**os.environ, **environment},
                start_new_session=True,  # Ctrl-C is for the parent, which then closes it.
            )

    def ready(self) -> bool:
        """Whether it has started. Raises ChildDiedError: the process ended."""
        if not self._ready and self.connection.poll():
            self._ready = self.receive()[0] == "ready"
        return self._ready

    def begin(self, function: Call, *arguments: Any) -> None:
        """Begin a function, whose results `results` gives. Raises ChildDiedError: the process ended."""
        self.send((function, arguments))

    def send(self, message: Any) -> None:
        """Raises: ChildDiedError, where the process ended."""
        try:
            _send(self.connection, message)
        except OSError as error:
            raise self.died() from error

    def receive(self) -> tuple[str, Any]:
        """What it says: `ready`, `next` where it wants an item, `value`, `end`, or `error`.

        Raises ChildDiedError: the process ended.
        """
        try:
            kind, value = _received(self.connection)
        except (EOFError, OSError) as error:
            raise self.died() from error
        return kind, value

    def died(self) -> ChildDiedError:
        """How it ended."""
        try:
            code = self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            return ChildDiedError(f"the process {self.process.pid} does not answer")
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        return ChildDiedError(f"the process {self.process.pid} {how}")

    def close(self, patience: float = 0.0) -> None:
        """End it, by force where it does not end by itself in `patience` seconds."""
        self.connection.close()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def results(
    children: Sequence[Child], items: Iterable[Any] = (), check: Callable[[], None] = lambda: None
) -> Iterator[Any]:
    """What the functions that `children` began say, as they say it; each item goes to the first that wants one.

    Raises ChildDiedError: one ended; EngineError: what `check` raises, which is called every second while nobody says
    anything.
    """
    queue, busy = iter(items), {child.connection: child for child in children}
    while busy:
        ready = wait(list(busy), timeout=1.0)
        if not ready:
            check()
        for connection in ready:
            child = busy[connection]  # type: ignore[index]
            kind, value = child.receive()
            if kind == "value":
                yield value
            elif kind == "next":
                child.send([item for item in [next(queue, _NONE)] if item is not _NONE])
            elif kind == "end":
                del busy[child.connection]
            elif kind == "error":
                for (error, caused), (before, _) in pairwise(value):
                    if caused:
                        error.__cause__ = before
                    else:
                        error.__context__ = before
                raise value[0][0]


_NONE: Final = object()


def _send(connection: Connection, message: Any) -> None:
    """Not by the connection's own pickle, for which torch would share memory between the processes."""
    connection.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def _received(connection: Connection) -> Any:
    return pickle.loads(connection.recv_bytes())  # noqa: S301 - of this program's own child


def serve(descriptor: int, parent: int) -> None:
    """Run the functions that the parent begins, until it is gone or closes the connection."""
    connection = Connection(descriptor)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    def wanted() -> Iterator[Any]:
        while True:
            _send(connection, ("next", None))
            if not (items := _received(connection)):
                return
            yield from items

    threading.Thread(target=end_with_parent, daemon=True).start()
    _send(connection, ("ready", None))
    while True:
        try:
            function, arguments = _received(connection)
        except EOFError:
            return
        try:
            function(wanted(), lambda value: _send(connection, ("value", value)), *arguments)
        except Exception as error:  # noqa: BLE001 - told by the parent, whatever it is
            _send(connection, ("error", _chain(error)))
        else:
            _send(connection, ("end", None))


def _chain(error: BaseException | None) -> list[tuple[BaseException, bool]]:
    """An error and what led to it, as errors that the parent knows: it has not imported what an engine has.

    Beside each is whether the next one is its cause, or what was handled when it was raised.
    """
    if error is None:
        return []
    if isinstance(error, OSError):
        plain: BaseException = OSError(error.errno, error.strerror or said_by(error), error.filename)
    elif isinstance(error, QuernError | MemoryError):
        plain = error
    else:
        plain = RuntimeError(f"{type(error).__name__}: {said_by(error)}")
        plain.add_note("".join(traceback.format_tb(error.__traceback__)))
    caused = error.__cause__ is not None
    before = None if error.__suppress_context__ else error.__context__
    return [(plain, caused), *_chain(error.__cause__ if caused else before)]
