"""A build in progress: a folder that tells which steps are finished, what they made and what they left out.

A whole build (`quern build`) has it in the warehouse's `work`, where it goes when the build ends. A build whose steps
are run one by one (`quern stage`), each in a process of its own, has it in `builds`, until it or another build is
published. A finished step is not run again; one that failed or was killed left nothing that counts.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from quern.indexes.catalog import Manifest, Warehouse
from quern.indexes.catalog.manifest import StepRecord
from quern.indexes.changes import changed_rows
from quern.indexes.checksums import DamagedError, read_sealed, write_sealed
from quern.indexes.page_store import PageStore
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.indexes.storage import sweep
from quern.jobs.core.progress import MemoryMeter
from quern.jobs.core.run import Run
from quern.jobs.core.step import Step, idle_steps, left_alone, makers, run_step
from quern.jobs.engines import Engines, core_count
from quern.jobs.tasks.generators.backends import prepare_generator
from quern.jobs.tasks.table import GeneratorEngine
from quern.jobs.vectors.embed import Embed
from quern.pipelines.audit import Subject, audit_tables, reject_shares
from quern.pipelines.build.history import record_published, record_unpublished
from quern.pipelines.build.lineage import Lineage
from quern.pipelines.build.records import AuditRecord, Begun, FinishedStep, TableFile, stage_of, table_file
from quern.pipelines.build.steps import STEPS
from quern.pipelines.pages.store import PAGE_STORE, lost_pages, page_store
from quern.pipelines.vacuum import tidy
from quern.schemas.addresses import Url, absolute
from quern.schemas.contract.expectations import SHARES
from quern.schemas.differences import RowChanges
from quern.schemas.errors import QuernError
from quern.schemas.settings import Settings
from quern.schemas.tables import NO_LOSS, REJECTS, TABLES, WARNINGS, Table

log = logging.getLogger(__name__)

_TABLES: Final = "tables"


class BuildRefusedError(QuernError):
    """A build that was written but failed its audit: nothing was published.

    Attributes:
        expectations: The critical expectations that failed.
    """

    def __init__(self, message: str, expectations: Sequence[str]) -> None:
        super().__init__(message)
        self.expectations = tuple(expectations)


class StageError(QuernError):
    """A step that cannot be run alone now; the message says what to do."""


class StagedBuild:
    """A build in progress, in a folder of its own."""

    def __init__(self, folder: Path, warehouse: Warehouse, begun: Begun) -> None:
        self.folder, self.warehouse, self.begun = folder, warehouse, begun
        try:
            self.settings = Settings.model_validate(begun.settings)
        except ValidationError:
            raise StageError(
                f"build {begun.build_id} was begun by another version of Quern: delete {folder} and begin another"
            ) from None
        self.parent = warehouse.snapshot(begun.parent, leased=False) if begun.parent else None

    @classmethod
    def begin(cls, folder: Path, warehouse: Warehouse, begun: Begun) -> StagedBuild:
        """A new build in `folder`."""
        write_sealed(folder / "begun.json", begun.model_dump(mode="json"))
        staged = cls(folder, warehouse, begun)
        staged.lineage.begun()
        return staged

    @classmethod
    def open(cls, folder: Path, warehouse: Warehouse) -> StagedBuild | None:
        """The build in `folder`; None where there is none."""
        try:
            begun = Begun.model_validate(read_sealed(folder / "begun.json", f"delete {folder} and begin another build"))
        except FileNotFoundError:
            return None
        return cls(folder, warehouse, begun)

    @cached_property
    def lineage(self) -> Lineage:
        """What tells the events of the build."""
        return Lineage(self.begun, self.warehouse, self.settings)

    @property
    def source(self) -> Path | Url | PageStore:
        """What pages are read from."""
        return self.begun.source or page_store(self.warehouse)

    def finished(self, step: Step) -> FinishedStep | None:
        """What is known of `step`, if it was run and what it made is there, as it was written."""
        record = _record(self.folder / "steps" / f"{step.name}.json")
        if record is None:
            return None
        known = FinishedStep.model_validate(record)
        tables = {
            name: file
            for name, made in known.tables.items()
            if (file := self._found(name, step.table(name, self.settings), made))
        }
        if len(tables) < len(known.tables) or not self._stage(REJECTS, known.rejects).as_written():
            return None
        return known.model_copy(update={"tables": tables})

    def _found(self, name: str, table: Table, file: TableFile) -> TableFile | None:
        """The table where it is now: one that repeats the parent's goes when it is pinned."""
        before = self.parent.manifest.tables.get(name) if self.parent else None
        there = (self.warehouse.root / file.path).exists()
        if not there and before is not None and before.digest == file.digest:
            update = {"path": Path(before.file), "checksum": before.checksum}
            file = file.model_copy(update=update)
        return file if self._stage(table, file).as_written() else None

    def _stage(self, table: Table, file: TableFile) -> Stage:
        return stage_of(table, file, self.warehouse.root)

    def tables(self, names: Sequence[str] | None = None) -> dict[str, Stage]:
        """The tables made so far, or those of them that are named."""
        return {
            name: self._stage(step.table(name, self.settings), known.tables[name])
            for step in (STEPS if names is None else makers(STEPS, names))
            if (known := self.finished(step))
            for name in step.makes
            if name in known.tables
        }

    @contextmanager
    def run(self, work: str = "") -> Iterator[Run]:
        """What jobs share; rejects are those of the step that is run.

        `work` is the folder, within that for temporary files, of a step that others may run beside.
        """
        folder = self.folder / "work" / work
        for path in folder.glob("*"):  # of a step that was killed
            if path.name != _TABLES:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        with new_run(self.begun.build_id, self.warehouse, self.settings, folder, self.warehouse.stages) as run:
            run.source, run.parent, run.started_at = self.source, self.parent, self.begun.started_at
            yield run

    def prepare(self, steps: Sequence[Step], run: Run) -> None:
        """See that `steps` can be done, before any work is.

        Raises:
            ModelError, GeneratorError: They cannot; the message says what to do.
        """
        for step in steps:
            step.job(self.settings).prepare()
        if any(step.engine(self.settings) == "generator" for step in steps):
            prepare_generator(self.settings.generator, self.settings.engine, run.work)

    def finish(self, step: Step, run: Run, meter: MemoryMeter | None = None) -> FinishedStep:
        """Run `step`, and record that it is finished; `meter`, if given, tells how much memory it took."""
        reports, idle = len(run.reports), step.name in self._idle(run)
        rejects = StageWriter(self.folder / "rejects" / f"{step.name}.parquet", REJECTS)
        with self.lineage.step(step) as results:
            with rejects as run.rejects:
                if idle:
                    finished = left_alone(step, self.settings, run)
                else:
                    self._check_finished(makers(STEPS, step.reads))
                    finished = run_step(step, self.settings, self.tables(step.reads), run)
            if meter and not idle:
                finished.record.peak_memory_bytes = meter.lap()
            known = FinishedStep(
                record=finished.record,
                reports=[vars(report) for report in run.reports[reports:]],
                tables={name: table_file(stage, self.warehouse.root) for name, stage in finished.stages.items()},
                rejects=table_file(rejects.stage(), self.warehouse.root),
            )
            write_sealed(self.folder / "steps" / f"{step.name}.json", known.model_dump(mode="json"))
            self._check_finished([step])
            results.append(known)
        return known

    def _check_finished(self, steps: Sequence[Step]) -> None:
        """Raises `StageError` where one of `steps` is not finished: a table of it would be left out in silence."""
        if lost := [step.name for step in steps if self.finished(step) is None]:
            raise StageError(
                f"what {', '.join(lost)} made for build {self.begun.build_id} is gone or damaged: begin another build"
            )

    def finish_idle(self, run: Run) -> None:
        """Record of the steps that need not be run that they are finished: no process has to begin for them."""
        for step in STEPS:
            if step.name in self._idle(run) and self.finished(step) is None:
                self.finish(step, run)

    def _idle(self, run: Run) -> frozenset[str]:
        """The steps that need not be run: that is seen once, when the first step has read the pages."""
        path = self.folder / "idle.json"
        if record := _record(path):
            return frozenset(record["steps"])
        if self.finished(STEPS[0]) is None:
            return frozenset()
        steps = idle_steps(STEPS, self.settings, self.tables(), run)
        write_sealed(path, {"steps": sorted(steps)})
        return steps

    def done(self) -> list[FinishedStep]:
        """The steps that are finished."""
        return [known for step in STEPS if (known := self.finished(step))]

    def ended(self, error: BaseException) -> None:
        """Keep in the table `builds` that the build was not published, and how far it came.

        What its steps tell is taken as it is: their tables are not read again, as the disk may be what failed.
        """
        records = (_record(self.folder / "steps" / f"{step.name}.json") for step in STEPS)
        done = [FinishedStep.model_validate(record) for record in records if record]
        record_unpublished(self.warehouse, self.begun, done, self.settings, error)

    def _reports(self) -> list[dict[str, Any]]:
        return [report for known in self.done() for report in known.reports]

    def rejects(self, pages: Stage) -> Stage:
        """All rejects of the build; of a page store also what the warehouse's crawls lost."""
        path = self.warehouse.stages / REJECTS.name / f"{self.begun.build_id}.parquet"
        with StageWriter(path, REJECTS) as writer:
            for known in self.done():
                writer.write_all(self._stage(REJECTS, known.rejects).batches())
            if self.begun.source is None:
                writer.write_all(lost_rejects(self.warehouse, pages, self.begun.build_id))
        return writer.stage()

    def audit(self) -> AuditRecord:
        """Audit the tables, and record that they passed.

        Raises:
            BuildRefusedError: They did not.
            StageError: One of them is gone or damaged.
        """
        started, begun = time.monotonic(), self.begun
        self._check_finished(STEPS)
        stages = {name: stage for name, stage in self.tables().items() if name in TABLES}
        stages["rejects"] = rejects = self.rejects(stages["pages"])
        parent = self.parent.manifest if self.parent else None
        records = [known.record for known in self.done()]
        subject = Subject(begun.build_id, begun.started_at, stages, self._reports(), records, parent)
        audited = audit_tables(self.warehouse, subject, self.settings)
        # Log what failed in the audit; stop where it is critical.
        for check in audited.audit.checks:
            if not check.passed:
                log.warning("audit %s failed: %s severity=%s", check.expectation, check.observed, check.severity)
        if failed := audited.audit.failures():
            observations = [f"{c.expectation}: {c.observed}" for c in failed]
            lost = _main_loss(subject)
            causes = [*lost, *observations] if failed[0].table == SHARES else [*observations, *lost]
            raise BuildRefusedError(
                f"build {begun.build_id} failed its audit and was not published: {'; '.join(causes)}; {audited.docs} "
                "shows the audit, `quern settings` its thresholds (group audit)",
                [check.expectation for check in failed],
            )
        record = AuditRecord(
            seconds=time.monotonic() - started,
            checks=[c.as_row() for c in audited.audit.checks],
            rejects=table_file(rejects, self.warehouse.root),
            reasons={f"{job}: {reason}": n for (job, reason), n in sorted(subject.reasons.items())},
            shares=reject_shares(subject.given, subject.reasons),
        )
        write_sealed(self.folder / "audit.json", record.model_dump(mode="json"))
        return record

    def audited(self) -> AuditRecord | None:
        """The audit, if it was passed."""
        record = _record(self.folder / "audit.json")
        if record is None:
            return None
        audit = AuditRecord.model_validate(record)
        rejects = self._found(REJECTS.name, REJECTS, audit.rejects)
        return audit.model_copy(update={"rejects": rejects}) if rejects else None

    def pinned(self, audit: AuditRecord) -> Manifest:
        """Write the tables that passed `audit` as versions, and say so in a manifest that is not published yet.

        Raises:
            StageError: One of them is gone or damaged.
        """
        self._check_finished(STEPS)
        begun, parent = self.begun, self.parent.manifest if self.parent else None
        stages = {name: stage for name, stage in self.tables().items() if name in TABLES}
        stages["rejects"] = self._stage(REJECTS, audit.rejects)
        changes = {name: self._changes(stage) for name, stage in stages.items()}  # Before pinning moves equal tables.
        return Manifest(
            build_id=begun.build_id,
            parent=begun.parent,
            started_at=begun.started_at,
            source=str(absolute(begun.source)) if begun.source else PAGE_STORE,
            tables={name: self.warehouse.pin(stage, parent) for name, stage in stages.items()},
            changes=changes,
            jobs=self._reports(),
            steps=[known.record for known in self.done()],
            audit=audit.checks,
            rejects={of: n for of, n in audit.reasons.items() if not _is_warning(of)},
            warnings={of: n for of, n in audit.reasons.items() if _is_warning(of)},
            reject_shares=audit.shares,
            settings=self.settings.model_dump(),
            model=str(Embed(self.settings.embed).configuration()["model"]),
        )

    def _changes(self, stage: Stage) -> RowChanges:
        """How many rows of a table differ from the parent's; equal digests tell that none does."""
        name = stage.table.name
        if self.parent is None or name not in self.parent.manifest.tables:
            return RowChanges(added=stage.rows)
        try:
            return changed_rows(self.parent.stage(name), stage).counts
        except (OSError, ValueError, DamagedError) as error:  # A damaged parent keeps no build from being published.
            log.warning("table %s of %s cannot be compared: %s", name, self.begun.parent, error)
            return RowChanges(added=stage.rows)

    def publish(self, manifest: Manifest) -> Manifest:
        """Publish what is pinned as a snapshot; other builds in progress end with that, and what is old goes."""
        manifest = self.warehouse.publish(manifest)
        self.lineage.published(manifest)
        record_published(self.warehouse, manifest)
        tidy(self.warehouse, manifest.build_id, self.settings)
        sweep(self.warehouse.root)
        if manifest.parent is not None:
            for name, changes in manifest.changes.items():
                if changes.any:
                    log.info("table=%s %s rows=%d", name, changes, manifest.tables[name].rows)
        log.info(
            "build=%s published seconds=%.1f peak_memory_mib=%d",
            manifest.build_id,
            manifest.seconds,
            manifest.peak_memory_bytes >> 20,
        )
        return manifest


@contextmanager
def new_run(build_id: str, warehouse: Warehouse, settings: Settings, work: Path, stages: Path) -> Iterator[Run]:
    """What jobs share: temporary files in `work`, tables in `stages`; rejects go to `work` until told otherwise."""
    work.mkdir(parents=True, exist_ok=True)
    rejects = work / "rejects.parquet"
    rates = {}
    if settings.engine.engine == "auto":
        records = busiest(warehouse.whole_manifests()[::-1], "job")
        rates = {job: record.seconds / record.computed for job, record in records.items() if record.computed}
    with (
        Engines(settings.engine, GeneratorEngine, rates, work) as engines,
        StageWriter(rejects, REJECTS) as writer,
    ):
        yield Run(
            build_id=build_id,
            memo=warehouse.memo,
            work=work,
            stages=stages,
            engines=engines,
            rejects=writer,
            batch_rows=settings.engine.batch_rows,
            task_rows=settings.engine.task_rows,
            file_rows=settings.engine.file_rows,
            cores=core_count(settings.engine),
            removals=page_store(warehouse).removals(),
        )


def busiest(history: Sequence[Manifest], by: Literal["name", "job"]) -> dict[str, StepRecord]:
    """Of each step, or each job, the record of the build that computed most rows of it, the newest of those.

    Args: `history`: manifests, the newest first.
    """
    most: dict[str, StepRecord] = {}
    for record in (record for manifest in history for record in manifest.steps):
        if (name := getattr(record, by)) not in most or record.computed > most[name].computed:
            most[name] = record
    return most


def _record(path: Path) -> dict[str, Any] | None:
    """What was written of a part of a build that is finished; None where nothing was, or it is damaged."""
    try:
        return read_sealed(path, "it is done again")
    except FileNotFoundError:
        return None
    except DamagedError as error:
        log.warning("%s", error)
        return None


def lost_rejects(warehouse: Warehouse, pages: Stage, build_id: str) -> Iterator[pa.RecordBatch]:
    """Rejects of what the warehouse's crawls lost, but for pages that another crawl or ingest did get."""
    for plan in sorted((warehouse.root / "crawl").glob("*/plan.json")):
        log.info("crawl=%s is not finished: the page store lacks its pages", plan.parent.name)
    for batch in lost_pages(warehouse):
        got = pages.lookup("url", batch.column("key"), ["url"]).column("url")
        lost = batch.filter(pc.invert(pc.is_in(batch.column("key"), value_set=got.combine_chunks())))
        column = lost.schema.get_field_index("build_id")
        yield lost.set_column(column, "build_id", pa.array([build_id] * lost.num_rows, pa.string()))


def _is_warning(of: str) -> bool:
    """Whether `job: reason` tells of rows that were kept."""
    return of.partition(": ")[2] in WARNINGS


def _main_loss(subject: Subject) -> list[str]:
    """The reason that most rows were lost for, with the first of them; empty where none was lost."""
    losses = Counter({of: n for of, n in subject.reasons.items() if of[1] not in NO_LOSS})
    for (job, reason), count in losses.most_common(1):
        batches = subject.stages[REJECTS.name].batches(rows=1)
        first = next(r for b in batches for r in b.to_pylist() if (r["job"], r["reason"]) == (job, reason))
        rows = subject.given.get(job, count)
        return [f"{count} of {rows} rows lost by {job}: {reason}, the first {first['key']} ({first['detail']})"]
    return []
