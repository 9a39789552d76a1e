"""Running jobs through the memo: ask what is known, compute what is missing, write the table made."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.memo import Memo, committed_inputs, memo_schema, unnest
from quern.indexes.memo_uses import night_of
from quern.indexes.stage_folders import FolderWriter
from quern.indexes.stages import Stage, StageWriter
from quern.jobs.core.contract import Contract, Counts, Job, Made, Source
from quern.jobs.core.missing_rows import MissingRows, row_numbers
from quern.jobs.core.progress import watched
from quern.jobs.core.work import EnginePool, Ran, Work
from quern.schemas.digests import row_fingerprints
from quern.schemas.tables import REJECTS, Table

if TYPE_CHECKING:
    from quern.indexes.catalog import Snapshot
    from quern.indexes.page_store import PageStore

log = logging.getLogger(__name__)

_MOST_TASK_ROWS = 1024
_TASKS_A_CORE = 8


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

    def line(self) -> str:
        """The report as key=value pairs."""
        reused = "all" if self.computed == 0 else str(self.reused)
        notes = "".join(f" {k}={v}" for k, v in self.notes.items())
        return (
            f"job={self.job} in={self.rows_in} out={self.rows_out} reused={reused} computed={self.computed} "
            f"rejected={self.rejected} seconds={self.seconds:.1f} engine={self.engine}{notes}"
        )


@dataclass
class Run:
    """What the jobs of one build share.

    Attributes:
        build_id: Name of the build.
        memo: Directory of the memo.
        work: Directory for the build's temporary files.
        stages: Directory that staged tables are written to.
        engines: Engines of the build.
        rejects: Where rejects go.
        batch_rows: Rows read at a time.
        task_rows: Rows of one committed part, unless the job says otherwise.
        cores: Cores of this machine that the build may use.
        source: What pages are read from: files, or the page store.
        started_at: When the build began; None where that is not known.
        parent: The published snapshot that this build is made upon; None for the first.
        dry: Whether it only looks: jobs are not logged, and the memo, which others may be writing, stays as it is.
        reports: One per finished job, in order.
        asked: Folders of the memo that were asked, in order, each as often as it was.
    """

    build_id: str
    memo: Path
    work: Path
    stages: Path
    engines: EnginePool
    rejects: StageWriter
    batch_rows: int
    task_rows: int
    cores: int
    source: Path | PageStore | None = None
    started_at: datetime | None = None
    parent: Snapshot | None = None
    dry: bool = False
    reports: list[JobReport] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def writer(self, table: Table) -> StageWriter:
        """A writer of the build's version of `table`."""
        return StageWriter(self.stages / table.name / f"{self.build_id}.parquet", table)

    def folder(self, table: Table) -> FolderWriter:
        """A writer of the build's version of `table` as a folder of files that may exist already."""
        return FolderWriter(self.stages / table.name / f"{self.build_id}.parquet", table)

    def scratch(self, table: Table, name: str = "") -> StageWriter:
        """A writer of a table that only this build needs, under the table's name or another."""
        return StageWriter(self.work / "tables" / f"{name or table.name}.parquet", table)

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
    """A job's results over a stage, all of them in the memo."""

    job: Job
    memo: Memo
    computed: int
    rows: int
    ran: Ran
    started: float

    def results(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Nested results of the rows of `batch`, in order; none for a batch that a view left empty."""
        if batch.num_rows == 0:
            return pa.RecordBatch.from_pylist([], schema=memo_schema(self.job.makes.schema))
        return self.memo.lookup(row_fingerprints(batch, self.job.identity))

    def counts(self, rows_out: int, rejected: int, notes: Mapping[str, float] | None = None) -> Counts:
        """What is reported of the job."""
        return Counts(
            rows_in=self.rows,
            rows_out=rows_out,
            reused=self.rows - self.computed,
            computed=self.computed,
            rejected=rejected,
            engine=self.ran.by,
            notes={**self.ran.notes, **(notes or {})},
        )


def memoise(job: Job, stage: Source, run: Run) -> Memoised:
    """Compute what the memo lacks of `job` over `stage`."""
    started = time.monotonic()
    directory = run.memo / job.name / job.fingerprint()
    if not run.dry:
        directory.mkdir(parents=True, exist_ok=True)
    run.asked.append(directory.relative_to(run.memo).as_posix())
    memo = before = Memo(directory)
    work_directory = run.work / job.name
    # What is known by a digest need not be read to be found missing: the workers read it from the table themselves.
    origin = stage if isinstance(stage, Stage) and job.known_by else None
    # Where there are row groups enough for all cores, none is read by two of them.
    whole = origin is not None and origin.row_groups >= _TASKS_A_CORE * run.cores
    missing = MissingRows(work_directory, job, whole=whole)
    if not _all_known(job, memo, stage, run):
        columns = job.identity if origin else [*dict.fromkeys((*job.reads, *job.identity))]
        at = 0
        for batch in stage.batches(columns, run.batch_rows):
            prints = row_fingerprints(batch, job.identity)
            rows = row_numbers(at, batch.num_rows) if origin else batch.select(list(job.reads))
            missing.add(rows, prints, ~memo.final(prints))
            at += batch.num_rows
        missing.close()
    mended = not run.dry and memo.mend()
    ran = Ran("none")
    if missing.rows:
        chosen = run.engines.choose(job, missing.rows)
        # Few large parts in a large build, so that its memo opens fast; enough of them to keep all cores busy.
        task_rows = job.task_rows or max(run.task_rows, min(_MOST_TASK_ROWS, missing.rows // (32 * run.cores)))
        work = Work(job, missing.files, missing.schema, directory, task_rows, origin.trusted if origin else None)
        there = committed_inputs(directory)
        with watched(job.name, missing.rows, lambda: committed_inputs(directory) - there):
            ran = chosen.run(work)
    if missing.rows or mended:
        memo = Memo(directory)
    memo.mark(night_of(run.build_id), before)
    shutil.rmtree(work_directory, ignore_errors=True)
    return Memoised(job, memo, missing.rows, stage.rows, ran, started)


def _all_known(job: Job, memo: Memo, stage: Source, run: Run) -> bool:
    """Whether the memo has every row, which a quiet night asks without reading what is known by its digest."""
    batches = stage.batches(job.identity, run.batch_rows)
    return bool(job.known_by) and all(memo.final(row_fingerprints(batch, job.identity)).all() for batch in batches)


def derive(job: Job, stage: Source, run: Run, *, scratch: str = "") -> Stage:
    """The table that `job` makes of `stage`."""
    return derived(job, stage, run, scratch=scratch).stages[0]


def derived(job: Job, stage: Source, run: Run, *, scratch: str = "") -> Made:
    """The table that `job` makes of `stage`: the rows of each input in the order of the inputs.

    Not final where a row's reject may have better luck another time. Of rows with one key (two pages that name one
    canonical address) the job's `preference` keeps one; the others become rejects `duplicate_key`. Memory: 32 bytes a
    row. With a name for `scratch` the table goes under that name when the build is done.
    """
    done = memoise(job, stage, run)
    kept = _kept_of_keys(done, stage, run)
    rejected = at = 0
    final = True
    with run.scratch(job.makes, scratch) if scratch else run.writer(job.makes) as writer:
        for batch in stage.batches(job.identity, run.batch_rows):
            results = done.results(batch)
            rows, parents = unnest(results, "rows")
            final &= pc.all(results.column("final")).as_py() is not False
            stays = kept[at : at + rows.num_rows]
            at += rows.num_rows
            writer.write(rows.filter(pa.array(stays)))
            inputs = batch.column(job.key).take(pa.array(parents[~stays])).to_pylist()
            keys = rows.column(job.makes.key[0]).filter(pa.array(~stays)).to_pylist()
            detail = f"another row made the same {job.makes.key[0]} "
            run.reject(job.name, [(i, "duplicate_key", detail + k) for i, k in zip(inputs, keys, strict=True)])
            rejected += record_rejects(job, batch, results, run) + len(keys)
    made = writer.stage()
    run.report(job, done.counts(made.rows, rejected), done.started)
    return Made((made,), counts=None, final=final)


def _kept_of_keys(done: Memoised, stage: Source, run: Run) -> npt.NDArray[np.bool_]:
    """Which of all rows made stay, one per key, in the order they are made, shape (rows,)."""
    prints: list[npt.NDArray[np.uint64]] = [np.empty((0, 2), dtype=np.uint64)]
    wanted: list[npt.NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    inputs: list[npt.NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    at = 0
    for batch in stage.batches(done.job.identity, run.batch_rows):
        rows, parents = unnest(done.results(batch), "rows")
        prints.append(row_fingerprints(rows, done.job.makes.key).view(np.uint64).reshape(-1, 2))
        wanted.append(done.job.preference(rows))
        inputs.append(parents + at)
        at += batch.num_rows
    keys, preference = np.concatenate(prints), -np.concatenate(wanted)
    order = np.lexsort((np.arange(len(keys)), preference, keys[:, 1], keys[:, 0]))
    again = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
    tied = again & (preference[order[1:]] == preference[order[:-1]])
    if tied.any():
        # Not by the order of the inputs: a page store has it by what was ingested when.
        among = np.union1d(order[1:][tied], order[:-1][tied])
        rank = np.zeros(len(keys), dtype=np.int64)
        rank[among] = _rank_by_key(done.job, stage, np.concatenate(inputs)[among], run)
        order = np.lexsort((np.arange(len(keys)), rank, preference, keys[:, 1], keys[:, 0]))
    kept = np.ones(len(keys), dtype=np.bool_)
    kept[order[1:]] = ~again
    return kept


def _rank_by_key(job: Job, stage: Source, inputs: npt.NDArray[np.int64], run: Run) -> npt.NDArray[np.int64]:
    """The place of some inputs, which are numbered in the order of `stage`, among each other by their keys."""
    wanted, back = np.unique(inputs, return_inverse=True)
    found, at = [], 0
    for batch in stage.batches(job.identity, run.batch_rows):
        inside = wanted[(wanted >= at) & (wanted < at + batch.num_rows)] - at
        found.append(batch.column(job.key).take(pa.array(inside)))
        at += batch.num_rows
    ranks: npt.NDArray[np.int64] = pc.rank(pa.chunked_array(found), tiebreaker="dense").to_numpy().astype(np.int64)
    return ranks[back]


def record_rejects(job: Job, batch: pa.RecordBatch, results: pa.RecordBatch, run: Run) -> int:
    """Write the rejects among `results` of `batch`, under their keys; returns how many."""
    rejects, parents = unnest(results, "rejects")
    keys = batch.column(job.key).take(pa.array(parents)).to_pylist()
    rows = zip(keys, rejects.column("reason").to_pylist(), rejects.column("detail").to_pylist(), strict=True)
    run.reject(job.name, [(str(key)[:500], reason, detail) for key, reason, detail in rows])
    return len(keys)
