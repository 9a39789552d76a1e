"""Ray: runs jobs as `map_batches` of Ray Data on actors that hold the model.

Ray ends the process that drives it when its own processes die, so a child of this process does that.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psutil
import pyarrow as pa

from quern.indexes.disk import DiskFault, disk_fault, free_bytes
from quern.jobs.core.work import PART, EngineError, Ran, Work, core_count, did_not_start, died, in_short, stopped
from quern.jobs.engines.child import Call, Child, ChildDiedError, results
from quern.jobs.engines.nodes import asked, check, describing, lost_after, see_that_it_listens
from quern.jobs.engines.scratch import Scratch
from quern.schemas.errors import QuernError
from quern.schemas.extras import require
from quern.schemas.settings import EngineSettings

log = logging.getLogger(__name__)

_ENVIRONMENT: Final = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
# Ray's own switch for systems on which it runs on one machine alone: each of its processes then listens on the loopback
# address. Without it they listen on all addresses, and an address given as 127.0.0.1 is replaced by the machine's.
_ONE_MACHINE: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
# Without them Ray does nothing: it starts a worker or an actor that dies again.
_VITAL: Final = ("gcs_server", "raylet")

# Of a disk where Ray did not start: it starts with .4 MiB, and did not with 16 KiB (tried on Ray 2.60).
_LEAST_BYTES: Final = 1 << 20


_NO_ANSWER: Final = "the head did not answer"
_ALIKE: Final = "all nodes and this machine need one version of Ray and Python, and one RAY_AUTH_MODE and token"
_NO_NODE: Final = "not all nodes answered: `ray status` and the logs of the nodes say why"


class RayEngine:
    """Runs jobs as `map_batches` of Ray Data on actors that hold the model, started on first use."""

    name = "ray"

    def __init__(self, settings: EngineSettings, folder: Path | None = None) -> None:
        """A Ray that is not started; the nodes of a cluster are to see `folder` as this machine does."""
        self._settings, self._folder = settings, folder
        self._child: Child | None = None
        self._vital: dict[str, psutil.Process] = {}
        self._scratch: Scratch | None = None
        self._failed = False

    def run(self, work: Work) -> Ran:
        """Names of files go to actors; only names of committed parts come back."""
        for _ in self.call(_compute, work):
            pass
        return Ran(self.name)

    def each(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """`function`, pickled by name, of each of `items`, in tasks of one core, as they end.

        Items are made as tasks end: there is one more than there are cores. Raises EngineError: Ray does not start, or
        a task failed for good.
        """
        return self.call(_each, function, items=items)

    def call(
        self,
        function: Call,
        *arguments: Any,
        items: Iterable[Any] = (),
        check: Callable[[], None] = lambda: None,
        patience: float = 0.0,
    ) -> Iterator[Any]:
        """What a function says that the process which drives Ray runs; see `child.Call`.

        Args:
            function: What is run.
            *arguments: What it is given.
            items: What it takes one by one.
            check: Called every second while it says nothing.
            patience: Seconds that it has to see that nobody listens, where it is stopped before its end.

        Raises EngineError: Ray does not start, or died.
        """
        child = self.start()
        address, seconds = self._settings.ray_address, self._settings.cluster_seconds
        there = lost_after("Ray", address, seconds) if address and address != "auto" else lambda: None

        def look() -> None:
            # What drives Ray would wait a minute for a process that died.
            if self._dead():
                raise ChildDiedError("Ray")
            there()
            check()

        try:
            child.begin(function, *arguments)
            yield from results([child], items, look)
        except BaseException as error:
            # Where there is no room its logs would take what is left, at each try anew.
            full = (fault := disk_fault(error)) is not None and fault.fault is DiskFault.FULL
            self._failed = isinstance(error, QuernError) and not full
            killed = (child.process.poll() or 0) < 0  # Ray's processes end with it, and are no cause.
            dead = "" if killed else " and ".join(self._dead())
            self.close(patience)  # It is in the middle of its work.
            if isinstance(error, ChildDiedError):
                raise died("Ray", f"its {dead} died" if dead else str(error)) from error
            raise

    def free_gpus(self) -> None:
        """End the actors that are kept from call to call, as others need their GPUs."""
        if self._child is not None:
            for _ in self.call(let_go):
                pass

    def _dead(self) -> list[str]:
        dead = []
        for name, process in self._vital.items():
            with suppress(psutil.NoSuchProcess):
                if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                    continue
            dead.append(name)
        return dead

    def start(self) -> Child:
        """The process that drives Ray, a local one or the cluster's; it is started if it does not run yet.

        Raises EngineError: it does not start; MissingExtraError: Ray is not installed.
        """
        if self._child is not None:
            return self._child
        require("ray", "the engine Ray", "use --engine local")
        address = self._settings.ray_address
        log.info("engine=ray address=%s starting", address or "local")
        environment = {name: os.environ.get(name, value) for name, value in _ENVIRONMENT.items()}
        options: dict[str, Any] = {"address": address}
        if address and address != "auto":
            see_that_it_listens("Ray", address)
        if not address:
            self._scratch = Scratch("ray", short=True)
            environment |= {**self._scratch.mark, **_ONE_MACHINE}
            options = {
                # One logical core more than there are: reading never has to wait for the actor that computes.
                "num_cpus": core_count(self._settings) + 1,
                "include_dashboard": False,
                "object_store_memory": 256 << 20,
                "_temp_dir": str(self._scratch.path),
            }
        try:
            child = self._child = Child(**environment)
            child.begin(_init, options | self._settings.ray_init)
            list(results([child], check=self._until(_NO_ANSWER)))
            if address:
                with asked(self._folder) as arguments:
                    child.begin(_describe, *arguments)
                    nodes = list(results([child], check=self._until(_NO_NODE)))
                    check(describing(*arguments)(None), nodes, self._folder)
            else:
                started = {process.name(): process for process in psutil.Process(child.process.pid).children()}
                self._vital = {name: process for name, process in started.items() if name in _VITAL}
        except Exception as error:  # Ray raises many kinds; all mean that it did not start
            # A disk that has no room for the files of a local Ray: Ray tells it as a timeout.
            full = self._scratch.path if self._scratch and free_bytes(self._scratch.path) < _LEAST_BYTES else None
            if self._child is not None:
                self._child.close()  # It has not joined: there is nothing to leave in order.
                self._child = None
            self.close()
            if full is not None:
                no_room = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(full.parent))
                raise EngineError("Ray did not start") from no_room
            reason = str(getattr(error, "strerror", None) or error)
            alike = f"; {_ALIKE}" if address and not isinstance(error, EngineError) else ""
            raise did_not_start("Ray", in_short(reason) + alike, address) from error
        except BaseException:
            self.close()
            raise
        return child

    def _until(self, fault: str) -> Callable[[], None]:
        """What raises, once a cluster has had its time to answer."""
        seconds, began = self._settings.cluster_seconds, time.monotonic()

        def look() -> None:
            if self._settings.ray_address and time.monotonic() - began > seconds:
                raise EngineError(f"within {seconds} s (engine.cluster_seconds) {fault}")

        return look

    def close(self, patience: float = 0.0) -> None:
        """Stop a local Ray, or leave the cluster; its logs stay only where something failed, to say why."""
        child, self._child, self._vital = self._child, None, {}
        failed, self._failed = self._failed, False
        if child is not None:
            child.close(patience if self._scratch else max(patience, 5.0))
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            if failed:
                log.warning("engine=ray logs=%s", scratch.path)
            scratch.close(keep=failed)


def _init(_items: object, _say: object, options: dict[str, Any]) -> None:
    """Start Ray, or join it, without a word."""
    import ray
    import ray.data

    # It warns of its default, a token for the local cluster, which is what is wanted.
    logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False, "configure_logging": False}
    ray.init(**{**quiet, **options})
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    # What goes wrong is told once, by the engine.
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)


def _describe(_items: object, say: Callable[[Any], None], probe: str, packages: list[str]) -> None:
    """Say what each node is like that has cores."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    look = ray.remote(num_cpus=0, max_retries=0)(describing(probe, packages))
    nodes = _nodes()
    on = [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
    answers = [look.options(scheduling_strategy=strategy).remote(None) for strategy in on]
    for node, answer in zip(nodes, answers, strict=True):
        try:
            say(ray.get(answer))
        except ray.exceptions.RayError:
            if node in _nodes():  # Else it left meanwhile, and is given nothing.
                raise


def _nodes() -> list[str]:
    import ray

    return [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]


_held: dict[str, Any] = {}


def held(key: Mapping[str, object], make: Callable[[], list[Any]]) -> list[Any]:
    """Actors that the process which drives Ray keeps from call to call: those of `key`; others are let go for them."""
    name = json.dumps(key, sort_keys=True, default=str)
    if name not in _held:
        let_go()
        _held[name] = make()
    actors: list[Any] = _held[name]
    return actors


def let_go(*_: object) -> None:
    """End the actors that are kept, so that others have their GPUs and their memory."""
    import ray

    for actor in [actor for actors in _held.values() for actor in actors]:
        ray.kill(actor)
    _held.clear()


def _compute(_items: object, _say: object, work: Work) -> None:
    import ray
    import ray.data

    if work.job.engine == "model":
        let_go()
    files = [{"file": str(p)} for p in work.files]
    gpus = work.job.gpus
    if gpus and ray.cluster_resources().get("GPU", 0) < gpus:
        raise EngineError(f"the job {work.job.name} is to run on GPUs, and Ray has none; set the device to cpu")

    class Worker:
        """Applies the job to the files it is named; the model stays loaded between files.

        It carries the work itself, so that a restarted actor has it too, and reads the files itself: what is computed
        need not pass through the object store.
        """

        def __call__(self, names: pa.Table) -> pa.Table:
            files = [Path(name) for name in names["file"].to_pylist()]
            return pa.Table.from_batches(work.compute_files(files), schema=PART)

    # One actor a GPU or a node, as a model uses all cores of its node, and no more than files wait for. One core of a
    # node stays free for what feeds them.
    nodes = [int(cores) for node in ray.nodes() if node["Alive"] and (cores := node["Resources"].get("CPU"))]
    most = len(files) if gpus else min(len(nodes), len(files))
    parts = ray.data.from_items(files, override_num_blocks=len(files)).map_batches(
        Worker,
        batch_size=1,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=most),
        num_cpus=0 if gpus else max(1, min(nodes) - 1),
        num_gpus=gpus or None,
    )
    try:
        for _ in parts.iter_batches(batch_format="pyarrow", batch_size=None):
            pass
    except Exception as error:  # Ray raises many kinds
        raise stopped("Ray", f"the job {work.job.name}", error) from error


def _each(items: Iterator[Any], say: Callable[[Any], None], function: Callable[[Any], Any]) -> None:
    """Say what `function` makes of each of `items`."""
    import ray

    def run(item: Any) -> Any:  # Ray takes functions alone, and no partial ones.
        return function(item)

    task = ray.remote(num_cpus=1)(run)
    most = int(ray.cluster_resources().get("CPU", 1)) + 1
    running: list[Any] = []
    try:
        for item in items:
            if len(running) == most:
                (done,), running = ray.wait(running)
                say(ray.get(done))
            running.append(task.remote(item))
        while running:
            (done,), running = ray.wait(running)
            say(ray.get(done))
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, QuernError | OSError):
            raise error.cause from None  # Ray's class of it is known to no other process.
        raise stopped("Ray", "a task", error) from error
    except ray.exceptions.RayError as error:
        raise EngineError(f"Ray stopped: {error}") from error
