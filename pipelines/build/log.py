"""The log of a build: what its jobs log, in a file of the warehouse too."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

log = logging.getLogger(__name__)


class _LogFile(logging.FileHandler):
    """A log of a build. A disk without room for it says so once: the build needs it no more than that."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - as `logging` calls it
        """Let the lines go."""
        error = sys.exception()
        logging.getLogger("quern").removeHandler(self)
        log.warning("the log is not written on: %s error=%s", self.baseFilename, error)


@contextmanager
def log_file(path: Path) -> Iterator[None]:
    """Write the build's log lines to `path` too: one line per job."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = _LogFile(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("quern")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        with suppress(OSError):  # The lines stood on standard error too.
            handler.close()
