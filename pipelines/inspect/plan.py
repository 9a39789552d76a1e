"""What a build would do: per step, rows to compute and to reuse, why, and how long that takes.

Pages are read and the memo is asked, step by step, for as long as it knows every row: then a table on the way is made
as the build would make it, in a temporary folder. From the first step on that has rows to compute, what follows is
estimated by the proportions of the last build. Nothing is published, computed or left behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from quern.indexes.catalog import Manifest, Warehouse
from quern.indexes.catalog.manifest import StepRecord
from quern.indexes.memo import Memo
from quern.indexes.stages import Stage
from quern.jobs.core.contract import Contract, Job, Source
from quern.jobs.core.run import Run, TableJob
from quern.jobs.core.step import Step, makers, run_step, same_before
from quern.jobs.engines.scratch import Scratch
from quern.pipelines.build.in_progress import busiest, new_run
from quern.pipelines.build.steps import STEPS
from quern.pipelines.pages.store import page_store
from quern.schemas.addresses import Url
from quern.schemas.row_digests import row_fingerprints
from quern.schemas.settings import Settings

_QUIET: Final = "nothing changed"


@dataclass(frozen=True)
class PlannedStep:
    """What one step of a build would do."""

    name: str  # Name of the step.
    upstream: tuple[str, ...]  # Steps that make what it reads.
    reads: tuple[str, ...]  # Tables that it reads.
    makes: tuple[str, ...]  # Tables that it makes.
    needs: tuple[str, ...]  # Groups of settings that it depends on.
    kind: str  # `row-wise` or `whole table`.
    engine: str  # What it may need beside the build's process; empty for nothing.
    compute: int | None  # Rows to compute; None where no build was before that would tell.
    reuse: int | None  # Rows whose results are known.
    exact: bool  # Whether both are exact.
    why: str  # Why rows are to be computed, and how many are gone.
    seconds: float | None  # Expected time by the rates of builds before; None where there are none.
    files: int  # Files of each table that it makes; of several, workers write each.
    removed: int = 0  # Rows by which it reads fewer than in the last build; of the first step, those it makes.


@dataclass(frozen=True)
class Plan:
    """What a build would do.

    Attributes:
        parent: The published snapshot; None before the first.
        steps: Its steps, in order.
        seconds: Expected time of all steps; None where a step's is not known.
    """

    parent: str | None
    steps: tuple[PlannedStep, ...]

    @property
    def seconds(self) -> float | None:
        """Expected time of all steps, without start of engines, audit and publication."""
        times = [step.seconds for step in self.steps if step.seconds is not None]
        return round(sum(times), 1) if len(times) == len(self.steps) else None


def plan_build(source: Path | Url | None, warehouse: Path, settings: Settings) -> Plan:
    """What a build of the pages under `source`, or of the page store, would do.

    Args:
        source: Folder or file of pages; None for the page store.
        warehouse: Where the build would be; it need not be there yet if pages are named.
        settings: Settings of the build.

    Raises:
        IngestError: There is nothing to read.
        WarehouseError: There is no warehouse, and no pages were named.
    """
    there = source is None or (warehouse / "warehouse.json").exists()
    catalog = Warehouse.open(warehouse) if there else Warehouse(warehouse)
    # A cheap walk needs no engine; which one runs a job changes no result.
    local = {"engine": "local", "spark_master": "", "ray_address": ""}
    here = settings.model_copy(update={"engine": settings.engine.model_copy(update=local)})
    with Scratch("plan") as scratch:
        work = scratch.path
        with new_run("plan", catalog, here, work, work / "stages") as run:
            run.source, run.dry = source or page_store(catalog), True
            parent = catalog.parent_id()
            run.parent = catalog.snapshot(parent) if parent else None
            if not run.memo.is_dir():
                run.memo = work / "memo"
            walk = _Walk(here, run, catalog.whole_manifests()[::-1])
            planned = tuple(replace(walk.next(step), engine=step.engine(settings)) for step in STEPS)
        return Plan(run.parent.manifest.build_id if run.parent else None, planned)


@dataclass(frozen=True)
class _Table:
    """What a plan knows of a table."""

    stage: Stage | None  # The table; None where it is only estimated.
    rows: float | None  # Rows that it will have.
    fresh: float | None  # Rows of those that no build made before; all None where nothing tells.


@dataclass(frozen=True)
class _Work:
    """Rows that a step is to compute, of how many, and what it makes."""

    rows: float | None
    compute: float | None
    made: Mapping[str, _Table]


@dataclass
class _Walk:
    """A walk along the steps."""

    settings: Settings
    run: Run
    history: Sequence[Manifest]
    tables: dict[str, _Table] = field(default_factory=dict)

    def next(self, step: Step) -> PlannedStep:
        """What `step` would do, after those before it."""
        job = step.job(self.settings)
        inputs = {name: table.stage for name in step.reads if (table := self.tables[name]).stage is not None}
        exact = len(inputs) == len(step.reads)
        work = self._exactly(step, job, inputs) if exact else self._by_proportion(step, job)
        self.tables |= work.made
        known = all(table.stage is not None for table in work.made.values())
        to_do = exact and isinstance(job, Job)  # What the memo lacks is counted, even where it cannot be made.
        compute = None if work.compute is None else round(work.compute)
        removed, most = self._removed(step, work), self.settings.engine.file_rows
        # By the build that computed most rows of the step, the newest of those. A step that had nothing to compute yet
        # takes what it took to see that, at least.
        seconds, busy = 0.0 if compute == 0 else None, busiest(self.history, "name").get(step.name)
        if compute and busy:
            seconds = round(compute * busy.seconds / busy.computed if busy.computed else busy.seconds, 1)
        return PlannedStep(
            name=step.name,
            upstream=tuple(maker.name for maker in makers(STEPS, step.reads)),
            reads=step.reads,
            makes=step.makes,
            needs=step.needs,
            kind="row-wise" if isinstance(job, Job) else "whole table",
            engine="",
            compute=compute,
            reuse=None if work.rows is None or compute is None else max(0, round(work.rows) - compute),
            exact=known or to_do,
            why=self._why(step, job, compute, removed, "" if exact else "~"),
            seconds=seconds,
            files=max(1, -(-round(work.rows or 0) // most)) if job.in_files else 1,
            removed=removed,
        )

    def _exactly(self, step: Step, job: Job | TableJob, inputs: Mapping[str, Stage]) -> _Work:
        """The work of a step whose tables are known; those it makes too, where that costs little."""
        parts = [(job, job.source(inputs))] if isinstance(job, Job) else job.parts(inputs)
        lacking = sum(_lacking(part, source, self.run) for part, source in parts)
        known = same_before(step, job, inputs, self.run) is not None
        dear = isinstance(job, TableJob) and job.incremental
        if known or not (lacking or dear):
            result = run_step(step, self.settings, inputs, self.run)
            tables = {name: _Table(stage, stage.rows, 0.0) for name, stage in result.stages.items()}
            return _Work(result.record.rows_in, result.record.computed, tables)
        rows = float(parts[0][1].rows if parts else inputs[step.reads[0]].rows)
        record = self._record(step)
        if not parts:
            # Only the number tells of what an incremental job has to do.
            same = record is not None and record.fingerprint == job.fingerprint()
            lacking_rows = max(0.0, rows - record.rows_in) if record and same else rows
            return self._estimated(step, rows, lacking_rows)
        return self._estimated(step, rows, float(lacking))

    def _by_proportion(self, step: Step, job: Job | TableJob) -> _Work:
        """The work of a step whose tables are estimated themselves."""
        record, source = self._record(step), self.tables[step.reads[0]]
        if record is None or source.rows is None or source.fresh is None:
            return _Work(None, None, {name: _Table(None, None, None) for name in step.makes})
        before = next((self._record(maker) for maker in makers(STEPS, step.reads[:1])), None)
        share = record.rows_in / max(1, before.rows.get(step.reads[0], 0) if before else 0)
        rows, fresh = source.rows * share, source.fresh * share
        anew = record.fingerprint != job.fingerprint() or not job.reuses
        same = record.fingerprint == job.fingerprint()
        return self._estimated(step, rows, rows if anew else fresh, fresh if same else rows)

    def _estimated(self, step: Step, rows: float, compute: float, changed: float | None = None) -> _Work:
        """So much work, and the tables that it would make by the last build's proportions.

        Of `rows` it is to compute `compute`; of those no build made `changed` before, where they are fewer.
        """
        record = self._record(step)
        if record is None or not record.rows_in:
            return _Work(rows, compute, {name: _Table(None, None, None) for name in step.makes})
        shares = {name: record.rows.get(name, 0) / record.rows_in for name in step.makes}
        fresh = {name: (compute if changed is None else changed) * share for name, share in shares.items()}
        return _Work(rows, compute, {n: _Table(None, rows * share, fresh[n]) for n, share in shares.items()})

    def _record(self, step: Step) -> StepRecord | None:
        """What the published snapshot keeps of the step."""
        manifest = self.run.parent.manifest if self.run.parent else None
        return next((record for record in manifest.steps if record.name == step.name), None) if manifest else None

    def _removed(self, step: Step, work: _Work) -> int:
        """Rows by which a step is given fewer than in the last build; of reading, by which there are fewer pages."""
        record = self._record(step)
        if record is None:
            return 0
        if step.reads:
            before, rows = record.rows_in, work.rows
        else:
            before, after = sum(record.rows.values()), [table.rows for table in work.made.values()]
            rows = None if None in after else sum(row for row in after if row is not None)
        return 0 if rows is None else max(0, before - round(rows))

    def _why(self, step: Step, job: Contract, compute: int | None, removed: int, about: str) -> str:
        record = self._record(step)
        if record is None or self.run.parent is None:
            return "first build"
        if record.fingerprint != job.fingerprint():
            return "; ".join(_changes(step, job, record, self.run.parent.manifest, self.settings))
        if not step.reads:
            why = "files are read anew" if compute else ""
        elif step.scratch and not job.reuses:
            why = "on the way: made by every build"
        else:  # What is made anew of what is left is no new input.
            why = "new input" if compute and not (removed and not job.reuses) else ""
        gone = f"{about}{removed:,} removed" if removed else ""
        return "; ".join(filter(None, (why, gone))) or _QUIET


def _lacking(job: Job, source: Source, run: Run) -> int:
    """Rows of `source` that the memo of `job` lacks, each content once."""
    directory = run.memo / job.name / job.fingerprint()
    memo = Memo(directory) if directory.is_dir() else None
    missing: set[bytes] = set()
    for batch in source.batches(job.identity, run.batch_rows):
        prints = row_fingerprints(batch, job.identity)
        missing.update(p.tobytes() for p in (prints if memo is None else prints[~memo.final(prints)]))
    return len(missing)


def _changes(step: Step, job: Contract, record: StepRecord, before: Manifest, settings: Settings) -> Iterator[str]:
    """Why the job's fingerprint is another than that of `record`."""
    if record.version != job.version:
        yield f"changed version ({record.version} to {job.version})"
    now, then = _leaves(dict(job.configuration())), _leaves(record.configuration)
    keys = {name for name in now.keys() | then.keys() if now.get(name) != then.get(name)}
    names = []
    for group in step.needs:
        values, old = getattr(settings, group).model_dump(mode="json"), before.settings.get(group, {})
        names += [f"{group}.{name}" for name, value in values.items() if name in old and str(old[name]) != str(value)]
    if "model" in keys:
        yield "changed model"
    relevant = [name for name in names if name.partition(".")[2] in keys] or names
    if relevant:
        yield f"changed setting {', '.join(relevant)}"
    elif keys - {"model"}:
        yield f"changed version ({', '.join(sorted(keys - {'model'}))})"
    elif record.version == job.version and not keys:
        yield "changed version"


def _leaves(tree: Mapping[str, Any]) -> dict[str, str]:
    """The values of a tree under the last part of their names, as text."""
    leaves: dict[str, str] = {}
    for name, value in tree.items():
        leaves |= _leaves(value) if isinstance(value, Mapping) else {name: str(value)}
    return leaves
