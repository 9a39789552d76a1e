"""Spark: runs jobs as `mapInArrow` of a session, and gives that session to what needs a shuffle.

A local session takes some 8 seconds to be of use: Java, the first query, the Python workers. It starts in a thread, so
that a cluster which does not answer is given up in time.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import shutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import psutil
import pyarrow as pa

from quern.indexes.disk import said_by
from quern.jobs.core.work import EngineError, Ran, Work, core_count, did_not_start, stopped
from quern.jobs.engines.guard import MARK
from quern.jobs.engines.nodes import asked, check, describing, see_that_it_listens
from quern.jobs.engines.scratch import Scratch
from quern.schemas.extras import MissingExtraError, require
from quern.schemas.settings import EngineSettings

log = logging.getLogger(__name__)

_GAVE_UP: Final = (
    "its Java process ended at once; what it wrote above says why, and engine.spark_conf are what it was given"
)
_PART_DDL: Final = "part string, inputs bigint"
_T = TypeVar("_T")


def _map_files(work: Work, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in batch.column("id").to_pylist():
            yield from (work.compute(rows) for rows in work.batches([work.files[number]]))


class SparkEngine:
    """A Spark session, started on first use."""

    name = "spark"

    def __init__(self, settings: EngineSettings, folder: Path | None = None) -> None:
        """A session that is not started.

        Args:
            settings: How it is started.
            folder: What the nodes of a cluster are to see as this machine does.
        """
        self._settings, self._folder = settings, folder
        self._doing = ""
        self._session: Any = None
        self._scratch: Scratch | None = None
        self._failed: Exception | None = None
        # Not the thread: one whose `join` was interrupted is taken for one that has ended (cpython, bpo-45274).
        self._starting: threading.Event | None = None

    def begin(self) -> None:
        """Start the session in a thread, if nobody did."""
        if self._session is None and self._starting is None:
            self._starting = threading.Event()
            # A daemon: an interpreter that ends before `close` was called must not wait for it.
            threading.Thread(target=self._start, args=(self._starting,), name="spark-start", daemon=True).start()

    def _start(self, ended: threading.Event) -> None:
        session = None
        try:
            self._scratch = Scratch("spark")
            self._doing = "the master does not accept this program: it must be a Spark master, of the same version"
            session = spark_session(self._settings, self._scratch.path)
            if on_cluster(self._settings):
                self._look_at_nodes(session)
            self._session = session
        except (EngineError, MissingExtraError, OSError) as error:
            self._failed = error
        except Exception as error:  # noqa: BLE001 - told by `start`, to whom it may concern
            self._failed = _said(error)
        finally:
            if session is not None and self._session is None:
                _stop(session)
            ended.set()

    def _look_at_nodes(self, session: Any) -> None:
        """See that the nodes can work. Raises EngineError: some cannot."""
        context = session.sparkContext
        self._doing = (
            "no executor came: the master's page says what workers lack, free cores or memory (spark.executor.memory), "
            "or a way to this machine (spark.driver.host), all of which engine.spark_conf can set"
        )
        # Not by counting executors: where they are allocated as tasks wait, none comes before a task.
        context.parallelize([0], 1).map(describing("/", ())).collect()
        self._doing = "its executors do not answer: their logs on the workers say why"
        # As many tasks as there are cores, which run at once, so that each executor has some.
        with asked(self._folder) as arguments:
            describe = describing(*arguments)
            tasks = range(context.defaultParallelism)
            check(describe(None), context.parallelize(tasks, len(tasks)).map(describe).collect(), self._folder)

    def start(self) -> None:
        """Start the session, and wait until it can be used.

        Raises EngineError: it cannot start, or a cluster's time is over.
        """
        self.begin()
        if self._starting is not None:
            # A cluster has its time from when Java runs here.
            seconds, began = self._settings.cluster_seconds, math.inf
            while not self._starting.wait(0.1):
                # Another thread may be about to import the module, which then has no such class yet.
                context = getattr(sys.modules.get("pyspark.core.context"), "SparkContext", None)
                if on_cluster(self._settings) and context is not None and context._gateway is not None:
                    began = min(began, time.monotonic())
                if time.monotonic() - began > seconds:
                    reason = f"within {seconds} s (engine.cluster_seconds) {self._doing}"
                    self.close()
                    raise did_not_start("Spark", reason, self._settings.spark_master)
            self._starting = None
        if self._failed is not None:
            failed, self._failed = self._failed, None
            if isinstance(failed, EngineError | MissingExtraError):
                raise failed
            raise did_not_start("Spark", str(failed), self._settings.spark_master) from failed

    def session(self) -> Any:
        """The Spark session, for work that needs a shuffle. Raises EngineError: it cannot start."""
        self.start()
        return self._session

    def run(self, work: Work) -> Ran:
        """One Spark task per file, which its Python worker reads itself: rows never pass through the Java heap."""
        spark, tasks = self.session(), len(work.files)
        try:
            # One number per task: it needs neither a Python worker nor a shuffle to make them.
            numbers = spark.range(0, tasks, 1, tasks)
            numbers.mapInArrow(partial(_map_files, work), _PART_DDL).write.format("noop").mode("overwrite").save()
        except Exception as error:  # noqa: BLE001 - py4j and Spark raise many kinds, which say nothing without Java
            raise stopped("Spark", f"the job {work.job.name}", error) from _said(error)
        return Ran(self.name)

    def each(self, function: Callable[[_T], Any], items: Sequence[_T]) -> Iterator[Any]:
        """`function`, of a module, of each of `items`, in a task each; in their order.

        Raises EngineError: it does not start, or a task failed for good.
        """
        context = self.session().sparkContext
        try:
            yield from context.parallelize(items, len(items)).map(function).collect()
        except Exception as error:  # noqa: BLE001 - py4j and Spark raise many kinds, which say nothing without Java
            raise stopped("Spark", "its tasks", error) from _said(error)

    @property
    def died(self) -> bool:
        """Whether its Java process ended by itself; its connections may end a moment before it."""
        if self._session is None:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._session.sparkContext._gateway.proc.wait(1.0)  # One that died takes a moment to be dead.
            return True
        return False

    def close(self) -> None:
        """Stop the session and its Java process."""
        starting, self._starting = self._starting, None
        while starting is not None and not starting.wait(timeout=0.1):
            # Whoever closes it now does not want it; the thread ends with the process that it talks to.
            _end_java()
        self._failed = None
        session, self._session = self._session, None
        if session is not None or starting is not None:
            _stop(session)
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            scratch.close()


def on_cluster(settings: EngineSettings) -> bool:
    """Whether Spark is to run on other machines than this."""
    return bool(settings.spark_master) and not settings.spark_master.startswith("local")


def _said(error: Exception) -> Exception:
    """What an error of Spark's says, while there is a Java process to say it; one of the system's says it later too."""
    return error if isinstance(error, OSError) else RuntimeError(said_by(error))


def _stop(session: Any | None) -> None:
    """Stop a session, or what there is of one that did not start, and its Java process."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    try:
        if session is not None:
            gateway = session.sparkContext._gateway
            session.stop()
            gateway.shutdown()
    except Exception as error:  # noqa: BLE001 - after an interruption the connection may be gone; the process must go all the same
        log.info("engine=spark did not stop by itself: %s", error)
    finally:
        _end_java()
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = None  # `stop` leaves it, where Java is gone.


def spark_session(settings: EngineSettings, scratch: Path) -> Any:
    """A new Spark session, which writes what it needs for itself to the folder `scratch`.

    Raises EngineError: it cannot start; MissingExtraError: it is not installed.
    """
    require("pyspark", "the engine Spark", "use --engine local")
    require_java()
    # Arrow is all that passes between Spark and Python here; pandas is not used.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    from pyspark.accumulators import AccumulatorTCPServer
    from pyspark.sql import SparkSession

    # py4j logs what goes wrong to the root logger; it is told once, by the engine.
    logging.getLogger().addFilter(_not_py4j)
    AccumulatorTCPServer.handle_error = lambda *_: None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
    }
    driver = "-XX:+UseSerialGC"
    if " " not in str(scratch):
        # It is killed, which is quicker than to ask it to stop: what it would then remove must lie in one place.
        driver += f" -Djava.io.tmpdir={scratch}"
    # A task is tried four times.
    master = settings.spark_master or f"local[{core_count(settings)},4]"
    conf["spark.driver.extraJavaOptions"] = driver
    if master.startswith("local"):
        conf |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # Python does the work here: what Java would spend on its best compiler is lost to it.
            "spark.driver.extraJavaOptions": f"{driver} -XX:TieredStopAtLevel=1",
            "spark.local.dir": str(scratch),
            f"spark.executorEnv.{MARK}": str(scratch),
        }
    elif master != "yarn":
        see_that_it_listens("Spark", master)
    builder = SparkSession.builder.master(master).appName("quern")
    for name, value in (conf | settings.spark_conf).items():
        builder = builder.config(name, value)
    log.info("engine=spark master=%s starting", master)
    try:
        return builder.getOrCreate()
    except Exception as error:  # noqa: BLE001 - of many kinds, which all mean that it did not start
        reason = _GAVE_UP if "JAVA_GATEWAY_EXITED" in (message := said_by(error)) else message
        raise did_not_start("Spark", reason, settings.spark_master) from _said(error)
    except BaseException:
        # Interrupted half-way: nobody else knows of the Java process, which would wait for us for ever.
        _end_java()
        raise


def _not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


def require_java() -> None:
    """Raises: EngineError, where Spark would find no Java."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which(str(Path(home) / "bin" / "java") if home else "java") is None:
        where = f"JAVA_HOME={home}" if home else "PATH"
        raise EngineError(
            f"Spark needs Java 17 or later, and no java was found in {where}: "
            "`sudo apt-get install openjdk-17-jre-headless`, or use --engine local"
        )


def _end_java() -> None:
    """Kill the Java processes that this process started for Spark; those of its child processes are theirs."""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "pyspark-shell" in child.cmdline():
                child.kill()
                # Until it writes no more, for seconds; its status is left to be collected by who started it.
                until = time.monotonic() + 5
                while child.status() != psutil.STATUS_ZOMBIE and time.monotonic() < until:
                    time.sleep(0.01)
