"""What the folder of a build in progress holds: with what it was begun, finished steps, the audit that it passed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from quern.indexes.catalog.manifest import StepRecord
from quern.indexes.stages import Stage
from quern.schemas.addresses import Url, parse_address
from quern.schemas.tables import Table


class Begun(BaseModel):
    """What a build was begun with."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    build_id: str  # Name of the build.
    started_at: datetime = Field(default_factory=lambda: datetime.now(UTC))  # When it began.
    # Files of pages; None for the page store.
    source: Annotated[Url | Path | None, BeforeValidator(lambda source: source and parse_address(source))]
    parent: str | None  # The snapshot that was published then.
    settings: dict[str, Any]  # Its settings, as a tree.


class TableFile(BaseModel):
    """A table that a step made, as `Stage` names it; its path begins at the warehouse, which may be moved."""

    path: Path
    rows: int
    digest: str
    dimension: int
    checksum: str


class FinishedStep(BaseModel):
    """A step that was run."""

    record: StepRecord  # What the manifest keeps of it.
    reports: list[dict[str, Any]]  # The reports of its jobs.
    tables: dict[str, TableFile]  # What it made, by name.
    rejects: TableFile  # What it left out.


class AuditRecord(BaseModel):
    """An audit that was passed."""

    seconds: float
    checks: list[dict[str, Any]]
    rejects: TableFile
    reasons: dict[str, int]
    shares: dict[str, float]


def table_file(stage: Stage, root: Path) -> TableFile:
    """A table of the warehouse at `root`, as the folder of a build tells of it."""
    dimension = max((getattr(f.type, "list_size", 0) for f in stage.table.schema), default=0)
    path = stage.path.relative_to(root)
    return TableFile(path=path, rows=stage.rows, digest=stage.digest, dimension=dimension, checksum=stage.checksum)


def stage_of(table: Table, file: TableFile, root: Path) -> Stage:
    """The table of the warehouse at `root` that a build's folder tells of."""
    table = table.with_dimension(file.dimension) if file.dimension else table
    return Stage(table, root / file.path, file.rows, file.digest, file.checksum)


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
