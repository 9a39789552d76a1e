"""Running jobs through the memo: ask what is known, compute what is missing, write the table made."""

from __future__ import annotations

import logging
import shutil
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from quern.indexes.catalog import Snapshot
from quern.indexes.memo import Memo, committed_inputs, memo_schema
from quern.indexes.memo_uses import mark_used, night_of
from quern.indexes.page_store import PageStore, Removals
from quern.indexes.stage_writers import FolderWriter, StageWriter
from quern.indexes.stages import Stage
from quern.jobs.core.contract import Contract, Counts, Job, Made, Source
from quern.jobs.core.progress import watched
from quern.jobs.core.table_writing import (
    JobRows,
    Partition,
    RowNotes,
    Rows,
    input_keys,
    keys_in_turn,
    write_partitions,
    write_rows,
)
from quern.jobs.core.work import EnginePool, MissingRows, Ran, Work
from quern.schemas.addresses import Url
from quern.schemas.digests import Fingerprints
from quern.schemas.row_digests import joined_fingerprints, row_fingerprints
from quern.schemas.tables import REJECTS, Table

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobReport:
    """What one job did in one build: one line of the log, one entry of the manifest."""

    job: str
    fingerprint: str
    rows_in: int
    rows_out: int
    reused: int
    computed: int
    rejected: int
    seconds: float
    engine: str
    notes: Mapping[str, float] = field(default_factory=dict)
    warned: int = 0

    def line(self) -> str:
        """The report as key=value pairs."""
        reused = "all" if self.computed == 0 else str(self.reused)
        notes = "".join(f" {k}={v}" for k, v in self.notes.items())
        warned = f"warned={self.warned} " if self.warned else ""
        return (
            f"job={self.job} in={self.rows_in} out={self.rows_out} reused={reused} computed={self.computed} "
            f"rejected={self.rejected} {warned}seconds={self.seconds:.1f} engine={self.engine}{notes}"
        )


@dataclass
class Run:
    """What the jobs of one build share."""

    build_id: str  # Name of the build.
    memo: Path  # Directory of the memo.
    work: Path  # Directory for the build's temporary files.
    stages: Path  # Directory that staged tables are written to.
    engines: EnginePool  # Engines of the build.
    rejects: StageWriter  # Where rejects go.
    batch_rows: int  # Rows read at a time.
    task_rows: int  # Rows of one committed part, unless the job says otherwise.
    cores: int  # Cores of this machine that the build may use.
    file_rows: int = 50_000  # Inputs of a job above which workers write its table, a file for so many.
    source: Path | Url | PageStore | None = None  # What pages are read from: files, or the page store.
    started_at: datetime | None = None  # When the build began; None where that is not known.
    parent: Snapshot | None = None  # The published snapshot that this build is made upon; None for the first.
    removals: Removals = field(default_factory=Removals)  # The pages that were removed.
    # Whether it only looks: jobs are not logged, and the memo, which others may be writing, stays as it is.
    dry: bool = False
    reports: list[JobReport] = field(default_factory=list)  # One per finished job, in order.
    # Folders of the memo that were asked, in order, each as often as it was.
    asked: list[str] = field(default_factory=list)

    def path(self, table: Table) -> Path:
        """Where the build's version of `table` is."""
        return self.stages / table.name / f"{self.build_id}.parquet"

    def scratch_path(self, name: str) -> Path:
        """Where a table is that only this build needs."""
        return self.work / "tables" / f"{name}.parquet"

    def writer(self, table: Table) -> StageWriter:
        """A writer of the build's version of `table`."""
        return StageWriter(self.path(table), table)

    def folder(self, table: Table) -> FolderWriter:
        """A writer of the build's version of `table` as a folder of files that may exist already."""
        return FolderWriter(self.path(table), table)

    def scratch(self, table: Table) -> StageWriter:
        """A writer of a table that only this build needs."""
        return StageWriter(self.scratch_path(table.name), table)

    def reject(self, job: str, rows: list[tuple[str, str, str]]) -> None:
        """Record (key, reason, detail) of what `job` left out."""
        records = [
            {"job": job, "key": key, "reason": reason, "detail": detail, "build_id": self.build_id}
            for key, reason, detail in rows
        ]
        if records:
            self.rejects.write(pa.RecordBatch.from_pylist(records, schema=REJECTS.schema))

    def report(self, job: Contract, counts: Counts, started: float) -> None:
        """Log and keep what a job did that began at `started` of the monotonic clock."""
        seconds = round(time.monotonic() - started, 3)
        report = JobReport(job=job.name, fingerprint=job.fingerprint(), seconds=seconds, **vars(counts))
        if not self.dry:
            log.info("%s", report.line())
        self.reports.append(report)


@dataclass(frozen=True)
class Memoised:
    """A job's results over a stage, all of them in the memo; `prints` are the fingerprints of its rows, in order."""

    job: Job
    memo: Memo
    prints: Fingerprints
    computed: int
    ran: Ran
    started: float

    def results(self, start: int, rows: int) -> pa.RecordBatch:
        """Nested results of `rows` rows of the stage from number `start` on."""
        if rows == 0:
            return pa.RecordBatch.from_pylist([], schema=memo_schema(self.job.makes.schema))
        return self.memo.lookup(self.prints[start : start + rows])

    def counts(self, rows_out: int, rejected: int, notes: Mapping[str, float] | None = None) -> Counts:
        """What is reported of the job."""
        return Counts(
            rows_in=len(self.prints),
            rows_out=rows_out,
            reused=len(self.prints) - self.computed,
            computed=self.computed,
            rejected=rejected,
            engine=self.ran.by,
            notes={**self.ran.notes, **(notes or {})},
        )


def memoise(job: Job, stage: Source, run: Run) -> Memoised:
    """Compute what the memo lacks of `job` over `stage`; memory: 16 bytes a row."""
    started = time.monotonic()
    directory = run.memo / job.name / job.fingerprint()
    if not run.dry:
        directory.mkdir(parents=True, exist_ok=True)
    run.asked.append(directory.relative_to(run.memo).as_posix())
    memo = before = Memo(directory)
    work_directory = run.work / job.name
    missing = MissingRows(work_directory, job)
    prints = _find_missing(job, memo, missing, stage, run)
    mended = not run.dry and memo.mend()
    ran = Ran("none")
    if missing.rows:
        chosen = run.engines.choose(job, missing.rows)
        # Few large parts in a large build, so that its memo opens fast; enough of them to keep all cores busy.
        task_rows = job.task_rows or max(run.task_rows, min(1024, missing.rows // (32 * run.cores)))
        work = Work(job, missing.files, missing.schema, directory, task_rows)
        there = committed_inputs(directory)
        with watched(job.name, missing.rows, lambda: committed_inputs(directory) - there):
            ran = chosen.run(work)
    if missing.rows or mended:
        memo = Memo(directory)
    mark_used(memo, before, night_of(run.build_id))
    shutil.rmtree(work_directory, ignore_errors=True)
    return Memoised(job, memo, prints, missing.rows, ran, started)


def _find_missing(job: Job, memo: Memo, missing: MissingRows, stage: Source, run: Run) -> Fingerprints:
    """Fingerprints of all rows; those that the memo lacks are given to `missing`."""
    prints: list[Fingerprints] = []
    if job.known_by:
        # A quiet night need not read what is known by its digest.
        prints = [row_fingerprints(b, job.identity) for b in stage.batches(job.identity, run.batch_rows)]
        at = 0
        final = [memo.final(part) for part in prints]
        if not all(there.all() for there in final):
            columns = [*dict.fromkeys((*job.reads, *job.identity))]
            every, there = joined_fingerprints(prints), np.concatenate(final)
            for batch in stage.batches(columns, run.batch_rows):
                here = slice(at, at := at + batch.num_rows)
                missing.add(batch.select(list(job.reads)), every[here], ~there[here])
    else:
        for batch in stage.batches(job.reads, run.batch_rows):
            prints.append(row_fingerprints(batch, job.identity))
            missing.add(batch.select(list(job.reads)), prints[-1], ~memo.final(prints[-1]))
    missing.close()
    return joined_fingerprints(prints)


def derive(job: Job, stage: Source, run: Run, *, scratch: str = "") -> Stage:
    """The table that `job` makes of `stage`."""
    return derived(job, stage, run, scratch=scratch).stages[0]


def derived(job: Job, stage: Source, run: Run, *, scratch: str = "") -> Made:
    """The table that `job` makes of `stage`: the rows of each input in the order of the inputs.

    Not final where a row's reject may have better luck another time. Of rows with one key the job's `preference` keeps
    one; the others become rejects `duplicate_key`. Memory: some 100 bytes a row, and all rejects. With a name for
    `scratch` the table goes under that name when the build is done.
    """
    done = memoise(job, stage, run)
    path = run.scratch_path(scratch) if scratch else run.path(job.makes)
    output, notes = write_table(JobRows(job), done, path, run)
    rejected, kept = record_rejects(job, stage, notes.rejects, run), notes.kept(stage, job.key)
    if not kept.all():
        columns = [batch.column(0) for batch in output.batches([output.table.key[0]])]
        duplicates = [str(key) for key in pa.chunked_array(columns).filter(pa.array(~kept)).to_pylist()]
        inputs = input_keys(stage, job.key, notes.keys["input"].to_numpy()[~kept]).to_pylist()
        rows_lost = zip(inputs, duplicates, strict=True)
        run.reject(job.name, [(i, "duplicate_key", same_key(job.makes, k)) for i, k in rows_lost])
        rejected, at = rejected + len(duplicates), 0
        with StageWriter(path, output.table) as writer:  # It is written again, as few tables have rows with one key.
            for batch in output.batches():
                writer.write(batch.filter(pa.array(kept[at : at + batch.num_rows])))
                at += batch.num_rows
        output = writer.stage()
    run.report(job, done.counts(output.rows, rejected), done.started)
    return Made((output,), counts=None, final=notes.final)


def write_table(
    make: Rows, done: Memoised, path: Path, run: Run, inputs: Stage | None = None
) -> tuple[Stage, RowNotes]:
    """Write the table at `path` that `make` makes of results; with what is known of its rows.

    Beyond `Run.file_rows` inputs workers write it, as a folder. With `inputs`, a table, its rows are read too.
    """
    count, most = len(done.prints), run.file_rows
    if count <= most:
        sizes = (min(run.batch_rows, count - at) for at in range(0, count, run.batch_rows))
        with StageWriter(path, make.made) as writer:
            batches = sizes if inputs is None else inputs.batches(rows=run.batch_rows)
            notes = write_rows(make, done.results, batches, writer, 0)
        return writer.stage(), notes
    aside = run.work / f"{path.stem}-written"
    with FolderWriter(path, make.made) as folder:
        others = folder.open_to_others()
        partitions = [
            Partition(make, places, start, inputs, run.batch_rows, others, aside)
            for start in range(0, count, most)
            for places in [done.memo.places(done.prints[start : start + most])]
        ]
        notes = write_partitions(partitions, run.engines.spread(done.job.engine).each, folder, aside)
    return folder.stage(), notes


def same_key(table: Table, key: str) -> str:
    """What is told of an input that would make a row with a key that another row has."""
    return f"another row made the same {table.key[0]} {key}"


def record_rejects(job: Job, source: Source, rejects: pa.Table, run: Run) -> int:
    """Write `rejects_of` results, under the keys of their inputs among `source`; returns how many."""
    for of, keys in keys_in_turn(source, job.key, rejects["input"].to_numpy()):
        part = rejects.slice(of.start, of.stop - of.start)
        rows = zip(keys.to_pylist(), part["reason"].to_pylist(), part["detail"].to_pylist(), strict=True)
        run.reject(job.name, [(str(key)[:500], reason, detail) for key, reason, detail in rows])
    return int(rejects.num_rows)


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
    result = job.run(inputs, run)
    if result.counts is not None:
        run.report(job, result.counts, started)
    return result
