"""What a sweep gives its workers to do, and what they tell of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quern.pipelines.evaluation.sweep.plan import Build, Point
from quern.pipelines.evaluation.sweep.spec import Dataset


@dataclass(frozen=True)
class MakeBuild:
    """Build one snapshot."""

    build: Build
    root: Path


@dataclass(frozen=True)
class MeasurePoints:
    """Measure points of one snapshot.

    Attributes:
        points: The points, of one build.
        build_id: The snapshot.
        root: Its warehouse.
        dataset: The questions.
        metrics: Names of the metrics.
        depth: Documents of a ranking that they see.
    """

    points: tuple[Point, ...]
    build_id: str
    root: Path
    dataset: Dataset
    metrics: tuple[str, ...]
    depth: int


Task = MakeBuild | MeasurePoints


@dataclass(frozen=True)
class Message:
    """What a worker tells: a point begun or measured, a build made, or that a task is done.

    Attributes:
        about: `begun`, `point`, `build` or `done`.
        id: Id of the point or build.
        result: `PointRecord` or `BuildRecord`; None where it failed.
        error: What went wrong, else empty.
        fault: Number of the error of the system where a disk is full or fails: what else there is to do fails too.
    """

    about: str
    id: str = ""
    result: object = None
    error: str = ""
    fault: int = 0
