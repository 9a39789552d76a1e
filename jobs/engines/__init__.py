"""Engines that run jobs: Spark for CPU work, Ray Data for models, this process for a handful of rows.

Jobs that a language model carries out have an engine of their own (`jobs.reasoning.table`).

An engine is given the rows that the memo lacks (`jobs.core.work`); changing the engine changes no result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from quern.jobs.core.contract import Job
from quern.jobs.core.work import Engine, EngineError, Work, core_count
from quern.jobs.engines.local import LocalEngine
from quern.jobs.engines.ray import RayEngine
from quern.jobs.engines.spark import SparkEngine
from quern.schemas.extras import installed, require
from quern.schemas.settings import EngineSettings

__all__ = ["Engine", "EngineError", "Engines", "LocalEngine", "RayEngine", "SparkEngine", "Work", "core_count"]


_MODULES = {"spark": "pyspark", "ray": "ray"}


class Engines:
    """The engines of one build; each starts at most once, when a job with missing rows first needs it."""

    def __init__(
        self,
        settings: EngineSettings,
        generator: Callable[[EngineSettings], Engine] | None = None,
        preload: Sequence[str] = (),
    ) -> None:
        """The engines of these settings, none of them started.

        Args:
            settings: Which are to be used.
            generator: Makes what runs jobs of language models.
            preload: What Spark's workers import once for all.

        Raises:
            MissingExtraError: The engine that is asked for by name is not installed.
        """
        if settings.engine in _MODULES:
            require(_MODULES[settings.engine], f"--engine {settings.engine}", "use --engine local")
        self._settings = settings
        self._engines: dict[str, Engine] = {}
        self._makers: dict[str, Callable[[EngineSettings], Engine]] = {
            "local": lambda _: LocalEngine(),
            "spark": partial(SparkEngine, preload=tuple(preload)),
            "ray": RayEngine,
        }
        if generator is not None:
            self._makers["generator"] = generator

    def choose(self, job: Job, missing: int) -> Engine:
        """The engine for `missing` rows of `job`."""
        name: str = self._settings.engine
        if job.by_model:
            name = "generator"
        elif name == "auto":
            name = "spark" if job.engine == "cpu" else "ray"
            if missing < self._settings.local_below or not installed(_MODULES[name]):
                name = "local"
        return self._engine(name)

    def _engine(self, name: str) -> Engine:
        if name not in self._engines:
            self._engines[name] = self._makers[name](self._settings)
        return self._engines[name]

    def spark(self, rows: int, local_below: int) -> SparkEngine | None:
        """Spark for work on `rows` rows that is no job; None where it is to be done in this process."""
        name = self._settings.engine
        if name in ("local", "ray") or (name == "auto" and (rows < local_below or not installed("pyspark"))):
            return None
        return cast("SparkEngine", self._engine("spark"))

    def shuffler(self, rows: int, local_below: int) -> Any | None:
        """The Spark session for a shuffle of `rows` rows; None where it is to be done in this process.

        Raises:
            EngineError: Spark cannot start.
        """
        spark = self.spark(rows, local_below)
        return spark and spark.session()

    def cluster(self) -> RayEngine | None:
        """Ray for work that can be spread over machines; None where it is to be done in this process."""
        if self._settings.engine != "ray" and not self._settings.ray_address:
            return None
        return cast("RayEngine", self._engine("ray"))

    def release(self, name: str) -> None:
        """Stop the engine `name`, if it was started, before another needs its memory."""
        if name in self._engines and name != self._settings.engine:
            self._engines.pop(name).close()

    def close(self) -> None:
        """Stop whatever was started."""
        while self._engines:
            self._engines.popitem()[1].close()

    def __enter__(self) -> Engines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
