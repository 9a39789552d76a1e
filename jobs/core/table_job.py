"""Jobs that need whole tables, and how one is run."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Contract, Job, Made, Source
from quern.jobs.core.run import Run


class TableJob(Contract):
    """A job that needs whole tables: it sorts, counts, compares or shuffles them."""

    @property
    def engine(self) -> Literal["none", "cpu", "model"]:
        """What it may need beside this process: Spark (`cpu`), or Ray (`model`)."""
        return "none"

    @abstractmethod
    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Make the tables of `inputs`, which have the names that the step of the build gives them."""

    def parts(self, inputs: Mapping[str, Stage]) -> Sequence[tuple[Job, Source]]:
        """Row-wise jobs that it runs through the memo, each with its rows, as far as `inputs` tell."""
        return ()

    @property
    def incremental(self) -> bool:
        """Whether it takes up from what it kept of the last build, so that new rows alone cost much."""
        return False

    def of_last_night(self, table: str, run: Run) -> Stage | None:
        """What this job made of `table` in the parent snapshot, if in the same way, and as it was written."""
        if run.parent is None or table not in run.parent.manifest.tables:
            return None
        record = next((r for r in run.parent.manifest.steps if table in r.makes), None)
        published = run.parent.stage(table)
        if record is None or record.fingerprint != self.fingerprint():
            return None
        return published if published.as_written() else None

    @property
    def reuses(self) -> bool:
        """Whether it keeps what it knows, or its row-wise parts do."""
        return self.incremental or type(self).parts is not TableJob.parts


def run_whole(job: TableJob, inputs: Mapping[str, Stage], run: Run) -> Made:
    """What `job` makes of whole tables, reported."""
    started = time.monotonic()
    made = job.run(inputs, run)
    if made.counts is not None:
        run.report(job, made.counts, started)
    return made
