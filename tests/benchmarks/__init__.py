"""Benchmarks that can be run anywhere: `python -m tests.benchmarks NAME`.

Where two sides are compared they take turns within a round, so that both meet the same noise; the figure is the
median of the rounds' ratios.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from quern.indexes.stage_writers import StageWriter
from quern.jobs.core.run import Run
from quern.jobs.engines import Engines, core_count
from quern.schemas.settings import EngineSettings
from quern.schemas.tables import REJECTS

Figures = dict[str, float]
Round = Mapping[str, float]


def in_turns(
    works: Mapping[str, Callable[[], object]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> list[Round]:
    """Seconds of each of `works` by `clock`, round by round."""
    rounds: list[Round] = []
    for _ in range(repeats):
        seconds = {}
        for name, work in works.items():
            started = clock()
            work()
            seconds[name] = clock() - started
        rounds.append(seconds)
    return rounds


def median(rounds: Sequence[Round], name: str, over: str = "") -> float:
    """The median of the rounds' seconds of one side, or of their ratios to another side's."""
    return statistics.median(r[name] / (r[over] if over else 1) for r in rounds)


@contextmanager
def job_run(root: Path, engine: EngineSettings) -> Iterator[Run]:
    """A run of jobs with all its files under `root`."""
    (root / "work").mkdir(parents=True)
    with Engines(engine) as engines, StageWriter(root / "rejects.parquet", REJECTS) as rejects:
        folders = root / "memo", root / "work", root / "stages"
        yield Run("b", *folders, engines, rejects, engine.batch_rows, engine.task_rows, core_count(engine))
