"""What a job is: a pure function from tables to a table, of one of two kinds.

A row-wise `Job` makes rows of a table from a batch of another. Its author writes `apply`, which knows no engine, no
path, no clock and no unseeded randomness. A `TableJob` (`jobs.core.run`) needs whole tables; its author writes
`run`. Memo, clock, report, progress and counters come from `jobs.core.run`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.indexes.stages import BATCH_ROWS, Stage
from quern.schemas.digests import settings_digest
from quern.schemas.tables import Table


class Source(Protocol):
    """Rows that a job can be run over: a staged table, or a view of one."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def batches(self, columns: Sequence[str] | None = None, rows: int = ...) -> Iterator[pa.RecordBatch]:
        """The named columns, in batches of at most `rows` rows; the same rows in the same order every time."""


@dataclass(frozen=True)
class Reject:
    """A row that a job left out."""

    row: int  # Position in the batch.
    reason: str  # Code, such as `no_text`.
    detail: str  # What exactly was wrong, for a person.
    transient: bool = False  # Whether another try may succeed, so that the memo must not keep it.


@dataclass(frozen=True)
class Outcome:
    """What a job made of a batch."""

    rows: pa.RecordBatch  # Rows of the table made, those of one input row side by side and in the order of the input.
    parents: npt.NDArray[np.int64]  # For each of `rows` the position of its input row, shape (rows,), never decreasing.
    # Rows left out; an input row may have both rows and rejects.
    rejects: Sequence[Reject] = field(default_factory=tuple)


@dataclass(frozen=True)
class Counts:
    """What a job did, in rows."""

    rows_in: int  # Rows it was given.
    rows_out: int  # Rows it made.
    reused: int  # Rows given whose results were known.
    computed: int  # Rows given whose results were not.
    rejected: int  # Rejects, without warnings.
    engine: str = "driver"  # What did it.
    notes: Mapping[str, float] = field(default_factory=dict)  # Further figures.
    warned: int = 0  # Warnings: rejects with which a row was kept, without a value.


@dataclass(frozen=True)
class Made:
    """What a whole-table job made."""

    stages: tuple[Stage, ...]  # The tables, in the order of the job's `tables`.
    counts: Counts | None  # What is reported of it; None for a step on the way that leaves nothing out.
    # Whether another run over the same tables would make the same; not where something may have better luck.
    final: bool = True


class Contract(ABC):
    """What every job has. Instances are immutable, picklable and cheap."""

    name: ClassVar[str]  # Name in logs, memo and rejects.
    version: ClassVar[int]  # Raised whenever the same input gives another result.
    in_files: ClassVar[bool] = (
        False  # Whether workers write its tables beyond `engine.file_rows` rows that it is given.
    )

    @property
    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """The tables made, or the parts of them that this job makes."""

    @property
    def reuses(self) -> bool:
        """Whether of rows that did not change the results are taken over, so that new rows alone are computed."""
        return True

    @abstractmethod
    def configuration(self) -> Mapping[str, object]:
        """Everything beside the input that the result depends on: settings, model, tokenizer."""

    def prepare(self) -> None:  # noqa: B027 - most jobs have nothing to prepare
        """Do what is done once per machine, before a build begins, and see that the job can be done.

        Raises MachineFaultError: it cannot; the message says what to do.
        """

    def fingerprint(self) -> str:
        """Digest of name, version, output schemas and configuration: half of the memo's key."""
        schemas = [[[f.name, str(f.type)] for f in table.schema] for table in self.tables]
        return settings_digest([self.name, self.version, schemas, dict(self.configuration())])


class Job(Contract):
    """A row-wise job. Models are loaded on first use in a worker."""

    in_files: ClassVar[bool] = True
    engine: ClassVar[Literal["cpu", "model"]]  # `cpu` jobs run on Spark, `model` jobs on Ray.
    reads: ClassVar[tuple[str, ...]]  # Columns that `apply` is given.
    key: ClassVar[str]  # The column of `reads` that names a rejected row.
    # Columns that make the row's fingerprint, where they are not all of `reads`: a digest may stand for the column that
    # it was made of, which is then read only where the memo lacks the row.
    known_by: ClassVar[tuple[str, ...]] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """Columns that make the row's fingerprint; the `key` is one of them."""
        return self.known_by or self.reads

    @property
    def task_rows(self) -> int:
        """Rows that are computed and committed together; 0 for the setting `engine.task_rows`."""
        return 0

    @property
    def gpus(self) -> int:
        """GPUs that one worker takes; on Ray only nodes that have one work on a job that takes any."""
        return 0

    @property
    def by_model(self) -> bool:
        """Whether a language model carries it out, so that neither Spark nor Ray Data runs it but a generator."""
        return False

    @property
    @abstractmethod
    def makes(self) -> Table:
        """The table made, or the part of it that this job makes."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The one table made."""
        return (self.makes,)

    def source(self, inputs: Mapping[str, Stage]) -> Source:
        """The rows that it is run over: those of the one table that it reads, or a view of what it reads."""
        (only,) = inputs.values()
        return only

    @abstractmethod
    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """Rows and rejects of `batch`, which has the columns `reads`."""

    def preference(self, rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """Of two rows made with one key the one with the higher number stays, shape (rows,).

        Of equal ones that of the input whose key is the lesser, of one input's the first: whatever the order of inputs.
        """
        return np.zeros(rows.num_rows, dtype=np.int64)


def outcome(
    table: Table, rows: Sequence[Mapping[str, object]], parents: Sequence[int], rejects: Sequence[Reject] = ()
) -> Outcome:
    """An `Outcome` from Python rows, for jobs whose work per row dwarfs the conversion."""
    batch = pa.RecordBatch.from_pylist([dict(r) for r in rows], schema=table.schema)
    return Outcome(batch, np.asarray(parents, dtype=np.int64), tuple(rejects))


@dataclass(frozen=True)
class Computed:
    """A column that a view computes."""

    reads: tuple[str, ...]  # Columns of the table that it is computed from.
    values: Callable[[pa.RecordBatch], pa.Array]  # Gives it for a batch that has these.


@dataclass(frozen=True)
class Choice:
    """Which rows of a table a view has."""

    reads: tuple[str, ...]  # Columns of the table that tell.
    # True for each row that the view has, of a batch with these columns and the position of its first row.
    flags: Callable[[pa.RecordBatch, int], pa.Array]


@dataclass(frozen=True)
class View:
    """Rows of a staged table as a job reads them; a value that can be read again and again."""

    stage: Stage  # The table.
    columns: tuple[str, ...]  # Columns of the view, of the table or computed.
    rows: int  # Number of rows.
    computed: Mapping[str, Computed] = field(default_factory=dict)  # Column to how it is computed.
    choice: Choice | None = None  # Which rows; all if None.

    def batches(self, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The named columns, by default all, in batches of 1 to `rows` rows."""
        names = self.columns if columns is None else tuple(columns)
        inputs = dict.fromkeys(self.choice.reads if self.choice else ())
        for name in names:
            inputs |= dict.fromkeys(self.computed[name].reads if name in self.computed else (name,))
        start = 0
        for batch in self.stage.batches(list(inputs), rows):
            chosen = batch.filter(self.choice.flags(batch, start)) if self.choice else batch
            start += batch.num_rows
            if chosen.num_rows:
                yield self.of(chosen, names)

    def of(self, batch: pa.RecordBatch, columns: Sequence[str] | None = None) -> pa.RecordBatch:
        """The columns of the view for rows of the table, all of which it has."""
        names = self.columns if columns is None else list(columns)
        arrays = [self.computed[n].values(batch) if n in self.computed else batch.column(n) for n in names]
        return pa.RecordBatch.from_arrays(arrays, names=list(names))
