"""Checks of a batch against its table's schema, with errors that name table, field and row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.schemas.contract.table import Table


class SchemaError(ValueError):
    """A batch that does not fit its table: the message names table, field and, where it can, row and key."""


def _where(table: Table, batch: pa.RecordBatch, field: str, row: int) -> str:
    names = [k for k in table.key if k in batch.schema.names]
    key = ", ".join(f"{k}={batch.column(k)[row].as_py()!r}" for k in names)
    return f"table {table.name}, field {field}, row {row}" + (f" ({key})" if key else "")


def validate(batch: pa.RecordBatch, table: Table) -> pa.RecordBatch:
    """Return `batch` with its columns in the table's order.

    Raises SchemaError: a column is missing, unknown or of the wrong type; a null where none may be; a vector that is
    not finite.
    """
    missing = [n for n in table.schema.names if n not in batch.schema.names]
    unknown = [n for n in batch.schema.names if n not in table.schema.names]
    if missing or unknown:
        raise SchemaError(f"table {table.name}: missing fields {missing}, unknown fields {unknown}")
    for field in table.schema:
        column = batch.column(field.name)
        if column.type != field.type:
            raise SchemaError(f"table {table.name}, field {field.name}: is {column.type}, must be {field.type}")
        if not field.nullable and column.null_count:
            row = int(pc.index(column.is_null(), True).as_py())
            raise SchemaError(f"{_where(table, batch, field.name, row)}: null, but the field must have a value")
        if pa.types.is_fixed_size_list(field.type) and len(column):
            finite = np.isfinite(column.flatten().to_numpy(zero_copy_only=False))
            if not finite.all():
                row = int(np.argmin(finite)) // field.type.list_size
                raise SchemaError(f"{_where(table, batch, field.name, row)}: not a finite number")
    return pa.RecordBatch.from_arrays([batch.column(n) for n in table.schema.names], schema=table.schema)
