"""What a table is: its schema, and all that building, auditing, serving and showing need to know of it.

A table is declared once, in its own file of `schemas.tables`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import pyarrow as pa

from quern.schemas.contract.expectations import Expectation, Expected, Limits, References, Severity, resolved

VECTOR = pa.list_(pa.float32())
"""A vector column; it gets its width from the embedding model through `Table.with_dimension`."""


@dataclass(frozen=True)
class Derived:
    """A column that the audit computes while it reads: what an expectation needs and no table holds."""

    name: str  # Name of the column.
    # `length` in characters; `norm` (L2) of a vector; `difference` of the first and the second column.
    kind: Literal["length", "norm", "difference"]
    columns: tuple[str, ...]  # What it is computed from.


TEXT_LENGTH = Derived("text_length", "length", ("text",))
VECTOR_NORM = Derived("vector_norm", "norm", ("vector",))


@dataclass(frozen=True)
class Listing:
    """How rows are listed below a row that they refer to, when `quern show` shows that."""

    name: str  # What they are called there, such as `queries`.
    column: str  # Their column that refers to it.
    columns: tuple[str, ...] = ()  # Columns that are shown; none for the key alone.
    where: tuple[str, str] | tuple[()] = ()  # A column and the value that it must have; empty for all rows.


@dataclass(frozen=True)
class Table:
    """The contract of one table."""

    name: str  # Name of the table, also of its directory in the warehouse.
    key: tuple[str, ...]  # Columns that identify a row; never null, unique over the table.
    schema: pa.Schema  # Arrow schema; every field carries a `doc` metadata entry.
    served: bool = False  # Whether readers open it through LanceDB; the others are staged as Parquet.
    # Whether a step makes it and snapshots pin it; one that is not is written beside the snapshots and never pruned.
    pinned: bool = True
    doc: str = ""  # What its rows are, in a line.
    # What one row is called: `quern show ROW ID` finds it by its key, which has one column; empty where it is not shown
    # by itself.
    row: str = ""
    # Columns that say when a row was made, not what it holds; left out of the table's digest.
    provenance: tuple[str, ...] = ()
    digested: tuple[str, ...] = ()  # Columns for which another column, a digest of them, stands in the table's digest.
    # Column to the table whose key it holds, or null.
    references: Mapping[str, str] = field(default_factory=dict, hash=False)
    indexes: tuple[str, ...] = ()  # Columns by which rows of a served table are looked up.
    prose: tuple[str, ...] = ()  # Columns of running text, in which a search server looks for words.
    words: str = ""  # Column of words that are cut for full-text search, separated by single spaces.
    derived: tuple[Derived, ...] = ()  # Columns that the audit computes.
    expects: tuple[Expected, ...] = ()  # What must hold of it, beside its schema, keys and references.
    empty: Severity | None = "critical"  # What it is when the table has no rows; None for nothing out of the ordinary.
    shrinks: bool = True  # Whether a build may lose any share of its rows.
    repeats: bool = False  # Whether several rows may have one key.
    # Reasons of rejects, by jobs that make the table, that lose nothing of the input.
    no_loss: frozenset[str] = frozenset()
    # Those of them with which the row itself is kept, without a value: such do not count as rejected.
    warnings: frozenset[str] = frozenset()
    hidden: tuple[str, ...] = ()  # Columns that `quern show` leaves out, beside vectors.
    listings: tuple[Listing, ...] = ()  # How its rows are listed below those that they refer to.

    def with_dimension(self, dimension: int) -> Table:
        """This table with its vector columns fixed to `dimension` float32 numbers."""
        fields = [
            pa.field(f.name, pa.list_(pa.float32(), dimension), f.nullable, f.metadata) if f.type == VECTOR else f
            for f in self.schema
        ]
        return replace(self, schema=pa.schema(fields))

    def without(self, *columns: str) -> Table:
        """This table before the named columns have been computed."""
        return replace(self, schema=pa.schema([f for f in self.schema if f.name not in columns]))

    def fields(self, columns: Sequence[str]) -> pa.Schema:
        """The schema of these columns alone."""
        return pa.schema([self.schema.field(name) for name in columns])

    def meaning(self, column: str) -> str:
        """What the named column means."""
        metadata: dict[bytes, bytes] = self.schema.field(column).metadata or {}
        return metadata.get(b"doc", b"").decode()

    def types(self) -> dict[str, str]:
        """The name of the type of each column."""
        return {f.name: type_name(f.type) for f in self.schema}

    def expectations(self, limits: Limits) -> Iterator[Expectation]:
        """Its references, and what else it declares."""
        yield from (References(column, target) for column, target in self.references.items())
        yield from resolved(self.expects, limits)


def column(name: str, kind: pa.DataType, doc: str, *, nullable: bool = False) -> pa.Field:
    """A column that has a value in every row, with its meaning and unit."""
    return pa.field(name, kind, nullable, {"doc": doc})


def columns(*fields: pa.Field) -> pa.Schema:
    """The schema of these columns, in order."""
    return pa.schema(fields)


def optional(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    """A column that may be null, with its meaning and unit."""
    return column(name, kind, doc, nullable=True)


def type_name(kind: pa.DataType) -> str:
    """Name of an Arrow type that any engine can tell: without the width of vectors and the names of items."""
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{type_name(kind.key_type)}, {type_name(kind.item_type)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ", ".join(f"{f.name}: {type_name(f.type)}" for f in kind) + ">"
    return str(kind)
