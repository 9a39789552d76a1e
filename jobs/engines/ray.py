"""Ray: runs jobs as `map_batches` of Ray Data on actors that hold the model."""

from __future__ import annotations

import errno
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from quern.indexes.disk import DiskFault, disk_fault, free_bytes
from quern.jobs.core.work import PART, EngineError, Ran, Work, core_count, stopped
from quern.jobs.engines.scratch import Scratch
from quern.schemas.extras import require
from quern.schemas.settings import EngineSettings

log = logging.getLogger(__name__)

# Ray's own switch for systems on which it runs on one machine alone: each of its processes then listens on the loopback
# address. Without it they listen on all addresses, and an address given as 127.0.0.1 is replaced by the machine's.
_ONE_MACHINE: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

# Of a disk where Ray did not start: it starts with .4 MiB, and did not with 16 KiB (tried on Ray 2.60).
_LEAST_BYTES: Final = 1 << 20


def _ray_actor(work: Work) -> type:
    """The class of Ray actors that do `work`; it carries the work itself, so that a restarted actor has it too."""

    class Worker:
        """Applies the job to the files it is named; the model stays loaded between files.

        It reads the files itself: what is computed need not pass through the object store.
        """

        def __call__(self, names: pa.Table) -> pa.Table:
            files = [Path(name) for name in names["file"].to_pylist()]
            parts = [work.compute(batch) for batch in work.batches(files)]
            return pa.Table.from_batches(parts, schema=PART)

    return Worker


class RayEngine:
    """Runs jobs as `map_batches` of Ray Data on actors that hold the model, started on first use."""

    name = "ray"

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._started = False
        self._scratch: Scratch | None = None
        self._failed = False

    def run(self, work: Work) -> Ran:
        """Names of files go to actors; only names of committed parts come back."""
        self.start()
        import ray
        import ray.data

        # One actor a node: a model uses all cores of its node.
        workers = len([n for n in ray.nodes() if n["Alive"]])
        files = [{"file": str(p)} for p in work.files]
        parts = ray.data.from_items(files, override_num_blocks=len(files)).map_batches(
            _ray_actor(work),
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=min(workers, len(files))),
            num_cpus=1,
        )
        try:
            for _ in parts.iter_batches(batch_format="pyarrow", batch_size=None):
                pass
        except Exception as error:  # Ray raises many kinds
            # Where there is no room its logs would take what is left, at each try anew.
            self._failed = (told := disk_fault(error)) is None or told.fault is not DiskFault.FULL
            raise stopped("Ray", work, error) from error
        return Ran(self.name)

    def each(self, function: Callable[[Any], Any], items: Iterable[Any], size: Callable[[Any], int]) -> Iterator[Any]:
        """`function` of each of `items`, in tasks of one core, as they end.

        Args:
            function: What is done; pickled by name.
            items: Made as tasks end: one more than there are cores, or fewer, so that they fill no more than half of
                this machine's object store.
            size: Bytes of an item.

        Raises:
            EngineError: Ray does not start, or a task failed for good.
        """
        self.start()
        import ray

        task = ray.remote(num_cpus=1)(function)
        most = int(ray.cluster_resources().get("CPU", 1)) + 1
        room = _object_store() // 2
        running: dict[Any, int] = {}
        try:
            for item in items:
                taken = size(item)
                while running and (len(running) >= most or sum(running.values()) + taken > room):
                    yield _next(running)
                running[task.remote(item)] = taken
            while running:
                yield _next(running)
        except ray.exceptions.RayError as error:
            self._failed = True
            raise EngineError(f"Ray stopped: {error}") from error
        finally:
            for left in running:
                ray.cancel(left)

    def start(self) -> None:
        """Start a local Ray, or join the cluster.

        Raises:
            EngineError: It does not start.
            MissingExtraError: Ray is not installed.
        """
        if self._started:
            return
        require("ray", "the engine Ray", "use --engine local")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        address = self._settings.ray_address
        log.info("engine=ray address=%s starting", address or "local")
        try:
            with _stoppable():
                if address:
                    self._init(address=address)
                else:
                    self._init_here()
        except Exception as error:  # Ray raises many kinds; all mean that it did not start
            no_room = self._no_room()
            self.close()
            if no_room is not None:
                raise EngineError("Ray did not start") from no_room
            raise EngineError(f"Ray did not start ({error}); --engine local runs without it") from error
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        # What goes wrong is told once, by this engine.
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)

    def _no_room(self) -> OSError | None:
        """The fault of a disk that has no room for the files of a local Ray: Ray tells it as a timeout."""
        if self._scratch is None or free_bytes(self._scratch.path) >= _LEAST_BYTES:
            return None
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._scratch.path.parent))

    def _init_here(self) -> None:
        """Start a Ray of this machine alone, which nobody outside it can reach, and which ends with this process."""
        self._scratch = Scratch("ray", short=True)
        with self._scratch.marking(**_ONE_MACHINE):
            self._init(
                # One logical core more than there are: reading never has to wait for the actor that computes.
                num_cpus=core_count(self._settings) + 1,
                include_dashboard=False,
                object_store_memory=self._settings.ray_object_store << 20,
                _temp_dir=str(self._scratch.path),
            )
        import ray.util

        if not ip_address(ray.util.get_node_ip_address()).is_loopback:
            raise EngineError(
                f"`ray` was imported before, and listens on all addresses; set {next(iter(_ONE_MACHINE))}=0 before"
            )

    def _init(self, **options: Any) -> None:
        """Start Ray, or join it, without a word."""
        import ray

        # It warns of its default, a token for the local cluster, which is what is wanted.
        logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
        if ray.is_initialized():
            raise EngineError("this process runs a Ray already")
        self._started = True
        ray.init(logging_level=logging.ERROR, log_to_driver=False, configure_logging=False, **options)

    def close(self) -> None:
        """Stop a local Ray, or leave the cluster; its logs stay only where something failed, to say why."""
        if self._started:
            import ray

            ray.shutdown()
            self._started = False
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            if self._failed:
                log.warning("engine=ray logs=%s", scratch.path)
            scratch.close(keep=self._failed)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Obey what asks this process to stop once Ray has started: interrupted half-way it crashes, or forgets about it.

    It also takes SIGTERM to exit at once; a build must first give its engines and locks back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, action in before.items():
        if callable(action):
            signal.signal(number, lambda number, _: asked.append(number))
    try:
        yield
    except SystemExit:
        asked.append(signal.SIGTERM)
    finally:
        for number, action in before.items():
            if action is not None:  # One that is not of Python's cannot be put back.
                signal.signal(number, action)
        if asked:
            raise KeyboardInterrupt


def _next(running: dict[Any, int]) -> Any:
    """The result of the first task that ends; it is taken out of `running`."""
    import ray

    (done,), _ = ray.wait([*running])
    del running[done]
    return ray.get(done)


def _object_store() -> int:
    """Bytes of this machine's object store."""
    import ray

    here = ray.get_runtime_context().get_node_id()
    stores = [n["Resources"].get("object_store_memory", 0) for n in ray.nodes() if n["NodeID"] == here]
    return int(stores[0]) if stores else 0
