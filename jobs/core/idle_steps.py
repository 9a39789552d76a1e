"""Steps of a build that are left alone: what they would make was made last night, of the same and in the same way.

A build whose pages and settings are those of the last one makes nothing again: its tables are taken over, and those on
the way, which went when that build was done, are made only where a step that is run reads them. Where a table is
damaged, or a result in the memo, its step is run, which mends it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from quern.indexes.catalog import Snapshot
from quern.indexes.catalog.step_record import StepRecord
from quern.indexes.memo import is_whole
from quern.indexes.stages import Stage
from quern.jobs.core.run import Run
from quern.jobs.core.step import Finished, Step, repeat_report, use_memo_again
from quern.schemas.settings import Settings


def idle_steps(steps: Sequence[Step], settings: Settings, made: Mapping[str, Stage], run: Run) -> frozenset[str]:
    """Names of the steps that need not be run, as far as the tables `made` so far tell."""
    if (parent := run.parent) is None:
        return frozenset()
    pinned = parent.manifest.tables
    same = {name for name, stage in made.items() if name in pinned and pinned[name].digest == stage.digest}
    repeats: set[str] = set()
    for step in steps:
        if _repeats(step, settings, same, parent, run.memo):
            repeats.add(step.name)
            same.update(step.makes)
    idle, read = set[str](), set[str]()
    for step in reversed(steps):
        if step.name in repeats and not (step.scratch and read & set(step.makes)):
            idle.add(step.name)
        else:
            read.update(step.reads)
    return frozenset(idle)


def _repeats(step: Step, settings: Settings, same: set[str], parent: Snapshot, memo: Path) -> bool:
    """Whether a step would make what it made in the parent snapshot; not where what is kept of that is damaged."""
    record = _record(step, parent)
    if record is None or not record.final or not step.reads or not same.issuperset(step.reads):
        return False
    if record.fingerprint != step.job(settings).fingerprint():
        return False
    kept = [*([] if step.scratch else step.makes), *(["rejects"] if record.told else [])]
    whole = all(name in parent.manifest.tables and parent.stage(name).as_written() for name in kept)
    return whole and (not record.rows_in or all(is_whole(memo / folder) for folder in record.memo))


def left_alone(step: Step, settings: Settings, run: Run) -> Finished:
    """An idle step as if it had been run: its record and report, and its tables where they are kept.

    Raises:
        LookupError: There is no last build, or it had no such step.
    """
    record = _record(step, run.parent) if run.parent else None
    if record is None or run.parent is None:
        raise LookupError(f"the step {step.name} was not run before")
    job = step.job(settings)
    if any(report["job"] == job.name for report in run.parent.manifest.jobs):
        repeat_report(record, job, run)
    else:
        use_memo_again(record, run)
    stages = {} if step.scratch else {name: run.parent.stage(name) for name in step.makes}
    return Finished(record.model_copy(update={"computed": 0, "seconds": 0.0}), stages)


def _record(step: Step, parent: Snapshot) -> StepRecord | None:
    return next((record for record in parent.manifest.steps if record.name == step.name), None)
