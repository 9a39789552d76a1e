"""Views of staged tables: what a job reads of one, some of its rows or columns that are computed from others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from quern.indexes.stages import BATCH_ROWS, Stage


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
        read = dict.fromkeys(self.choice.reads if self.choice else ())
        for name in names:
            read |= dict.fromkeys(self.computed[name].reads if name in self.computed else (name,))
        start = 0
        for batch in self.stage.batches(list(read), rows):
            chosen = batch.filter(self.choice.flags(batch, start)) if self.choice else batch
            start += batch.num_rows
            if chosen.num_rows:
                yield self.of(chosen, names)

    def of(self, batch: pa.RecordBatch, columns: Sequence[str] | None = None) -> pa.RecordBatch:
        """The columns of the view for rows of the table, all of which it has."""
        names = self.columns if columns is None else list(columns)
        arrays = [self.computed[n].values(batch) if n in self.computed else batch.column(n) for n in names]
        return pa.RecordBatch.from_arrays(arrays, names=list(names))
