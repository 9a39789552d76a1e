"""Running a sweep: builds and points over processes, each result a file as soon as it is there.

    OUT/warehouses/DATASET/    one warehouse per dataset, whose memo all its builds share
    OUT/builds/ID.json         the snapshot that a build made
    OUT/points/ID.json         a point's figures per question
    OUT/logs/worker-PID.log    what builds and engines print

A sweep that was killed finds its files again: finished points are not computed anew, failed ones are tried again.
What builds cost is in the table `builds` of their warehouse.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from quern.indexes.catalog import Warehouse, WarehouseError
from quern.indexes.disk import DiskFault, disk_fault, exit_code, raise_for
from quern.indexes.storage import exclusive, write_text
from quern.jobs.core.progress import watched
from quern.jobs.core.work import core_count
from quern.pipelines.evaluation.sweep.measure import PointRecord, make_build, measure_point
from quern.pipelines.evaluation.sweep.plan import Build, Plan, Point
from quern.pipelines.evaluation.sweep.spec import Dataset, Sweep, SweepError

log = logging.getLogger(__name__)

_Record = TypeVar("_Record")
_GRACE_S = 10.0  # For a build that is stopped to leave its files in order.


class Results:
    """The files of a sweep, and what they say of its plan."""

    def __init__(self, out: Path, plan: Plan) -> None:
        self.out = out.absolute()
        self.plan = plan
        self.measured = self._read("points", plan.points, lambda row: PointRecord(**row))
        self.built = self._read("builds", [b.id for b in plan.builds], lambda row: str(row["snapshot"]))
        self.failed: dict[str, str] = {}
        self.reused = len(self.measured)

    def _read(self, folder: str, ids: Iterable[str], record: Callable[[dict[str, Any]], _Record]) -> dict[str, _Record]:
        records: dict[str, _Record] = {}
        for id_ in ids:
            path = self.out / folder / f"{id_}.json"
            try:
                records[id_] = record(json.loads(path.read_text("utf-8")))
            except FileNotFoundError:
                continue
            except (ValueError, TypeError, KeyError):
                log.warning("%s is damaged and will be computed anew", path)
        return records

    def warehouse(self, dataset: str) -> Path:
        """Where the builds of a dataset go."""
        return self.out / "warehouses" / dataset

    def keep(self, of: Build | Point, outcome: Outcome) -> None:
        """Keep what came of a build or a point; the error of a build is one of all its points."""
        if outcome.error:
            error = f"its build failed: {outcome.error}" if isinstance(of, Build) else outcome.error
            for point in of.points if isinstance(of, Build) else (of,):
                if point.id not in self.measured:
                    self.failed[point.id] = error
                    log.warning("point failed: dataset=%s %s: %s", point.dataset, point.label, error)
        elif outcome.point:
            self._write("points", of.id, asdict(outcome.point))
            self.measured[of.id] = outcome.point
            point = self.plan.points[of.id]
            log.info(
                "point=%d/%d dataset=%s %s seconds=%.2f",
                *(self.done(), len(self.plan.points), point.dataset, point.label, outcome.point.seconds),
            )
        else:
            self._write("builds", of.id, {"snapshot": outcome.snapshot})
            self.built[of.id] = outcome.snapshot

    def _write(self, folder: str, id_: str, row: dict[str, Any]) -> None:
        write_text(self.out / folder / f"{id_}.json", json.dumps(row, ensure_ascii=False) + "\n")

    def done(self) -> int:
        """Points that have figures or failed."""
        return len(self.measured) + len(self.failed)


@dataclass(frozen=True)
class Outcome:
    """What came of a task: a snapshot, the figures of a point, or an error."""

    snapshot: str = ""
    point: PointRecord | None = None
    error: str = ""


@dataclass(frozen=True)
class Task:
    """A build to make in the warehouse at `root`, or a point to measure on its snapshot `build_id`."""

    of: Build | Point
    root: Path
    build_id: str
    dataset: Dataset
    sweep: Sweep

    def run(self) -> Outcome:
        """Carry it out in a worker; an error is returned in words, as not every exception can be sent to a process.

        Raises:
            OSError: A disk is full or fails.
        """
        try:
            if isinstance(self.of, Build):
                return Outcome(snapshot=make_build(self.of, self.root))
            return Outcome(point=measure_point(self.of, self.root, self.build_id, self.dataset, self.sweep))
        except Exception as error:  # Whatever one point does, the others must be measured.
            log.warning("failed: %s %s", self.of.dataset, self.of.id, exc_info=True)
            fault = disk_fault(error)
            if fault is not None and fault.fault is not DiskFault.READ_ONLY:  # On such a disk all else would fail too.
                raise_for(exit_code(error), self.root.parents[1])
            return Outcome(error=f"{type(error).__name__}: {' '.join(str(error).split())}"[:500])


def run_sweep(plan: Plan, out: Path, jobs: int = 0) -> Results:
    """Compute the points of `plan` that are not in `out` yet, over `jobs` processes (0: one a core).

    Raises:
        SweepError: Another sweep writes to `out`, or it is no folder.
        OSError: A disk is full or fails; what was finished is kept.
    """
    busy = SweepError(f"another sweep is writing to {out}; wait for it or stop it")
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "sweep.lock").touch()
    except OSError as error:
        raise SweepError(f"--out {out} cannot be written to: {error.strerror}") from error
    with exclusive(out / "sweep.lock", busy):
        for left_over in out.glob("*/.tmp-*"):
            left_over.unlink()
        results = Results(out, plan)
        cores = core_count(plan.builds[0].settings.engine)
        with watched("sweep", len(plan.points), results.done):
            for tasks in _rounds(results):
                _run(tasks, results, jobs or cores, max(1, cores // (jobs or cores)))
    return results


def _rounds(results: Results) -> Iterator[list[Task]]:
    """What can run at once: the next build of each dataset, and the points of the builds made before."""
    plan = results.plan

    def task(of: Build | Point, build_id: str = "") -> Task:
        return Task(of, results.warehouse(of.dataset), build_id, plan.sources[of.dataset], plan.sweep)

    snapshots = {name: _snapshots(results.warehouse(name)) for name in plan.sources}
    made: list[Build] = []
    left = defaultdict[str, deque[Build]](deque)
    for build in plan.builds:
        built = results.built.get(build.id)
        if all(point.id in results.measured for point in build.points):
            continue
        if built in snapshots[build.dataset]:
            made.append(build)
        else:
            left[build.dataset].append(build)
    while made or any(left.values()):
        builds = [queue.popleft() for queue in left.values() if queue]
        points = [
            task(point, results.built[build.id])
            for build in made
            for point in build.points
            if point.id not in results.measured
        ]
        yield [*map(task, builds), *points]
        made = [build for build in builds if build.id in results.built]


def _snapshots(root: Path) -> frozenset[str]:
    try:
        return frozenset(Warehouse.open(root).snapshot_ids())
    except WarehouseError:
        return frozenset()


def _run(tasks: Sequence[Task], results: Results, jobs: int, threads: int) -> None:
    """Carry out `tasks`, `jobs` at a time, and keep what comes of each.

    A process that is killed, as the kernel does for memory, breaks the pool. What is left is then tried again one by
    one, until a task breaks that pool too: it is the one that failed.
    """
    left, width = list(tasks), jobs
    # No fork: a process with threads, as those of Arrow, may hang in its child.
    context = multiprocessing.get_context("spawn")
    while left:
        arguments = (results.out / "logs", threads)
        with ProcessPoolExecutor(width, mp_context=context, initializer=_start_worker, initargs=arguments) as pool:
            futures = {pool.submit(task.run): task for task in left}
            try:
                for future in as_completed(futures):
                    results.keep(futures[future].of, future.result())
                    left.remove(futures[future])
            except BrokenProcessPool:
                if width == 1:
                    killed = f"its process was killed; {results.out / 'logs'} holds what it printed"
                    results.keep(left.pop(0).of, Outcome(error=killed))
                width = 1 if width > 1 else jobs
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in multiprocessing.active_children():
                    process.terminate()
                wait(futures, _GRACE_S)
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
