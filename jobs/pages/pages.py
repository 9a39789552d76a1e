"""The table `pages`: what files hold, one row per address, without pages that were removed.

Files are read anew by a build of PAGES, and once for the page store. It streams; beside a batch of bodies, memory
holds 52 bytes a page (`jobs.pages.latest`).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from quern.indexes.page_store import PageStore, Part
from quern.indexes.stages import Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.pages.ingest import spans_of
from quern.jobs.pages.inputs import IngestError, of_source
from quern.jobs.pages.latest import latest_captures
from quern.jobs.pages.reading import VERSION, count_warnings, libraries, mended, read_spans, typical_reject
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES, Table


@dataclass(frozen=True)
class ReadPages(TableJob):
    """Every page that the build's source holds; of several versions of one address the latest stays."""

    settings: IngestSettings

    name: ClassVar[str] = "ingest"
    version: ClassVar[int] = VERSION

    @property
    def engine(self) -> Literal["none", "cpu", "model"]:
        """Spark, where there is much to read."""
        return "cpu"

    @property
    def tables(self) -> tuple[Table, ...]:
        """`pages`."""
        return (PAGES,)

    def configuration(self) -> Mapping[str, object]:
        """The settings, and the versions of the libraries that have a say in what is read."""
        return {"settings": self.settings.model_dump(), "libraries": dict(libraries())}

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Read the pages.

        Raises:
            IngestError: There is nothing to read.
            PageStoreError: An ingest is writing to the page store.
        """
        if isinstance(run.source, PageStore):
            with run.source.lock(shared=True):
                parts = run.source.parts()
                if not parts:
                    warehouse = run.source.root.parent
                    raise IngestError(f"nothing was ingested into {warehouse} yet; `quern ingest` does, or name PAGES")
                files = len({c.file for part in parts for c in part.live})
                return self._settled(parts, run, files, "driver")
        if run.source is None:
            raise IngestError("a build reads pages from files or from the page store; name one")
        given = of_source(run.source)
        directory = run.work / "pages"
        spans = [span for file in given for span in spans_of(file, self.settings.task_bytes)]
        parts, engine = read_spans(spans, self.settings, directory, run.engines)
        result = self._settled(mended(parts, given, self.settings, directory), run, 0, engine)
        if result.stages[0].rows == 0:
            why = typical_reject(parts)
            raise IngestError(f"no page could be read from {run.source}" + (f": {why}" if why else ""))
        shutil.rmtree(directory)
        return result

    def _settled(self, parts: Sequence[Part], run: Run, reused: int, engine: str) -> Made:
        """Write the pages and rejects of `parts`."""
        rejected = warned = 0
        for part in parts:
            for batch in part.batches("rejects", ["key", "reason", "detail"], rows=run.batch_rows):
                run.reject(self.name, list(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
                warnings = count_warnings(batch)
                rejected, warned = rejected + batch.num_rows - warnings, warned + warnings
        with run.folder(PAGES) as pages:
            for rows in latest_captures(parts, run.removals):
                rejects = [(reject.key, reject.reason, reject.detail) for reject in rows.rejects()]
                run.reject(self.name, rejects)
                rejected += len(rejects)
                if rows.whole:
                    digested = rows.part.batches("pages", pages.digest_columns)
                    pages.link(rows.part.path("pages"), rows.part.checksums["pages"], digested)
                elif rows.stays.any():
                    pages.write_all(rows.pages())
        stage = pages.stage()
        claims = [claim for part in parts for claim in part.live]
        files = len({claim.file for claim in claims})
        records = sum((Counter(claim.records) for claim in claims), Counter[str]())
        notes = {kind: float(count) if count % 1 else count for kind, count in sorted(records.items())}
        return Made((stage,), Counts(files, stage.rows, reused, files - reused, rejected, engine, notes, warned))
