"""Engines that run jobs: this machine's cores; Spark for CPU work and Ray Data for models where they pay.

Jobs that a language model carries out have an engine of their own (`jobs.tasks.table`).

An engine is given the rows that the memo lacks (`jobs.core.work`); changing the engine changes no result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, cast

from quern.jobs.core.contract import Job
from quern.jobs.core.work import Engine, EngineError, Spread, Work, core_count, died
from quern.jobs.engines.local import LocalEngine
from quern.jobs.engines.ray import RayEngine
from quern.jobs.engines.spark import SparkEngine, require_java
from quern.schemas.extras import installed, require
from quern.schemas.settings import EngineSettings

__all__ = ["Engine", "EngineError", "Engines", "LocalEngine", "RayEngine", "SparkEngine", "Work", "core_count"]


_MODULES: Final = {"spark": "pyspark", "ray": "ray"}
# Seconds of work from which on `auto` starts an engine: ten times its start.
_REPAYS: Final = {"spark": 80.0, "ray": 150.0}


class Engines:
    """The engines of one build; each starts at most once, when a job with missing rows first needs it."""

    def __init__(
        self,
        settings: EngineSettings,
        generator: Callable[[EngineSettings, RayEngine], Engine] | None = None,
        rates: Mapping[str, float] | None = None,
        folder: Path | None = None,
    ) -> None:
        """The engines of these settings, none of them started.

        Args:
            settings: Which are to be used.
            generator: Makes what runs jobs of language models, given the build's Ray.
            rates: Seconds that a row of a job takes, by the job's name, for `auto`.
            folder: What the nodes of a cluster are to see as this machine does.

        Raises EngineError: Spark is asked for, and there is no Java; MissingExtraError: the engine that is asked for is
        not installed.
        """
        addresses = {"spark": settings.spark_master, "ray": settings.ray_address}
        self._wanted = {name for name, address in addresses.items() if address or settings.engine == name}
        # What an address alone asks for is needed by some commands, and says so when it starts.
        if (name := settings.engine) in _MODULES:
            require(_MODULES[name], f"the engine {name.capitalize()}", "use --engine local")
        if name == "spark":
            require_java()
        self._settings, self._rates = settings, rates or {}
        self._engines: dict[str, Engine] = {}
        self._makers: dict[str, Callable[[EngineSettings], Engine]] = {
            "local": LocalEngine,
            "spark": partial(SparkEngine, folder=folder),
            "ray": partial(RayEngine, folder=folder),
        }
        if generator is not None:
            self._makers["generator"] = lambda given: generator(given, cast("RayEngine", self._engine("ray")))

    def choose(self, job: Job, missing: int) -> Engine:
        """The engine for `missing` rows of `job`."""
        if job.by_model:
            return self._engine("generator")
        if self._settings.engine in _MODULES:
            return self._engine(self._settings.engine)
        name = "spark" if job.engine == "cpu" else "ray"
        may_start = self._settings.engine == "auto" and installed(_MODULES[name])
        repays = may_start and missing * self._rates.get(job.name, 0.0) >= _REPAYS[name]
        if job.gpus and "ray" in self._engines:
            cast("RayEngine", self._engines["ray"]).free_gpus()
        return self._engine(name if name in self._wanted or repays else "local")

    def _engine(self, name: str) -> Engine:
        if name not in self._engines:
            self._engines[name] = self._makers[name](self._settings)
        return self._engines[name]

    def local(self) -> LocalEngine:
        """This machine's cores."""
        return cast("LocalEngine", self._engine("local"))

    def spread(self, kind: Literal["cpu", "model"]) -> Spread:
        """Whose workers write a large table: those of the cluster that runs such jobs, or this machine's cores."""
        names = ("spark", "ray") if kind == "cpu" else ("ray", "spark")
        name = next((name for name in names if name in self._wanted), "local")
        return cast("Spread", self._engine(name))

    def spark(self) -> SparkEngine | None:
        """Spark, where it is asked for, for work that is no job."""
        return cast("SparkEngine", self._engine("spark")) if "spark" in self._wanted else None

    def release(self, name: str) -> None:
        """Stop the engine `name`, if it was started, and what else ran for its jobs: another needs their memory."""
        for engine in (name, {"spark": "local", "generator": "ray"}.get(name, name)):
            if engine in self._engines and engine != self._settings.engine:
                self._engines[engine].close()

    def close(self) -> None:
        """Stop whatever was started."""
        while self._engines:
            self._engines.popitem()[1].close()

    def __enter__(self) -> Engines:
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Raises: EngineError, where an error came of the end of Spark's Java process, which py4j tells as many."""
        spark = cast("SparkEngine | None", self._engines.get("spark"))
        ended = isinstance(error, Exception) and spark is not None and spark.died
        self.close()
        if ended:
            raise died("Spark", "its Java process ended") from error
