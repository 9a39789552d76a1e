"""A whole-table job, run night after night."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any
from unittest import mock

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Made
from quern.jobs.core.run import Run, TableJob, run_whole


class Nights:
    """Runs of one job, each with a folder of its own: a stage is a file of its run."""

    def __init__(self, job: TableJob, run: Run) -> None:
        self.job, self.run, self.numbers = job, run, count()

    def made(self, inputs: Mapping[str, Stage], published: Stage | None = None) -> Made:
        """What the job makes on the night after `published` was made."""
        tonight = replace(self.run, stages=self.run.stages / str(next(self.numbers)))
        tonight.stages.mkdir(parents=True)
        with mock.patch.object(TableJob, "of_last_night", return_value=published):
            return run_whole(self.job, inputs, tonight)


def rows_of(made: Made | Stage) -> list[dict[str, Any]]:
    """The rows of a table, or of the one that was made."""
    stage = made.stages[0] if isinstance(made, Made) else made
    return [row for batch in stage.batches() for row in batch.to_pylist()]
