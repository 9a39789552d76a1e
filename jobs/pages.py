"""The table `pages`: what the files of a folder hold, one row per address.

Reading is not memoised: what changed is seen only by reading. It streams; beside a batch of bodies, memory
holds the addresses, about 150 bytes a page.
"""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa

from indexes.stages import Stage, StageWriter
from jobs.ingest import FileReject, latest_captures, list_inputs, read_pages
from jobs.progress import watched
from jobs.runner import JobReport, Run
from schemas.digests import settings_digest
from schemas.groups import IngestSettings
from schemas.tables import PAGES

NAME, VERSION = "ingest", 1


def ingest(source: Path, settings: IngestSettings, run: Run) -> Stage:
    """Read every page under `source`; of several captures of one address the latest stays.

    Raises:
        IngestError: There is nothing to read at `source`.
    """
    started = time.monotonic()
    files = len(list_inputs(source))
    seen = _Tally()
    read = run.work / "pages.parquet"
    with StageWriter(read, PAGES) as writer, watched(NAME, files, lambda: len(seen.files)):
        for found in read_pages(source, settings):
            seen.take(found, run)
            if isinstance(found, pa.RecordBatch):
                writer.write(found)
    with run.writer(PAGES) as pages:
        for found in latest_captures([read]):
            if isinstance(found, pa.RecordBatch):
                pages.write(found)
            else:
                seen.take(found, run)
    read.unlink()
    made = pages.stage()
    fingerprint = settings_digest([NAME, VERSION, settings.model_dump()])
    seconds = round(time.monotonic() - started, 3)
    run.report(JobReport(NAME, fingerprint, files, made.rows, 0, files, seen.rejected, seconds, "driver"))
    return made


class _Tally:
    """Counts what was read, and passes rejects on."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.rejected = 0

    def take(self, found: pa.RecordBatch | FileReject, run: Run) -> None:
        if isinstance(found, FileReject):
            self.rejected += 1
            self.files.add(found.key)
            run.reject(NAME, [(found.key, found.reason, found.detail)])
        else:
            self.files.update(found.column("source_file").to_pylist())
