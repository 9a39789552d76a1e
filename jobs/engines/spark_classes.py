"""Writing the archive of Spark's classes: `python -m quern.jobs.engines.spark_classes`."""

from __future__ import annotations

import subprocess
from typing import Any, Final

from quern.jobs.engines.spark import spark_session, warm
from quern.jobs.engines.spark_java import QUIET, archive_path
from quern.schemas.settings import EngineSettings

# The archive is written as Java ends.
_SECONDS: Final = 120


def write_archive() -> None:
    """Start Spark, run a query, and have Java archive the classes that this took.

    Raises:
        EngineError: Spark cannot start.
        OSError: The archive cannot be written.
        TimeoutError: Java did not end.
    """
    path = archive_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    temporary = path.with_suffix(".tmp")
    session = spark_session(EngineSettings(), f"-XX:ArchiveClassesAtExit={temporary} {QUIET}")
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
