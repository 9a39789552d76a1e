"""What engines are given to do: a job, and files of the rows that the memo lacks, of about one task each.

A worker of an engine reads the rows itself, applies the job and commits the results to the memo. What comes back to
the driver is one small row per committed part, so its memory does not grow with the corpus.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.memo import commit_part, nest
from quern.indexes.stage_writers import slices
from quern.jobs.core.contract import Job, Outcome, Reject
from quern.schemas.contract.validate import validate
from quern.schemas.digests import FINGERPRINT_BYTES, Fingerprints
from quern.schemas.errors import MachineFaultError
from quern.schemas.settings import EngineSettings

log = logging.getLogger(__name__)

_Piece = TypeVar("_Piece")

INPUT: Final = "_input"
_FILE_BYTES = 32 << 20
PART = pa.schema([("part", pa.string()), ("inputs", pa.int64())])
# How a terminal is told of colours and the like, which Ray puts into its errors.
_STYLE: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# What py4j and Spark say before the fault itself: which call, which stage, which task.
_CALLED: Final = re.compile(r"An error occurred while calling [^\n]*\n: ")
_LOST: Final = re.compile(r"\bmost recent failure: Lost task [^()\n]*\([^()\n]*\) \((\S+) executor (\S+)[^()\n]*\): ")
_LONGEST: Final = 500
_JAVA_FRAMES: Final = re.compile(r"\n(?:Driver stacktrace:|[ \t]+at )")
# Faults of the machine, not of a row: they end the job, so that no row is blamed for them.
_FAULTS = (OSError, MemoryError, MachineFaultError)


class EngineError(MachineFaultError):
    """An engine that cannot start or go on; the message says what to do."""


class MissingRows:
    """Writes the rows that the memo lacks to files of about one task each, every content once.

    Holds the fingerprints of the missing rows, about 100 bytes each, to see what repeats. Files begin small,
    so that a small build uses all cores, and grow with their number, so that a large one has few.
    """

    def __init__(self, directory: Path, job: Job) -> None:
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self._directory = directory
        self._job = job
        self._seen: set[bytes] = set()
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._pending_bytes = 0
        self._first_rows = job.task_rows or 64
        self.files: list[Path] = []
        self.rows = 0
        self.schema = pa.schema([])

    def add(self, batch: pa.RecordBatch, prints: Fingerprints, missing: npt.NDArray[np.bool_]) -> None:
        """Take the rows of `batch` that are `missing` and were not taken before."""
        self.schema = pa.schema([*batch.schema, pa.field(INPUT, pa.binary(FINGERPRINT_BYTES))])
        # The first position of each fingerprint that was not taken before.
        new = {prints[i].tobytes(): int(i) for i in np.flatnonzero(missing)[::-1]}
        positions = sorted(i for fingerprint, i in new.items() if fingerprint not in self._seen)
        if not positions:
            return
        self._seen.update(new)
        taken = batch.take(pa.array(positions))
        column = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(FINGERPRINT_BYTES), len(positions), [None, pa.py_buffer(prints[positions].tobytes())]
        )
        self.rows += len(positions)
        rows = pa.RecordBatch.from_arrays([*taken.columns, column], schema=self.schema)
        for piece in slices(rows, self._first_rows, _FILE_BYTES // 4):
            self._pending.append(piece)
            self._pending_rows += piece.num_rows
            self._pending_bytes += piece.nbytes
            most = min(self._first_rows << min(len(self.files) // 8, 20), 1 << 16)
            if self._pending_rows >= most or self._pending_bytes >= _FILE_BYTES:
                self.close()

    def close(self) -> None:
        """Write what is pending."""
        if not self._pending:
            return
        path = self._directory / f"{len(self.files):06d}.parquet"
        # Read once and thrown away: quick beats small, and long texts and bodies make no dictionary.
        rows = pa.Table.from_batches(self._pending)
        pq.write_table(rows, path, compression="lz4", use_dictionary=False, write_statistics=False)
        self.files.append(path)
        self._pending, self._pending_rows, self._pending_bytes = [], 0, 0


@dataclass(frozen=True)
class Work:
    """What an engine is to do."""

    job: Job
    files: Sequence[Path]  # Parquet files with the rows' fingerprints, `INPUT`, and the columns that the job reads.
    schema: pa.Schema
    memo: Path  # Directory that the results are committed to.
    task_rows: int  # Rows of one committed part.

    @property
    def folder(self) -> Path:
        """Where the files are; it goes when the job is done."""
        return self.files[0].parent

    def batches(self, files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
        """The rows of `files` with the columns that the job reads and `INPUT`, in batches of one part each."""
        for path in files:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=self.task_rows):
                    # Parquet widens some types; the job sees those it was declared with.
                    columns = [batch.column(f.name).cast(f.type) for f in self.schema]
                    yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def compute_files(self, files: Sequence[Path]) -> list[pa.RecordBatch]:
        """Apply the job to all rows of `files` in this process; a row of `PART` for each commit."""
        return [self.compute(batch) for batch in self.batches(files)]

    def compute(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Apply the job to `batch`, commit the result, and say so in one row of `PART`."""
        prints = np.frombuffer(b"".join(batch.column(INPUT).to_pylist()), dtype=np.dtype((np.void, 16)))
        parts = []
        for start, rows, outcome in _apply_bisecting(self.job, batch.select(list(self.job.reads)), 0):
            rejects = [(r.row, r.reason, r.detail, r.transient) for r in outcome.rejects]
            parts.append(nest(prints[start : start + rows], outcome.rows, outcome.parents, rejects))
        whole = pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
        path = commit_part(self.memo, whole)
        return pa.RecordBatch.from_pylist([{"part": path.name, "inputs": batch.num_rows}], schema=PART)


@dataclass(frozen=True)
class Ran:
    """How an engine did a job."""

    by: str  # What did it, for the report.
    notes: Mapping[str, float] = field(default_factory=dict)  # Further figures for the report.


def _apply_bisecting(job: Job, batch: pa.RecordBatch, start: int) -> list[tuple[int, int, Outcome]]:
    """(first row, rows, outcome) of each piece; a row that makes the job raise becomes a reject.

    A fault in one row must neither stop a build nor take its batch with it: the batch is halved until the
    row is alone. Such a reject is transient, because it says something of the program, not of the row.

    Raises OSError, MemoryError, MachineFaultError: a fault of the machine.
    """
    try:
        outcome = job.apply(batch)
        return [(start, batch.num_rows, Outcome(validate(outcome.rows, job.makes), outcome.parents, outcome.rejects))]
    except _FAULTS:
        raise
    except Exception as error:  # noqa: BLE001 - whatever one row does, the other rows must come through
        if batch.num_rows == 1:
            log.warning("job=%s failed on row=%s error=%r", job.name, str(batch.column(job.key)[0])[:200], error)
            none = pa.RecordBatch.from_pylist([], schema=job.makes.schema)
            reject = Reject(0, "job_failed", f"{type(error).__name__}: {error}"[:500], transient=True)
            return [(start, 1, Outcome(none, np.empty(0, dtype=np.int64), (reject,)))]
    half = batch.num_rows // 2
    return _apply_bisecting(job, batch.slice(0, half), start) + _apply_bisecting(job, batch.slice(half), start + half)


def stopped(engine: str, doing: str, error: Exception) -> EngineError:
    """What to tell of what an engine could not finish; said before the engine is closed."""
    return EngineError(
        f"{engine} could not finish {doing}: {in_short(str(error)) or type(error).__name__}; what was "
        "computed is kept, and logs/engines.log in the warehouse says more"
    )


def in_short(said: str) -> str:
    """What an engine's error says, without frames and on one line; at most `_LONGEST` characters.

    That is what was raised, where it tells the frames of a worker's Python or Java too; all where it tells none.
    """
    plain = _STYLE.sub("", said)
    match = _LOST.search(plain)
    _, frames, behind = plain.rpartition('\n  File "')
    after = [line for line in behind.split("\n")[1:] if line.strip() and not line[0].isspace()] if frames else []
    if after:
        raised = after[0]
    else:
        raised = _JAVA_FRAMES.split(_CALLED.sub("", plain, count=1), maxsplit=1)[0]
        if task := _LOST.search(raised):
            raised = raised[task.end() :]
    raised += f" (on node {match[1]})" if match and match[2] != "driver" else ""
    return " ".join("".join(c if c.isprintable() else " " for c in raised).split())[:_LONGEST]


def did_not_start(engine: str, said: str, address: str) -> EngineError:
    """What to tell of an engine that does not start, and how to do without it.

    Args:
        engine: Its name.
        said: What it says.
        address: Of its cluster; empty where it was to run on this machine.
    """
    where, option = (f" at {address}", "spark-master" if engine == "Spark" else "ray-address") if address else ("", "")
    without = f"--{option} '' and --engine local run" if address else "--engine local runs"
    return EngineError(f"{engine} did not start{where}: {in_short(said)}; {without} without it")


def died(engine: str, how: str) -> EngineError:
    """What to tell of an engine that ended in the middle of its work."""
    return EngineError(
        f"{engine} stopped: {how}; what was finished is kept and what is published stays: run the same command again, "
        "it goes on from there"
    )


class Engine(Protocol):
    """Runs a job over files of missing rows."""

    name: str

    def run(self, work: Work) -> Ran:
        """Apply the job to every row and commit the results; returns what did it.

        Raises EngineError: the job could not be finished; what was committed stays.
        """

    def close(self) -> None:
        """Give back processes and memory."""


class Spread(Protocol):
    """Workers: this machine's cores, Spark's or Ray's."""

    name: str

    def each(self, function: Callable[[_Piece], Any], items: Sequence[_Piece], /) -> Iterator[Any]:
        """`function` of each of `items`, as they end.

        Raises EngineError: a worker died, or it could not be finished.
        """


class EnginePool(Protocol):
    """The engines of one build; each starts at most once, when a job with missing rows first needs it."""

    def choose(self, job: Job, missing: int) -> Engine:
        """The engine for `missing` rows of `job`."""

    def local(self) -> Spread:
        """This machine's cores."""

    def spread(self, kind: Literal["cpu", "model"]) -> Spread:
        """Whose workers write a large table: those of the cluster that runs such jobs, or this machine's cores."""

    def spark(self) -> Spread | None:
        """Spark, where it is asked for, for work that is no job."""

    def release(self, name: str) -> None:
        """Stop the engine `name`, if it was started, before another needs its memory."""


def core_count(settings: EngineSettings) -> int:
    """Cores that a build may use."""
    return settings.cores or len(os.sched_getaffinity(0))
