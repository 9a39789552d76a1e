"""A worker of a sweep: a process that builds and measures, and whose end ends no other work.

Why no pool of a library: `concurrent.futures.ProcessPoolExecutor` fails all that is in flight or waits when one of its
processes is killed (7 of 8 tasks, measured with two processes), and leaves its processes behind when the sweep itself
is killed. Ray loses one task and leaves no process for long, but takes 3.5 s to start, adds nine processes of 760 MiB,
listens on addresses, and would lie around the Ray that a build may start.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path

from quern.indexes.disk import DiskFault, disk_fault, exit_code
from quern.pipelines.evaluation.sweep.measure import make_build, measure_points
from quern.pipelines.evaluation.sweep.tasks import MakeBuild, Message, Task

_GRACE_S = 10.0


class Worker:
    """A process that does one task at a time."""

    def __init__(self, log_file: Path, threads: int) -> None:
        """Args: `log_file` takes what the process prints; `threads` are those of its matrix products."""
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.task: Task | None = None
        self._child = context.Process(target=_work, args=(theirs, log_file, threads), daemon=False)
        before = {name: os.environ.get(name) for name in _THREADS}
        os.environ |= dict.fromkeys(_THREADS, str(threads))  # Read when NumPy is imported, before any code of ours.
        try:
            self._child.start()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
        theirs.close()

    def begin(self, task: Task) -> None:
        """Give the worker, which must be idle, a task."""
        self.task = task
        self.connection.send(task)

    def receive(self) -> Message:
        """The next message.

        Raises:
            EOFError: The process has ended.
        """
        try:
            message: Message = self.connection.recv()
        except OSError:
            raise EOFError from None
        return message

    def exit_code(self) -> int | None:
        """Exit code of a process that has ended; negative for a signal."""
        self._child.join(_GRACE_S)
        return self._child.exitcode

    def close(self) -> None:
        """End the process, which leaves a build resumable."""
        self.connection.close()
        if self._child.is_alive() and self.task is not None:
            self._child.terminate()
        self._child.join(_GRACE_S)
        if self._child.is_alive():
            self._child.kill()
            self._child.join()


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def ready(workers: list[Worker], seconds: float) -> list[Worker]:
    """Those of `workers` that have something to tell, or have ended."""
    found = wait([w.connection for w in workers], seconds)
    return [w for w in workers if w.connection in found]


def _work(connection: Connection, log_file: Path, threads: int) -> None:
    """Do tasks until the connection closes."""
    log_file.parent.mkdir(parents=True, exist_ok=True)
    with log_file.open("a") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    # Pyspark takes a main module without a file, as a child of `python -m PACKAGE` has, for its own tests, and exits.
    vars(sys.modules["__main__"]).setdefault("__file__", __file__)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides.
    signal.signal(signal.SIGTERM, _stop)
    threading.Thread(target=_follow_parent, daemon=True).start()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("quern").setLevel(logging.INFO)
    try:
        while True:
            _do(connection.recv(), connection)
            connection.send(Message("done"))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return


def _stop(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


def _follow_parent() -> None:
    """End this process with its parent, even where that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE_S)
        os._exit(1)


def _do(task: Task, connection: Connection) -> None:
    if isinstance(task, MakeBuild):
        try:
            connection.send(Message("build", task.build.id, make_build(task.build, task.root)))
        except Exception as error:  # a build that fails is a row of the results; the others go on
            logging.getLogger(__name__).warning("build failed: %s", task.build.id, exc_info=True)
            connection.send(Message("build", task.build.id, error=error_line(error), fault=_fault(error)))
        return
    for point, measure in measure_points(task):
        connection.send(Message("begun", point.id))
        try:
            connection.send(Message("point", point.id, measure()))
        except Exception as error:  # whatever one point does, the others must be measured
            logging.getLogger(__name__).warning("point failed: %s %s", point.dataset, point.label, exc_info=True)
            connection.send(Message("point", point.id, error=error_line(error), fault=_fault(error)))


def _fault(error: BaseException) -> int:
    """Number of the fault of the disk that ends a sweep; what may not be read is one dataset's own."""
    told = disk_fault(error)
    return 0 if told is None or told.fault is DiskFault.READ_ONLY else exit_code(error)


def error_line(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
