"""Arrow schemas of pydantic models: a model says its fields once, and a row of it knows its types."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel

TIMESTAMP = pa.timestamp("us", tz="UTC")
Int32 = Annotated[int, pa.int32()]
"""A small number: an Arrow type beside a field's own stands for it."""

_TYPES = {
    str: pa.string(),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    date: pa.date32(),
    datetime: TIMESTAMP,
}


def arrow_schema(model: type[BaseModel]) -> pa.Schema:
    """The schema of rows that are dumped from `model`: its fields in their order, then those that it computes."""
    return pa.schema(list(_fields(model)))


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, pa.DataType]]:
    fields = ((name, field) for name, field in model.model_fields.items() if not field.exclude)
    yield from ((name, _type(field.annotation, field.metadata)) for name, field in fields)
    yield from ((name, _type(field.return_type)) for name, field in model.model_computed_fields.items())


def _type(annotation: Any, metadata: Any = ()) -> pa.DataType:
    arrow_type = next((m for m in metadata if isinstance(m, pa.DataType)), None)
    if arrow_type is not None:
        return arrow_type
    origin, inner = get_origin(annotation), [a for a in get_args(annotation) if a is not NoneType]
    if origin is Annotated:
        return _type(inner[0], inner[1:])
    if origin is Literal:
        return _TYPES[type(inner[0])]
    if origin is list:
        return pa.list_(_type(inner[0]))
    if origin is dict:
        return pa.map_(*map(_type, inner))
    if origin is not None:  # A field that may be None: every column may be null.
        return _type(inner[0])
    return pa.struct(list(_fields(annotation))) if issubclass(annotation, BaseModel) else _TYPES[annotation]
