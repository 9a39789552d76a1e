"""A step of a build: a job, the settings it needs, the tables it reads and makes; and how a step is run.

The list of steps is `pipelines.build.steps.STEPS`. Steps are idle, and left alone, where they would make what the last
build made, of the same and in the same way: their tables are taken over. Where a table is damaged, or a result in the
memo, the step is run, which mends it. A table that is not declared in `schemas.tables` is a step on the
way: it goes when the build is done.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeVar, cast

import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot
from quern.indexes.catalog.manifest import StepRecord
from quern.indexes.memo import is_damaged, is_whole
from quern.indexes.memo_uses import night_of, use_again
from quern.indexes.stages import Stage
from quern.jobs.core.contract import Contract, Counts, Job, Made
from quern.jobs.core.run import JobReport, Run, TableJob, derived, run_whole
from quern.schemas.settings import Settings
from quern.schemas.tables import TABLES, Table

_ENGINES = {"cpu": "spark", "model": "ray", "none": ""}


@dataclass(frozen=True)
class Step:
    """One step of a build."""

    name: str  # Name, as `quern stage` takes it.
    # Makes its job of the groups of settings that it needs, in their order; or its name, `module:name` in `quern.jobs`.
    of: Callable[..., Job | TableJob] | str
    needs: tuple[str, ...]  # Those groups.
    reads: tuple[str, ...]  # Tables that it reads.
    makes: tuple[str, ...]  # Tables that it makes.

    def job(self, settings: Settings) -> Job | TableJob:
        """Its job with these settings."""
        of = self.of
        if not callable(of):
            module, _, name = of.partition(":")
            of = cast("Callable[..., Job | TableJob]", getattr(import_module(f"quern.jobs.{module}"), name))
        return of(*(getattr(settings, group) for group in self.needs))

    def table(self, name: str, settings: Settings) -> Table:
        """One of the tables that it makes; that of a declared one is told without its job."""
        return TABLES.get(name) or self.job(settings).tables[self.makes.index(name)]

    @property
    def scratch(self) -> bool:
        """Whether what it makes goes when the build is done."""
        return self.makes[0] not in TABLES

    def engine(self, settings: Settings) -> str:
        """The engine that it may need beside this process; empty for none."""
        job = self.job(settings)
        return "generator" if isinstance(job, Job) and job.by_model else _ENGINES[job.engine]


@dataclass(frozen=True)
class Finished:
    """A step that was run."""

    record: StepRecord  # What the manifest keeps of it.
    stages: Mapping[str, Stage]  # The tables made, by name.


def run_step(step: Step, settings: Settings, tables: Mapping[str, Stage], run: Run) -> Finished:
    """Run a step over those of `tables` that it reads.

    A whole-table job is not run where the parent snapshot's step read the same and had the same fingerprint: its
    tables are taken over, and its rejects. A row-wise one asks the memo for every row.
    """
    started, reports, asked = time.monotonic(), len(run.reports), len(run.asked)
    job, inputs = step.job(settings), {name: tables[name] for name in step.reads}
    if isinstance(job, Job):
        result = derived(job, job.source(inputs), run, scratch=step.makes[0] if step.scratch else "")
    elif (
        (before := same_before(step, job, inputs, run)) is not None
        and run.parent is not None
        # What the memo keeps for it and is damaged none but the job itself mends.
        and not any(is_damaged(run.memo / folder) for folder in before.memo)
    ):
        repeat_report(before, job, run)
        result = Made(tuple(run.parent.stage(name) for name in step.makes), counts=None)
    else:
        result = run_whole(job, inputs, run)
    outputs = dict(zip(step.makes, result.stages, strict=True))
    rows_in, out = sum(stage.rows for stage in inputs.values()), sum(stage.rows for stage in result.stages)
    counts: Counts | JobReport = Counts(rows_in, out, reused=0, computed=rows_in, rejected=0)
    if len(run.reports) > reports:
        counts = run.reports[-1]
    record = StepRecord(
        name=step.name,
        job=job.name,
        version=job.version,
        fingerprint=job.fingerprint(),
        configuration=json.loads(json.dumps(dict(job.configuration()), default=str)),
        reads={name: stage.digest for name, stage in inputs.items()},
        makes={name: stage.digest for name, stage in outputs.items()},
        rows={name: stage.rows for name, stage in outputs.items()},
        seconds=round(time.monotonic() - started, 3),
        final=result.final,
        memo=sorted(set(run.asked[asked:])),
        rows_in=counts.rows_in,
        rows_out=counts.rows_out,
        computed=counts.computed,
        rejected=counts.rejected,
        warned=counts.warned,
        notes=dict(counts.notes),
    )
    return Finished(record, outputs)


def same_before(step: Step, job: Contract, inputs: Mapping[str, Stage], run: Run) -> StepRecord | None:
    """The step of the parent snapshot, if it read the same, had the same fingerprint, and all it made is there."""
    if run.parent is None or not inputs or step.scratch:
        return None
    record = next((r for r in run.parent.manifest.steps if r.name == step.name), None)
    if record is None or not record.final or record.fingerprint != job.fingerprint():
        return None
    same = record.reads == {name: stage.digest for name, stage in inputs.items()}
    there = same and all(run.parent.stage(name).as_written() for name in (*step.makes, "rejects"))
    return record if there else None


def repeat_report(record: StepRecord, job: Contract, run: Run) -> None:
    """Report of a job what it did in the parent snapshot's step, with what it left out: all is as it was."""
    started = time.monotonic()
    use_memo_again(record, run)
    if record.told and run.parent is not None:
        for batch in run.parent.stage("rejects").batches(["job", "key", "reason", "detail"]):
            rows = batch.filter(pc.equal(batch.column("job"), job.name)).to_pylist()
            run.reject(job.name, [(row["key"], row["reason"], row["detail"]) for row in rows])
    counts = Counts(
        rows_in=record.rows_in,
        rows_out=record.rows_out,
        reused=record.rows_in,
        computed=0,
        rejected=record.rejected,
        warned=record.warned,
        engine="none",
        notes=record.notes,
    )
    run.report(job, counts, started)


def use_memo_again(record: StepRecord, run: Run) -> None:
    """Let the memo know that a step which is not run would use the results that the parent snapshot's step used."""
    run.asked += record.memo
    if run.parent is not None:
        for folder in record.memo:
            use_again(run.memo / folder, night_of(run.parent.manifest.build_id), night_of(run.build_id))


def last_uses(steps: Sequence[Step], settings: Settings) -> dict[str, str]:
    """For each engine that may be needed the last step that needs it."""
    return {engine: step.name for step in steps if (engine := step.engine(settings))}


def makers(steps: Sequence[Step], tables: Sequence[str]) -> list[Step]:
    """The steps that make `tables`."""
    return [step for step in steps if set(step.makes) & set(tables)]


class Joint(Protocol):
    """What a step and its record say of the tables that it reads and makes: their names."""

    @property
    def reads(self) -> Collection[str]:
        """Names of those it reads."""

    @property
    def makes(self) -> Collection[str]:
        """Names of those it makes."""


AnyStep = TypeVar("AnyStep", bound=Joint)


def upstream(steps: Sequence[AnyStep], tables: Iterable[str]) -> list[AnyStep]:
    """The steps that `tables` are made by, in order."""
    names, result = set(tables), list[AnyStep]()
    for step in reversed(steps):
        if names & set(step.makes):
            result.append(step)
            names |= set(step.reads)
    return result[::-1]


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
    idle, inputs = set[str](), set[str]()
    for step in reversed(steps):
        if step.name in repeats and not (step.scratch and inputs & set(step.makes)):
            idle.add(step.name)
        else:
            inputs.update(step.reads)
    return frozenset(idle)


def _repeats(step: Step, settings: Settings, same: set[str], parent: Snapshot, memo: Path) -> bool:
    """Whether a step would make what it made in the parent snapshot; not where what is kept of that is damaged."""
    record = _record(step, parent)
    if record is None or not record.final or not step.reads or not same.issuperset(step.reads):
        return False
    if record.fingerprint != step.job(settings).fingerprint():
        return False
    names = [*([] if step.scratch else step.makes), *(["rejects"] if record.told else [])]
    whole = all(name in parent.manifest.tables and parent.stage(name).as_written() for name in names)
    return whole and (not record.rows_in or all(is_whole(memo / folder) for folder in record.memo))


def left_alone(step: Step, settings: Settings, run: Run) -> Finished:
    """An idle step as if it had been run: its record and report, and its tables where they are kept.

    Raises LookupError: there is no last build, or it had no such step.
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
    return Finished(record.model_copy(update={"computed": 0, "seconds": 0.0, "peak_memory_bytes": 0}), stages)


def _record(step: Step, parent: Snapshot) -> StepRecord | None:
    return next((record for record in parent.manifest.steps if record.name == step.name), None)
