"""Running a sweep: builds and points over worker processes, each result a file as soon as it is there.

    OUT/warehouses/DATASET/    one warehouse per dataset, whose memo all its builds share
    OUT/builds/ID.json         what a build made and cost
    OUT/points/ID.json         a point's figures per question; ID.failed.json what went wrong with it
    OUT/logs/worker-N.log      what builds and engines print

A sweep that was killed finds its files again: finished points are not computed anew, failed ones are tried again.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from quern.indexes.catalog import Warehouse, WarehouseError
from quern.indexes.disk import raise_for
from quern.indexes.storage import exclusive, write_text
from quern.jobs.core.progress import watched
from quern.jobs.core.work import core_count
from quern.pipelines.evaluation.sweep.measure import BuildRecord, PointRecord
from quern.pipelines.evaluation.sweep.plan import Build, Plan
from quern.pipelines.evaluation.sweep.spec import SweepError
from quern.pipelines.evaluation.sweep.tasks import MakeBuild, MeasurePoints, Message, Task
from quern.pipelines.evaluation.sweep.worker import Worker, ready

log = logging.getLogger(__name__)

_PART = 8  # Points of one task: few enough that all workers have some.
_POLL_S = 1.0
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

    def record(self, folder: str, id_: str, record: BuildRecord | PointRecord) -> None:
        """Keep a result."""
        write_text(self.out / folder / f"{id_}.json", json.dumps(asdict(record)) + "\n")
        if isinstance(record, BuildRecord):
            self.built[id_] = record
        else:
            self.measured[id_] = record
            (self.out / "points" / f"{id_}.failed.json").unlink(missing_ok=True)

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


class _Schedule:
    """What is to be done next; builds of one dataset come one after the other."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._measures: deque[MeasurePoints] = deque()
        self._builds: dict[str, deque[Build]] = {name: deque() for name in results.plan.sources}
        self._building: set[str] = set()
        self.snapshots = {name: _snapshots(results.warehouse(name)) for name in results.plan.sources}
        for build in results.plan.builds:
            if all(p.id in results.measured for p in build.points):
                continue
            built = results.built.get(build.id)
            if built and built.build_id in self.snapshots[build.dataset]:
                self.measure(build, built)
            else:
                self._builds[build.dataset].append(build)

    def measure(self, build: Build, built: BuildRecord) -> None:
        """Have the points of a build measured that are not yet."""
        plan = self.results.plan
        open_ = [p for p in build.points if p.id not in self.results.measured]
        root, dataset = self.results.warehouse(build.dataset), plan.sources[build.dataset]
        for at in range(0, len(open_), _PART):
            points = tuple(open_[at : at + _PART])
            self._measures.append(
                MeasurePoints(points, built.build_id, root, dataset, plan.sweep.metrics, plan.sweep.depth)
            )

    def again(self, task: MeasurePoints, lost: str) -> None:
        """Go on with the points of a task after the one that its worker died of."""
        ids = [p.id for p in task.points]
        rest = task.points[ids.index(lost) + 1 :] if lost in ids else ()
        if rest:
            self._measures.append(MeasurePoints(rest, *list(vars(task).values())[1:]))

    def next(self) -> Task | None:
        """The next task; None while there is none that may begin."""
        if self._measures:
            return self._measures.popleft()
        for name, builds in self._builds.items():
            if builds and name not in self._building:
                self._building.add(name)
                return MakeBuild(builds.popleft(), self.results.warehouse(name))
        return None

    def finished(self, task: Task) -> None:
        """Let the next build of a dataset begin."""
        if isinstance(task, MakeBuild):
            self._building.discard(task.build.dataset)


def _snapshots(root: Path) -> frozenset[str]:
    try:
        return frozenset(Warehouse.open(root).snapshot_ids())
    except WarehouseError:
        return frozenset()


def run_sweep(plan: Plan, out: Path, jobs: int = 0) -> Results:
    """Compute the points of `plan` that are not in `out` yet, over `jobs` processes (0: one a core).

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
        jobs = jobs or cores
        with watched("sweep", len(plan.points), results.done):
            _run(schedule, jobs, max(1, cores // jobs))
    return results


def _run(schedule: _Schedule, jobs: int, threads: int) -> None:
    workers: list[Worker] = []
    begun: dict[int, str] = {}
    count = 0
    logs = schedule.results.out / "logs"
    try:
        while True:
            while task := schedule.next() if len([w for w in workers if w.task]) < jobs else None:
                idle = [w for w in workers if w.task is None]
                if not idle:
                    count += 1
                    idle = [Worker(logs / f"worker-{count}.log", threads)]
                    workers += idle
                idle[0].begin(task)
            busy = [w for w in workers if w.task]
            if not busy:
                return
            for worker in ready(busy, _POLL_S):
                try:
                    _take(worker, worker.receive(), schedule, begun)
                except EOFError:
                    workers.remove(worker)
                    _bury(worker, schedule, begun.pop(id(worker), ""), logs)
    finally:
        for worker in workers:
            worker.close()


def _take(worker: Worker, message: Message, schedule: _Schedule, begun: dict[int, str]) -> None:
    """Act on what a worker tells.

    Raises:
        OSError: A disk is full or fails.
    """
    results, task = schedule.results, worker.task
    raise_for(message.fault, results.out)
    if message.about == "begun":
        begun[id(worker)] = message.id
    elif message.about == "point" and isinstance(message.result, PointRecord):
        results.record("points", message.id, message.result)
        _log_point(results, message.id)
    elif message.about == "point":
        results.record_failure(message.id, message.error)
    elif message.about == "build" and isinstance(task, MakeBuild):
        if isinstance(message.result, BuildRecord):
            results.record("builds", message.id, message.result)
            schedule.measure(task.build, message.result)
        else:
            _fail_build(task.build, results, message.error)
    elif message.about == "done" and task is not None:
        begun.pop(id(worker), None)
        worker.task = None
        schedule.finished(task)


def _fail_build(build: Build, results: Results, error: str) -> None:
    for point in build.points:
        if point.id not in results.measured:
            results.record_failure(point.id, f"its build failed: {error}")


def _bury(worker: Worker, schedule: _Schedule, lost: str, logs: Path) -> None:
    """Blame the point or build at which a worker died, and go on with the others."""
    task, code = worker.task, worker.exit_code()
    error = f"its process ended with exit code {code}; {logs} holds what it printed"
    if isinstance(task, MakeBuild):
        _fail_build(task.build, schedule.results, error)
    elif task is not None:
        lost = lost or task.points[0].id
        if lost not in schedule.results.measured:
            schedule.results.record_failure(lost, error)
        schedule.again(task, lost)
    if task is not None:
        schedule.finished(task)
    worker.close()


def _log_point(results: Results, id_: str) -> None:
    point, measured = results.plan.points[id_], results.measured[id_]
    first = results.plan.sweep.metrics[0]
    values = measured.values[first]
    log.info(
        "point=%d/%d dataset=%s %s %s=%.4f seconds=%.2f",
        results.done(),
        len(results.plan.points),
        point.dataset,
        point.label,
        first,
        fmean([v for v in values if not isnan(v)] or [0.0]),
        measured.seconds,
    )


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
