"""Adding pages to a warehouse's page store: what `quern ingest` does, and what a crawl ends with."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from indexes.catalog import Warehouse
from indexes.pages import REJECTED, Claim, PageStore, Part, PartWriter
from jobs.ingest import FileReject, read_pages
from schemas.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IngestReport:
    """What one ingest did.

    Attributes:
        files: Files that the sources name.
        reused: Files of those that the store held already, unchanged.
        pages: Pages read from the others.
        rejects: Rejects from the others.
        records: Archives' records by type, from the others.
        seconds: Time it took.
        engine: What read them: `local`, `spark`, or `none`.
    """

    files: int
    reused: int
    pages: int
    rejects: int
    seconds: float
    engine: str
    records: dict[str, int] = field(default_factory=dict)

    def line(self) -> str:
        """The report as key=value pairs."""
        records = "".join(f" {kind}={count}" for kind, count in sorted(self.records.items()))
        return (
            f"job=ingest files={self.files} reused={self.reused} pages={self.pages} rejected={self.rejects} "
            f"seconds={self.seconds:.1f} engine={self.engine}{records}"
        )


def add_pages(warehouse: Warehouse, sources: Sequence[str | Path], settings: Settings) -> IngestReport:
    """Read `sources` into the page store of `warehouse`; files that it holds unchanged are not read again.

    Raises:
        IngestError: There is nothing to read.
        PageStoreError: Another ingest is writing to the store.
    """
    started = time.monotonic()
    store = PageStore(warehouse.root / "pages")
    with store.lock():
        parts = [_read(store, Path(source), settings) for source in sources]
        store.publish(parts)
    claims = [claim for part in parts for claim in part.claims]
    pages, rejects = sum(c.pages for c in claims), sum(c.rejects for c in claims)
    report = IngestReport(len(claims), 0, pages, rejects, round(time.monotonic() - started, 3), "local")
    log.info("%s", report.line())
    return report


def _read(store: PageStore, source: Path, settings: Settings) -> Part:
    pages = rejects = 0
    with PartWriter(store.directory) as writer:
        for found in read_pages(source, settings.ingest):
            if isinstance(found, FileReject):
                rejects += 1
                row = {"source_file": str(source), "key": found.key, "reason": found.reason, "detail": found.detail}
                writer.write("rejects", pa.RecordBatch.from_pylist([row], schema=REJECTED))
            else:
                pages += found.num_rows
                writer.write("pages", found)
        return writer.finish([Claim(str(source), "", 0, 0, 0, 0, pages, rejects)])
