"""The crawl processes of one crawl: started, watched, started again while hosts of theirs have addresses left.

A host belongs to one process (`urls.worker_of`), and a process to one Ray actor; links to hosts of other processes
are handed over as files. `local` runs the processes from here, without Ray.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from quern.indexes.disk import raise_for
from quern.jobs.crawl.plan import CrawlFolder, Status
from quern.jobs.engines import RayEngine
from quern.schemas.errors import QuernError
from quern.schemas.settings import EngineSettings

_POLL_SECONDS: Final = 0.1
_CRASHES: Final = 3
_STOP_SECONDS: Final = 10.0


class CrawlError(QuernError):
    """A crawl that cannot go on; the message says what to do."""


class ProcessRunner:
    """Runs a crawl process as a child of this one."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, number: int, quota: int) -> None:
        """Start process `number`, which may have fetched `quota` pages before it ends (0: no limit)."""
        places = (self._folder.root, self._folder.warc, self._folder.memory)
        command = [sys.executable, "-m", "quern.jobs.crawl.worker", *map(str, places), str(number), str(quota)]
        paths = os.pathsep.join(p or str(Path.cwd()) for p in sys.path)
        with self._folder.log(number).open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": paths}
            )

    def exit_code(self) -> int | None:
        """How it ended; null while it runs."""
        return self._process.poll() if self._process else 0

    def stop(self) -> None:
        """Ask it to end, and kill it if it does not: the frontier survives that too."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class ActorRunner:
    """Runs a crawl process under a Ray actor, on any node of the cluster."""

    def __init__(self, folder: CrawlFolder) -> None:
        import ray

        self._ray = ray
        # An actor that dies comes back; its crawl process ends by itself, and is started anew.
        again = {"max_restarts": _CRASHES, "max_task_retries": _CRASHES}
        # It waits for the network more than it computes: a node may hold many, and each node gets some.
        room = {"num_cpus": 0.01, "scheduling_strategy": "SPREAD"}
        self._actor = ray.remote(**room, **again)(ProcessRunner).remote(folder)

    def start(self, number: int, quota: int) -> None:
        """Start process `number`."""
        self._ray.get(self._actor.start.remote(number, quota))

    def exit_code(self) -> int | None:
        """How it ended; null while it runs."""
        code: int | None = self._ray.get(self._actor.exit_code.remote())
        return code

    def stop(self) -> None:
        """End it."""
        self._ray.get(self._actor.stop.remote())


Runner = ProcessRunner | ActorRunner


@dataclass
class _Member:
    number: int
    runner: Runner
    running: bool = False
    crashes: int = 0
    quota: int = 0
    status: Status = field(default_factory=Status)


class Fleet:
    """Runs the processes of a crawl until no address is left or a limit is reached."""

    def __init__(self, folder: CrawlFolder, runners: list[Runner]) -> None:
        self._folder = folder
        plan = folder.read_plan()
        self._most = plan.settings.max_pages
        self._ends = plan.started_at + plan.settings.seconds
        self._members = [_Member(n, runner) for n, runner in enumerate(runners)]

    def statuses(self) -> list[Status]:
        """What the processes said last."""
        return [self._folder.read_status(m.number) for m in self._members]

    def run(self, progress: Callable[[list[Status]], None]) -> str:
        """Crawl; `progress` is told a few times a second how it stands. Returns why the crawl ended.

        Raises:
            CrawlError: A process fails again and again.
        """
        try:
            for member in self._members:
                member.status = Status(ended="quota", queued=1)  # each looks at its frontier at least once
            while True:
                for member in self._members:
                    self._look_at(member)
                if not self._start_next():
                    break
                progress(self.statuses())
                time.sleep(_POLL_SECONDS)
        finally:
            for member in self._members:
                member.runner.stop()
        progress(self.statuses())
        late = time.time() >= self._ends and any(m.status.queued for m in self._members)
        if late or any(m.status.ended == "seconds" for m in self._members):
            return "crawl.seconds"
        fetched = sum(s.fetched + s.unchanged for s in self.statuses())
        return "crawl.max_pages" if self._most and fetched >= self._most else "finished"

    def _look_at(self, member: _Member) -> None:
        if not member.running or (code := member.runner.exit_code()) is None:
            return
        member.running = False
        member.status = self._folder.read_status(member.number)
        if code == 0 and member.status.ended:
            member.crashes = 0
            return
        raise_for(code, self._folder.warc)
        member.crashes += 1
        member.status = Status(ended="quota", queued=1)
        if member.crashes >= _CRASHES:
            log = self._folder.log(member.number)
            lines = log.read_text("utf-8", "replace").strip().splitlines() if log.exists() else []
            last = lines[-1][:300] if lines else "it said nothing"
            raise CrawlError(f"crawl process {member.number} ended with code {code}: {last} ({log})")

    def _start_next(self) -> bool:
        """Start the processes that have something to do; returns whether any runs."""
        waiting: list[_Member] = []
        for member in self._members if time.time() < self._ends else ():
            left_over = member.status.ended in ("quota", "stopped") and member.status.queued > 0
            if not member.running and (left_over or self._folder.to_hand_over(member.number)):
                waiting.append(member)
        for place, member in enumerate(waiting):
            member.quota = self._allowance(member, len(waiting) - place)
            if member.quota >= 0:
                member.runner.start(member.number, member.quota)
                member.running = True
        return any(m.running for m in self._members)

    def _allowance(self, member: _Member, sharers: int) -> int:
        """Pages that `member` may have fetched when it ends: its own, and a share of what is left of the limit.

        0 if there is no limit, -1 if nothing is left.
        """
        if not self._most:
            return 0
        fetched = {m.number: s.fetched + s.unchanged for m, s in zip(self._members, self.statuses(), strict=True)}
        promised = sum(max(m.quota, fetched[m.number]) if m.running else fetched[m.number] for m in self._members)
        share = -(-(self._most - promised) // sharers)
        return fetched[member.number] + share if share > 0 else -1


def run_fleet(
    folder: CrawlFolder, workers: int, engine: str, settings: EngineSettings, progress: Callable[[list[Status]], None]
) -> str:
    """Crawl with `engine`, `local` or `ray`; returns why the crawl ended.

    Raises:
        CrawlError: A process fails again and again.
        EngineError: Ray does not start.
    """
    if engine == "local":
        return Fleet(folder, [ProcessRunner(folder) for _ in range(workers)]).run(progress)
    ray, ended = RayEngine(settings), ""
    try:
        for message in ray.call(_crawl, folder, workers, patience=_STOP_SECONDS):
            if isinstance(message, str):
                ended = message
            else:
                progress(message)
        return ended
    finally:
        ray.close()


def _crawl(_items: object, say: Callable[[list[Status] | str], None], folder: CrawlFolder, workers: int) -> None:
    """Crawl in the process that drives Ray; says how it stands, and at last why it ended."""
    runners: list[Runner] = [ActorRunner(folder) for _ in range(workers)]
    say(Fleet(folder, runners).run(say))
