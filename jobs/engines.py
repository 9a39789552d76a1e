"""Engines that run jobs: Spark for CPU work, Ray Data for models, this process for a handful of rows.

An engine is given the rows that the memo lacks, as Parquet files, and lets its workers apply the job and
commit the results to the memo. What comes back to the driver is one small row per committed part, so its
memory does not grow with the corpus, and changing the engine changes no result.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import psutil
import pyarrow as pa

from indexes.memo import commit_part, nest
from indexes.stages import Stage
from jobs.contract import Job, Outcome, Reject
from jobs.missing import INPUT, read_batches, read_numbered
from jobs.models import ModelError
from schemas.groups import EngineSettings
from schemas.validate import validate

log = logging.getLogger(__name__)

PART = pa.schema([("part", pa.string()), ("inputs", pa.int64())])
_PART_DDL = "part string, inputs bigint"
_TRIES = 4  # Times that Spark tries a task before it gives up.
# Faults of the machine, not of a row: they end the job, so that no row is blamed for them.
_FAULTS = (OSError, MemoryError, ModelError)


class EngineError(RuntimeError):
    """An engine that cannot start; the message says what to do."""


@dataclass(frozen=True)
class Work:
    """What an engine is to do.

    Attributes:
        job: The job.
        files: Parquet files with the rows' fingerprints, `INPUT`, and the columns that the job reads; with the rows'
            numbers instead where there is an `origin`.
        schema: Their schema.
        memo: Directory that the results are committed to.
        task_rows: Rows of one committed part.
        origin: The table that holds the rows.
    """

    job: Job
    files: Sequence[Path]
    schema: pa.Schema
    memo: Path
    task_rows: int
    origin: Stage | None = None

    def batches(self, files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
        """The rows of `files` with the columns that the job reads and `INPUT`, in batches of one part each."""
        if self.origin is None:
            given, types = read_batches(files, self.task_rows), self.schema
        else:
            given = read_numbered(self.origin, self.job.reads, files, self.task_rows)
            read = [self.origin.table.schema.field(name) for name in self.job.reads]
            types = pa.schema([*read, self.schema.field(INPUT)])
        for batch in given:
            # Parquet widens some types; the job sees those it was declared with.
            yield pa.RecordBatch.from_arrays([batch.column(f.name).cast(f.type) for f in types], schema=types)

    def compute(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Apply the job to `batch`, commit the result, and say so in one row of `PART`."""
        prints = np.frombuffer(b"".join(batch.column(INPUT).to_pylist()), dtype=np.dtype((np.void, 16)))
        parts = []
        for start, rows, found in _apply_bisecting(self.job, batch.select(list(self.job.reads)), 0):
            rejects = [(r.row, r.reason, r.detail, r.transient) for r in found.rejects]
            parts.append(nest(prints[start : start + rows], found.rows, found.parents, rejects))
        whole = pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
        path = commit_part(self.memo, whole)
        return pa.RecordBatch.from_pylist([{"part": path.name, "inputs": batch.num_rows}], schema=PART)


def _apply_bisecting(job: Job, batch: pa.RecordBatch, start: int) -> list[tuple[int, int, Outcome]]:
    """(first row, rows, outcome) of each piece; a row that makes the job raise becomes a reject.

    A fault in one row must neither stop a build nor take its batch with it: the batch is halved until the
    row is alone. Such a reject is transient, because it says something of the program, not of the row.

    Raises:
        OSError, MemoryError, ModelError: A fault of the machine.
    """
    try:
        found = job.apply(batch)
        return [(start, batch.num_rows, Outcome(validate(found.rows, job.makes), found.parents, found.rejects))]
    except _FAULTS:
        raise
    except Exception as error:  # noqa: BLE001 - whatever one row does, the other rows must come through
        if batch.num_rows == 1:
            log.warning("job=%s failed on row=%s error=%r", job.name, str(batch.column(job.key)[0])[:200], error)
            none = pa.RecordBatch.from_pylist([], schema=job.makes.schema)
            reject = Reject(0, "job_failed", f"{type(error).__name__}: {error}"[:500], transient=True)
            return [(start, 1, Outcome(none, np.empty(0, dtype=np.int64), (reject,)))]
    half = batch.num_rows // 2
    return _apply_bisecting(job, batch.slice(0, half), start) + _apply_bisecting(job, batch.slice(half), start + half)


def _stopped(engine: str, work: Work, error: Exception) -> EngineError:
    """What to tell of a job that an engine could not finish; said before the engine is closed."""
    cause = " ".join(str(error).split())[:300]
    return EngineError(
        f"{engine} could not finish the job {work.job.name}: {cause}; what was computed is kept, and logs/engines.log "
        "in the warehouse says more"
    )


class Engine(Protocol):
    """Runs a job over files of missing rows."""

    name: str

    def start(self) -> None:
        """Start what the engine needs, if it does not run yet.

        Raises:
            EngineError: It cannot start.
        """

    def run(self, work: Work) -> None:
        """Apply the job to every row and commit the results.

        Raises:
            EngineError: The job could not be finished; what was committed stays.
        """

    def close(self) -> None:
        """Give back processes and memory."""


def core_count(settings: EngineSettings) -> int:
    """Cores that a build may use."""
    return settings.cores or len(os.sched_getaffinity(0))


class LocalEngine:
    """Runs everything in this process: for tiny inputs and debugging."""

    name = "local"

    def start(self) -> None:
        """Nothing is needed."""

    def run(self, work: Work) -> None:
        """Apply the job batch by batch."""
        for batch in work.batches(work.files):
            work.compute(batch)

    def close(self) -> None:
        """Nothing is held."""


def _map_files(work: Work, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in batch.column("id").to_pylist():
            yield from (work.compute(rows) for rows in work.batches([work.files[number]]))


class SparkEngine:
    """Runs jobs as `mapInArrow` of a Spark session, started on first use."""

    name = "spark"

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._session: Any = None

    def run(self, work: Work) -> None:
        """One Spark task per file, which its Python worker reads itself: rows never pass through the Java heap."""
        self.start()
        spark = self._session
        try:
            # One number per task: it needs neither a Python worker nor a shuffle to make them.
            numbers = spark.range(0, len(work.files), 1, len(work.files))
            numbers.mapInArrow(partial(_map_files, work), _PART_DDL).write.format("noop").mode("overwrite").save()
        except Exception as error:  # py4j and Spark raise many kinds
            raise _stopped("Spark", work, error) from error

    def start(self) -> None:
        """Start the session."""
        if self._session is None:
            self._session = _spark_session(self._settings)

    def session(self) -> Any:
        """The Spark session, for work that needs a shuffle.

        Raises:
            EngineError: It cannot start.
        """
        self.start()
        return self._session

    def close(self) -> None:
        """Stop the session and its Java process."""
        if self._session is None:
            return
        from pyspark import SparkContext

        session, self._session = self._session, None
        gateway = session.sparkContext._gateway
        try:
            session.stop()
            gateway.shutdown()
        except Exception as error:  # noqa: BLE001 - after an interruption the connection may be gone; the process must go all the same
            log.info("engine=spark did not stop by itself: %s", error)
        finally:
            _end_java()
            SparkContext._gateway = None
            SparkContext._jvm = None


def _spark_session(settings: EngineSettings) -> Any:
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise EngineError(
            "Spark needs Java 17 or later, and no java was found: `sudo apt-get install openjdk-17-jre-headless`, "
            "or use --engine local"
        )
    # Arrow is all that passes between Spark and Python here; pandas is not used.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": settings.spark_memory,
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
    }
    master = settings.spark_master or f"local[{core_count(settings)},{_TRIES}]"
    if master.startswith("local"):
        conf |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # Python does the work here: what Java would spend on its best compiler is lost to it.
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        }
    builder = SparkSession.builder.master(master).appName("quern")
    for name, value in conf.items():
        builder = builder.config(name, value)
    log.info("engine=spark master=%s starting", master)
    try:
        return builder.getOrCreate()
    except Exception as error:  # py4j and Spark raise many kinds; all mean that it did not start
        raise EngineError(f"Spark did not start on {master}: {error}; --engine local runs without it") from error
    except BaseException:
        # Interrupted half-way: nobody else knows of the Java process, which would wait for us for ever.
        _end_java()
        raise


def _end_java() -> None:
    """Kill the Java processes that this process started for Spark."""
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "pyspark-shell" in child.cmdline():
                child.kill()


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

    def run(self, work: Work) -> None:
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
            raise _stopped("Ray", work, error) from error

    def start(self) -> None:
        """Start a local Ray, or join the cluster."""
        if self._started:
            return
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray
        import ray.data

        # It warns of its default, a token for the local cluster, which is what is wanted.
        logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
        address = self._settings.ray_address
        options: dict[str, Any] = {"address": address} if address else _local_ray(self._settings)
        log.info("engine=ray address=%s starting", address or "local")
        on_stop = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(logging_level=logging.ERROR, log_to_driver=False, configure_logging=False, **options)
        except Exception as error:  # Ray raises many kinds; all mean that it did not start
            raise EngineError(f"Ray did not start ({error}); --engine local runs without it") from error
        finally:
            # Ray takes the signal to exit at once; a build must first give its engines and locks back.
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, on_stop)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        self._started = True

    def close(self) -> None:
        """Stop a local Ray, or leave the cluster."""
        if self._started:
            import ray

            ray.shutdown()
            self._started = False


def _local_ray(settings: EngineSettings) -> dict[str, Any]:
    return {
        # One logical core more than there are: reading never has to wait for the actor that computes.
        "num_cpus": core_count(settings) + 1,
        "include_dashboard": False,
        "object_store_memory": settings.ray_object_store << 20,
    }


class Engines:
    """The engines of one build; each starts at most once, when a job with missing rows first needs it."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._engines: dict[str, Engine] = {}

    def choose(self, job: Job, missing: int) -> Engine:
        """The engine for `missing` rows of `job`."""
        name = self._settings.engine
        if name == "auto":
            name = "spark" if job.engine == "cpu" else "ray"
            if missing < self._settings.local_below:
                name = "local"
        if name not in self._engines:
            self._engines[name] = _make_engine(name, self._settings)
        return self._engines[name]

    def shuffler(self, rows: int, local_below: int) -> Any | None:
        """The Spark session for a shuffle of `rows` rows; None where it is to be done in this process.

        Raises:
            EngineError: Spark cannot start.
        """
        name = self._settings.engine
        if name in ("local", "ray") or (name == "auto" and rows < local_below):
            return None
        spark = cast("SparkEngine", self._engines.setdefault("spark", SparkEngine(self._settings)))
        return spark.session()

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


def _make_engine(name: str, settings: EngineSettings) -> Engine:
    if name == "spark":
        return SparkEngine(settings)
    return RayEngine(settings) if name == "ray" else LocalEngine()
