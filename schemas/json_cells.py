"""Columns as JSON: each cell as `json.dumps(cell, default=str)` writes it, column by column instead of cell by cell.

A map is an object.
"""

from __future__ import annotations

import json
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# What `json.dumps` writes as it is, but for the quotes around it.
_ESCAPED: Final = r"[^ !#-\[\]-~]"


def json_cells(column: pa.Array) -> pa.Array:
    """The cells of `column` as JSON text, null where the cell is."""
    cells = _cells(column)
    if column.null_count == 0:
        return cells
    return pc.if_else(column.is_valid(), cells, pa.scalar(None, pa.string()))


def _cells(column: pa.Array) -> pa.Array:
    """The same with the text `null` for null."""
    kind = column.type
    if pa.types.is_string(kind):
        cells = _strings(column)
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        cells = column.cast(pa.string())
    elif pa.types.is_struct(kind):
        cells = _structs(column)
    elif pa.types.is_list(kind):
        cells = _lists(column)
    else:
        values = column.to_pylist(maps_as_pydicts="strict")
        cells = pa.array([json.dumps(value, default=str) for value in values], pa.string())
    if cells.null_count == 0 and column.null_count == 0:
        return cells
    return pc.if_else(column.is_valid(), pc.fill_null(cells, "null"), "null")


def _strings(column: pa.Array) -> pa.Array:
    quoted = pc.binary_join_element_wise('"', column, '"', "")
    escaped = pc.fill_null(pc.match_substring_regex(column, _ESCAPED), False)
    if not escaped.true_count:
        return quoted
    texts = [json.dumps(text) for text in column.filter(escaped).to_pylist()]
    return pc.replace_with_mask(quoted, escaped, pa.array(texts, pa.string()))


def _structs(column: pa.StructArray) -> pa.Array:
    parts: list[pa.Array | str] = []
    for field, values in zip(column.type, column.flatten(), strict=True):
        parts += [(", " if parts else "{") + json.dumps(field.name) + ": ", _cells(values)]
    return pc.binary_join_element_wise(*parts, "}", "") if parts else pa.array(["{}"] * len(column), pa.string())


def _lists(column: pa.ListArray) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]).astype(np.int32)
    values = pa.ListArray.from_arrays(pa.array(offsets), _cells(column.flatten()))
    return pc.binary_join_element_wise("[", pc.binary_join(values, ", "), "]", "")
