"""What the audit reads: a table with the derived columns that it declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quern.indexes.stages import parquet_files, row_group_runs
from quern.indexes.vectors import vector_matrix
from quern.schemas.contract.table import Derived, type_name

BATCH_ROWS = 16_384
BATCH_BYTES = 4 << 20


@dataclass(frozen=True)
class View:
    """A table as it is audited, read in batches; nothing holds it whole."""

    name: str  # Name of the table.
    source: Path  # Its Parquet file or folder of them.
    declared: tuple[Derived, ...] = ()  # The derived columns that it declares.

    @property
    def schema(self) -> pa.Schema:
        """The schema that was found, whatever was declared."""
        return pq.read_schema(parquet_files(self.source)[0])

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(pq.read_metadata(path).num_rows for path in parquet_files(self.source))

    @property
    def derived(self) -> tuple[Derived, ...]:
        """Derived columns whose sources are there."""
        names = set(self.schema.names)
        return tuple(d for d in self.declared if names.issuperset(d.columns))

    @property
    def columns(self) -> list[str]:
        """Names of all columns, the derived ones last."""
        return [*self.schema.names, *(d.name for d in self.derived)]

    def types(self) -> dict[str, str]:
        """The name of the type of each column of the table."""
        types: dict[str, str] = {}
        for path in parquet_files(self.source):
            for field in pq.read_schema(path):
                name, before = type_name(field.type), types.get(field.name)
                types[field.name] = name if before in (None, name) else f"{before} and {name}"
        return types

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns, derived ones too, in batches of at most `BATCH_ROWS` rows."""
        computed = {d.name: d for d in self.derived if d.name in columns}
        inputs = dict.fromkeys(c for c in columns if c not in computed)
        inputs.update(dict.fromkeys(c for d in computed.values() for c in d.columns))
        for path in parquet_files(self.source):
            with pq.ParquetFile(path) as file:
                for groups in row_group_runs(file.metadata, BATCH_ROWS, BATCH_BYTES):
                    for batch in file.iter_batches(BATCH_ROWS, groups, list(inputs), use_threads=False):
                        arrays = [_computed(computed[c], batch) if c in computed else batch.column(c) for c in columns]
                        yield pa.RecordBatch.from_arrays(arrays, list(columns))


def _computed(derived: Derived, batch: pa.RecordBatch) -> pa.Array:
    first, *others = (batch.column(c) for c in derived.columns)
    match derived.kind:
        case "length":
            return pc.utf8_length(first).cast(pa.int64())
        case "norm":
            return pa.array(np.linalg.norm(vector_matrix(first).astype(np.float64), axis=1))
        case "difference":
            return pc.subtract(first, *others)
