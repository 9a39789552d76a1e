"""Running a sweep: builds and points over processes, each result a file as soon as it is there.

    OUT/warehouses/DATASET/    one warehouse per dataset, whose memo all its builds share
    OUT/builds/ID.json         what a build made and cost
    OUT/points/ID.json         a point's figures per question; ID.failed.json what went wrong with it
    OUT/logs/worker-PID.log    what builds and engines print

A sweep that was killed finds its files again: finished points are not computed anew, failed ones are tried again.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from quern.indexes.catalog import Warehouse, WarehouseError
from quern.indexes.disk import DiskFault, disk_fault, exit_code, raise_for
from quern.indexes.storage import exclusive, write_text
from quern.jobs.core.progress import watched
from quern.jobs.core.work import core_count
from quern.pipelines.evaluation.sweep.measure import BuildRecord, PointRecord, make_build, measure_point
from quern.pipelines.evaluation.sweep.plan import Build, Plan, Point
from quern.pipelines.evaluation.sweep.spec import Dataset, Sweep, SweepError

log = logging.getLogger(__name__)

_GRACE_S = 10.0  # For a build that is stopped to leave its files in order.
_Record = TypeVar("_Record", BuildRecord, PointRecord)


class Results:
    """The files of a sweep, and what they say of its plan."""

    def __init__(self, out: Path, plan: Plan) -> None:
        self.out = out.absolute()
        self.plan = plan
        self.measured: dict[str, PointRecord] = self._read("points", plan.points, PointRecord)
        self.built: dict[str, BuildRecord] = self._read("builds", {b.id: b for b in plan.builds}, BuildRecord)
        self.failed: dict[str, str] = {}
        self.reused = len(self.measured)

    def _read(self, folder: str, wanted: dict[str, Any], kind: type[_Record]) -> dict[str, _Record]:
        found: dict[str, _Record] = {}
        for id_ in wanted:
            path = self.out / folder / f"{id_}.json"
            try:
                found[id_] = kind(**json.loads(path.read_text("utf-8")))
            except FileNotFoundError:
                continue
            except (ValueError, TypeError):
                log.warning("%s is damaged and will be computed anew", path)
        return found

    def warehouse(self, dataset: str) -> Path:
        """Where the builds of a dataset go."""
        return self.out / "warehouses" / dataset

    def record(self, id_: str, record: BuildRecord | PointRecord) -> None:
        """Keep a result."""
        folder = "builds" if isinstance(record, BuildRecord) else "points"
        write_text(self.out / folder / f"{id_}.json", json.dumps(asdict(record)) + "\n")
        if isinstance(record, BuildRecord):
            self.built[id_] = record
            return
        self.measured[id_] = record
        (self.out / "points" / f"{id_}.failed.json").unlink(missing_ok=True)
        point = self.plan.points[id_]
        log.info(
            "point=%d/%d dataset=%s %s seconds=%.2f",
            *(self.done(), len(self.plan.points), point.dataset, point.label, record.seconds),
        )

    def record_failure(self, id_: str, error: str) -> None:
        """Keep what went wrong with a point."""
        point = self.plan.points[id_]
        row = {"dataset": point.dataset, "point": point.label, "error": error}
        write_text(self.out / "points" / f"{id_}.failed.json", json.dumps(row, ensure_ascii=False) + "\n")
        self.failed[id_] = error
        log.warning("point failed: dataset=%s %s: %s", point.dataset, point.label, error)

    def done(self) -> int:
        """Points that have figures or failed."""
        return len(self.measured) + len(self.failed)


@dataclass(frozen=True)
class _Task:
    """A build to make in the warehouse at `root`, or a point to measure on its snapshot `build_id`."""

    of: Build | Point
    root: Path
    build_id: str
    dataset: Dataset
    sweep: Sweep

    def run(self) -> BuildRecord | PointRecord | _Failure:
        """Carry it out in a worker; errors are told in words, as not every exception can be sent to another process.

        Raises:
            OSError: A disk is full or fails.
        """
        try:
            if isinstance(self.of, Build):
                return make_build(self.of, self.root)
            return measure_point(self.of, self.root, self.build_id, self.dataset, self.sweep)
        except Exception as error:  # Whatever one point does, the others must be measured.
            log.warning("failed: %s %s", self.of.dataset, self.of.id, exc_info=True)
            fault = disk_fault(error)
            if fault is not None and fault.fault is not DiskFault.READ_ONLY:  # On such a disk all else would fail too.
                raise_for(exit_code(error), self.root.parents[1])
            return _Failure(f"{type(error).__name__}: {' '.join(str(error).split())}"[:500])


@dataclass(frozen=True)
class _Failure:
    """What went wrong."""

    error: str


class _Schedule:
    """What is to be done next; builds of one dataset come one after the other."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.ready: deque[_Task] = deque()
        self._builds: dict[str, deque[Build]] = {name: deque() for name in results.plan.sources}
        for build in results.plan.builds:
            if all(p.id in results.measured for p in build.points):
                continue
            built = results.built.get(build.id)
            if built and built.build_id in _snapshots(results.warehouse(build.dataset)):
                self._measure(build, built)
            else:
                self._builds[build.dataset].append(build)
        for name in self._builds:
            self._build_next(name)

    def _task(self, of: Build | Point, build_id: str = "") -> _Task:
        plan = self.results.plan
        return _Task(of, self.results.warehouse(of.dataset), build_id, plan.sources[of.dataset], plan.sweep)

    def _measure(self, build: Build, built: BuildRecord) -> None:
        open_ = (point for point in build.points if point.id not in self.results.measured)
        self.ready += (self._task(point, built.build_id) for point in open_)

    def _build_next(self, dataset: str) -> None:
        if self._builds[dataset]:  # First, as others wait for it.
            self.ready.appendleft(self._task(self._builds[dataset].popleft()))

    def finish(self, task: _Task, outcome: BuildRecord | PointRecord | _Failure) -> None:
        """Keep what came of a task, and make ready what waited for it."""
        if isinstance(outcome, _Failure):
            for point in task.of.points if isinstance(task.of, Build) else ():
                if point.id not in self.results.measured:
                    self.results.record_failure(point.id, f"its build failed: {outcome.error}")
            if isinstance(task.of, Point):
                self.results.record_failure(task.of.id, outcome.error)
        else:
            self.results.record(task.of.id, outcome)
        if isinstance(task.of, Build):
            if isinstance(outcome, BuildRecord):
                self._measure(task.of, outcome)
            self._build_next(task.of.dataset)


def _snapshots(root: Path) -> frozenset[str]:
    try:
        return frozenset(Warehouse.open(root).snapshot_ids())
    except WarehouseError:
        return frozenset()


def run_sweep(plan: Plan, out: Path, jobs: int = 0) -> Results:
    """Compute the points of `plan` that are not in `out` yet, over `jobs` processes (0: one a core).

    A process that is killed, as the kernel does for memory, breaks the pool. What was under way is then tried again one
    by one, and a task that breaks a pool of its own is the one that failed.

    Raises:
        SweepError: Another sweep writes to `out`, or it is no folder.
        OSError: A disk is full or fails; what was finished is kept.
    """
    with _lock(out):
        for left_over in out.glob("*/.tmp-*"):
            left_over.unlink()
        results = Results(out, plan)
        schedule = _Schedule(results)
        cores = core_count(plan.builds[0].settings.engine)
        jobs = width = jobs or cores
        with watched("sweep", len(plan.points), results.done):
            while schedule.ready:
                under_way: dict[Future[Any], _Task] = {}
                try:
                    _run(schedule, under_way, width, max(1, cores // jobs))
                except BrokenProcessPool:
                    suspects = list(under_way.values())
                    if len(suspects) == 1:
                        error = f"its process was killed; {results.out / 'logs'} holds what it printed"
                        schedule.finish(suspects[0], _Failure(error))
                        width = jobs
                    else:
                        schedule.ready.extendleft(reversed(suspects))
                        width = 1
    return results


def _run(schedule: _Schedule, under_way: dict[Future[Any], _Task], width: int, threads: int) -> None:
    """Carry out all that is ready and becomes ready, `width` tasks at a time.

    Raises:
        BrokenProcessPool: A process was killed; `under_way` has what the pool was at.
        OSError: A disk is full or fails.
    """
    arguments = (schedule.results.out / "logs", threads)
    # No fork: a process with threads, as those of Arrow, may hang in its child.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(width, mp_context=context, initializer=_start_worker, initargs=arguments) as pool:
        try:
            while schedule.ready or under_way:
                while schedule.ready and len(under_way) < width:
                    under_way[pool.submit(schedule.ready[0].run)] = schedule.ready[0]
                    schedule.ready.popleft()
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    outcome = future.result()
                    schedule.finish(under_way.pop(future), outcome)
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            wait(under_way, _GRACE_S)
            for process in multiprocessing.active_children():
                process.kill()
            raise


def _start_worker(logs: Path, threads: int) -> None:
    """Prepare a process of the pool: what it prints goes to a file, and it ends with the sweep, even one killed."""
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / f"worker-{os.getpid()}.log").open("a") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    # Pyspark takes a main module without a file, as a child of `python -m PACKAGE` has, for its own tests, and exits.
    vars(sys.modules["__main__"]).setdefault("__file__", __file__)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides.
    signal.signal(signal.SIGTERM, _stop)
    threading.Thread(target=_follow_parent, daemon=True).start()
    threadpool_limits(threads)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("quern").setLevel(logging.INFO)


def _stop(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(_GRACE_S)
        os._exit(1)


@contextmanager
def _lock(out: Path) -> Iterator[None]:
    busy = SweepError(f"another sweep is writing to {out}; wait for it or stop it")
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "sweep.lock").touch()
    except OSError as error:
        raise SweepError(f"--out {out} cannot be written to: {error.strerror}") from error
    with exclusive(out / "sweep.lock", busy):
        yield
