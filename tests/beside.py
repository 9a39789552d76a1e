"""Long builds beside the tests: processes of low priority, mostly on the time that the tests leave idle."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

# With a tenth of the weight of a test: low, but no build starves into the time limits of its engines.
_NICENESS = 10
_STOP_SECONDS = 30.0

Arguments = Sequence[object]
Start = Callable[..., "subprocess.Popen[str]"]


def end(process: subprocess.Popen[str]) -> None:
    """End a process as an orchestrator does, so that a build closes its engines; kill it if that takes too long."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_SECONDS)
    process.kill()


class LongBuilds:
    """Builds of warehouses under one folder, one after the other in the order given; all end with `stop`."""

    def __init__(self, start: Start, folder: Path, wanted: Mapping[str, Arguments]) -> None:
        """Args: `start` starts the command line; `wanted` has the arguments of each build but its warehouse."""
        self._start = start
        self._folder = folder
        self._lock = threading.Lock()
        self._stopped = False
        self._running: subprocess.Popen[str] | None = None
        self._queue = ThreadPoolExecutor(max_workers=1)
        self._ended = {name: self._queue.submit(self._build, name, a) for name, a in wanted.items()}

    def _build(self, name: str, arguments: Arguments) -> tuple[int, str]:
        """Exit code and standard error of a build."""
        with self._lock:
            if self._stopped:
                raise RuntimeError("the tests have ended")
            self._running = self._start("build", *arguments, "--warehouse", self._folder / name)
            # Threads and processes that it starts inherit this.
            os.setpriority(os.PRIO_PROCESS, self._running.pid, _NICENESS)
        _, errors = self._running.communicate()
        return self._running.returncode, errors

    def warehouse(self, name: str) -> Path:
        """The warehouse of the build `name`, once it is built."""
        code, errors = self._ended[name].result()
        assert code == 0, f"the build {name} ended with {code}:\n{errors}"
        return self._folder / name

    def stop(self) -> None:
        """End the build that runs, and start no other."""
        with self._lock:
            self._stopped = True
            running = self._running
        self._queue.shutdown(wait=False, cancel_futures=True)
        if running:
            end(running)
