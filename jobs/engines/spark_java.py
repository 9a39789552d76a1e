"""The Java options of a local Spark: the archive of its classes, with which it starts in half the time.

Java's application class data sharing (JEP 350). The archive lies in the environment that pyspark is installed in
(`.spark_classes` writes it); Java does without it where it is missing, or of another version of Java or Spark.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

QUIET: Final = "-Xlog:disable -Xlog:all=off"


def archive_path() -> Path:
    """Where the archive of the installed Spark is, or would be."""
    return Path(sys.prefix) / "share" / "quern" / f"spark-{version('pyspark')}.jsa"


def java_options() -> str:
    """Options that let Java use the archive, if there is one."""
    path = archive_path()
    return f"-XX:SharedArchiveFile={path} {QUIET}" if path.exists() and " " not in str(path) else ""
