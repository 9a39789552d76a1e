"""The table `pages`: what files hold, one row per address.

Files are read anew by a build of PAGES, and once for the page store. It streams; beside a batch of bodies, memory
holds 44 bytes a page (`jobs.pages.latest`).
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from quern.indexes.page_store import PageStore, Part
from quern.indexes.stages import Stage
from quern.jobs.core.run import JobReport, Run
from quern.jobs.core.work import Shuffler
from quern.jobs.pages.ingest import spans_of
from quern.jobs.pages.inputs import IngestError, of_path
from quern.jobs.pages.latest import latest_captures
from quern.jobs.pages.reading import VERSION, mended, read_spans
from quern.schemas.digests import settings_digest
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES

NAME = "ingest"


def ingest(source: Path, settings: IngestSettings, run: Run) -> Stage:
    """Read every page under `source`; of several captures of one address the latest stays.

    Raises:
        IngestError: There is nothing to read at `source`.
    """
    started = time.monotonic()
    inputs = of_path(source)
    directory = run.work / "pages"
    spans = [span for given in inputs for span in spans_of(given, settings.task_bytes)]
    engine: list[str] = []

    def spark(tasks: int) -> Shuffler | None:
        chosen = run.engines.spark(tasks, 2)
        engine.append("spark" if chosen else "driver")
        return chosen

    parts = mended(read_spans(spans, settings, directory, spark), inputs, settings, directory)
    made = _settled(parts, settings, run, started, reused=0, engine=engine[0])
    shutil.rmtree(directory)
    return made


def stored(store: PageStore, settings: IngestSettings, run: Run) -> Stage:
    """The pages of a page store; of several captures of one address the latest stays.

    Raises:
        IngestError: The store is empty.
        PageStoreError: An ingest is writing to it.
    """
    started = time.monotonic()
    with store.lock(shared=True):
        parts = store.parts()
        if not parts:
            raise IngestError(f"nothing was ingested into {store.root.parent} yet; `quern ingest` does, or name PAGES")
        files = len({c.file for part in parts for c in part.live})
        return _settled(parts, settings, run, started, reused=files, engine="driver")


def _settled(
    parts: Sequence[Part], settings: IngestSettings, run: Run, started: float, reused: int, engine: str
) -> Stage:
    """Write the pages and rejects of `parts`."""
    rejected = 0
    for part in parts:
        for batch in part.batches("rejects", ["key", "reason", "detail"], rows=run.batch_rows):
            run.reject(NAME, list(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
            rejected += batch.num_rows
    with run.folder(PAGES) as pages:
        for rows in latest_captures(parts):
            lost = [(reject.key, reject.reason, reject.detail) for reject in rows.rejects()]
            run.reject(NAME, lost)
            rejected += len(lost)
            if rows.whole:
                pages.link(rows.part.path("pages"), rows.part.batches("pages", pages.digested))
            elif rows.stays.any():
                pages.write_all(rows.pages())
    made = pages.stage()
    claims = [claim for part in parts for claim in part.live]
    files = len({claim.file for claim in claims})
    records = sum((Counter(claim.records) for claim in claims), Counter[str]())
    fingerprint = settings_digest([NAME, VERSION, settings.model_dump()])
    seconds = round(time.monotonic() - started, 3)
    notes = {kind: float(count) if count % 1 else count for kind, count in sorted(records.items())}
    run.report(JobReport(NAME, fingerprint, files, made.rows, reused, files - reused, rejected, seconds, engine, notes))
    return made
