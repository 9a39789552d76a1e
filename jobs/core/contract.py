"""What a job is: a pure function from a batch of one table to rows of another.

A job's author writes `apply`, which knows no engine, no path, no clock and no unseeded randomness. Memo,
rejects, progress and counters come from `jobs.core.run`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.schemas.digests import settings_digest
from quern.schemas.tables import Table


@dataclass(frozen=True)
class Reject:
    """A row that a job left out.

    Attributes:
        row: Position in the batch.
        reason: Code, such as `no_text`.
        detail: What exactly was wrong, for a person.
        transient: Whether another try may succeed, so that the memo must not keep it.
    """

    row: int
    reason: str
    detail: str
    transient: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a job made of a batch.

    Attributes:
        rows: Rows of the table made, those of one input row side by side and in the order of the input.
        parents: For each of `rows` the position of its input row, shape (rows,), never decreasing.
        rejects: Rows left out; an input row may have both rows and rejects.
    """

    rows: pa.RecordBatch
    parents: npt.NDArray[np.int64]
    rejects: Sequence[Reject] = field(default_factory=tuple)


class Job(ABC):
    """One job. Instances are immutable, picklable and cheap; models are loaded on first use in a worker.

    Attributes:
        name: Name in logs, memo and rejects.
        version: Raised whenever the same input gives another result.
        engine: `cpu` jobs run on Spark, `model` jobs on Ray.
        reads: Columns that `apply` is given.
        known_by: Columns that make the row's fingerprint, where they are not all of `reads`: a digest may stand
            for the column that it was made of, which is then read only where the memo lacks the row.
        key: The column of `reads` that names a rejected row.
        task_rows: Rows that are computed and committed together; 0 for the setting `engine.task_rows`.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    engine: ClassVar[Literal["cpu", "model"]]
    reads: ClassVar[tuple[str, ...]]
    key: ClassVar[str]
    task_rows: ClassVar[int] = 0
    known_by: ClassVar[tuple[str, ...]] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """Columns that make the row's fingerprint; the `key` is one of them."""
        return self.known_by or self.reads

    @property
    def by_model(self) -> bool:
        """Whether a language model carries it out, so that neither Spark nor Ray Data runs it but a generator."""
        return False

    @property
    @abstractmethod
    def makes(self) -> Table:
        """The table made, or the part of it that this job makes."""

    @abstractmethod
    def configuration(self) -> Mapping[str, object]:
        """Everything beside the input that the result depends on: settings, model, tokenizer."""

    @abstractmethod
    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """Rows and rejects of `batch`, which has the columns `reads`."""

    def preference(self, rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """Of two rows made with one key the one with the higher number stays, shape (rows,); ties: the first."""
        return np.zeros(rows.num_rows, dtype=np.int64)

    def fingerprint(self) -> str:
        """Digest of name, version, output schema and configuration: half of the memo's key."""
        schema = [[f.name, str(f.type)] for f in self.makes.schema]
        return settings_digest([self.name, self.version, schema, dict(self.configuration())])


def outcome(
    table: Table, rows: Sequence[Mapping[str, object]], parents: Sequence[int], rejects: Sequence[Reject] = ()
) -> Outcome:
    """An `Outcome` from Python rows, for jobs whose work per row dwarfs the conversion."""
    batch = pa.RecordBatch.from_pylist([dict(r) for r in rows], schema=table.schema)
    return Outcome(batch, np.asarray(parents, dtype=np.int64), tuple(rejects))
