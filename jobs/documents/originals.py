"""The documents that repeat no other: a view of `documents`, those that are cut, embedded and searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from quern.indexes.stages import BATCH_ROWS, Stage


@dataclass(frozen=True)
class Originals:
    """The documents whose `duplicate_of` is null.

    Attributes:
        documents: All documents.
        rows: How many repeat no other.
    """

    documents: Stage
    rows: int

    def batches(self, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The named columns."""
        names = list(columns) if columns is not None else self.documents.table.schema.names
        wanted = dict.fromkeys([*names, "duplicate_of"])
        for batch in self.documents.batches(list(wanted), rows):
            yield batch.filter(batch.column("duplicate_of").is_null()).select(names)


def originals(documents: Stage) -> Originals:
    """The view of `documents`."""
    return Originals(documents, sum(b.column(0).null_count for b in documents.batches(["duplicate_of"])))
