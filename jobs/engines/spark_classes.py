"""An archive of Spark's classes, as Java loads and checks them: with it a local Spark starts in half the time.

Java's application class data sharing (JEP 350). The archive lies in the environment that pyspark is installed in;
Java does without it where it is missing, or of another version of Java or Spark.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

# The archive is written as Java ends.
_SECONDS: Final = 120
_QUIET: Final = "-Xlog:disable -Xlog:all=off"


def archive_path() -> Path:
    """Where the archive of the installed Spark is, or would be."""
    return Path(sys.prefix) / "share" / "quern" / f"spark-{version('pyspark')}.jsa"


def java_options() -> str:
    """Options that let Java use the archive, if there is one."""
    path = archive_path()
    return f"-XX:SharedArchiveFile={path} {_QUIET}" if path.exists() and " " not in str(path) else ""


def write_archive() -> None:
    """Start Spark, run a query, and have Java archive the classes that this took.

    Raises:
        EngineError: Spark cannot start.
        OSError: The archive cannot be written.
        TimeoutError: Java did not end.
    """
    from quern.jobs.engines.spark import spark_session, warm
    from quern.schemas.settings import EngineSettings

    path = archive_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    temporary = path.with_suffix(".tmp")
    session = spark_session(EngineSettings(), f"-XX:ArchiveClassesAtExit={temporary} {_QUIET}")
    warm(session, 1)
    _end(session)
    temporary.replace(path)


def _end(session: Any) -> None:
    """End Java in good order; closing its input is how pyspark tells it to."""
    java = session.sparkContext._gateway.proc
    session.stop()
    java.stdin.close()
    try:
        java.wait(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        java.kill()
        raise TimeoutError(f"Java did not end within {_SECONDS} s") from None


if __name__ == "__main__":
    write_archive()
