"""This machine's cores as an engine: this process and, where the work repays their start, processes beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from quern.jobs.core.work import Ran, Work, core_count, died
from quern.jobs.engines.child import Child, ChildDiedError, results
from quern.schemas.settings import EngineSettings

# Seconds of work left from which on workers are started: each takes a second of a core to import what jobs need.
_REPAYS: Final = 5.0

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class LocalEngine:
    """Runs CPU jobs on all cores of this machine, and models in this process, which use all cores themselves."""

    name = "local"

    def __init__(self, settings: EngineSettings) -> None:
        self._cores = core_count(settings)
        self._workers: list[Child] = []

    def run(self, work: Work) -> Ran:
        """Apply the job file by file."""
        for _ in self.each(work.compute_files, [[file] for file in work.files], alone=work.job.engine == "model"):
            pass
        return Ran(self.name)

    def each(
        self, function: Callable[[_Item], _Result], items: Sequence[_Item], *, alone: bool = False
    ) -> Iterator[_Result]:
        """`function`, of a module, of each of `items`, as they end.

        Args:
            function: What is done.
            items: What it is done to.
            alone: Whether it uses all cores itself.

        Raises EngineError: a worker died.
        """
        begun, pending = time.monotonic(), list(items)
        try:
            while pending and (alone or not self._workers or not all(worker.ready() for worker in self._workers)):
                yield function(pending.pop(0))
                seconds_left = (time.monotonic() - begun) / (len(items) - len(pending)) * len(pending)
                if not (alone or self._workers) and self._cores > 1 and seconds_left > _REPAYS:
                    self._workers = [Child() for _ in range(min(self._cores, len(pending)))]
            if pending:
                for worker in self._workers:
                    worker.begin(_each, function)
                yield from results(self._workers, pending)
        except ChildDiedError as error:
            self.close()
            raise died("a worker of the build", f"{error}, perhaps for want of memory") from error
        except BaseException:
            self.close()  # They are in the middle of their work.
            raise

    def close(self) -> None:
        """End the workers."""
        while self._workers:
            self._workers.pop().close()


def _each(items: Iterator[_Item], say: Callable[[_Result], None], function: Callable[[_Item], _Result]) -> None:
    for item in items:
        say(function(item))
