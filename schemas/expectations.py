"""What the audit's suites speak of beside the tables' own columns; the suites are in `jobs.audit.suites`.

Nothing here imports Great Expectations, which takes seconds: builds need these names long before their audit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from quern.schemas.tables import Table

# Rejects of these reasons are no lost pages: captures of what is no page, and second copies of one.
NO_LOSS: frozenset[str] = frozenset(
    {
        "duplicate_url",
        "duplicate_doc_id",
        "duplicate_key",
        "exact_duplicate",
        "near_duplicate",
        "http_status",
        "content_type",
        "gone",
        "revisit",
        "revisit_without_capture",
        "unknown_kind",
        "digest_mismatch",
        "bad_date",
    }
)

SHARES = "reject_share"
"""Name of the audit's own table of one row: for each job the share of its input that it lost."""

LOST = "pages"
"""Column of `SHARES` for all jobs that make documents of pages, together."""

MEASURES = "measures"
"""Name of the audit's own table of one row: what jobs measured of their own results."""

RECALL = "link_recall"
"""Column of `MEASURES`: share of true neighbours that a graph built by partitions has, on a sample."""


@dataclass(frozen=True)
class Derived:
    """A column that the audit computes while it reads: what an expectation needs and no table holds.

    Attributes:
        name: Name of the column.
        kind: `length` in characters; `norm` (L2) of a vector; `difference` of the first and the second column.
        columns: What it is computed from.
    """

    name: str
    kind: Literal["length", "norm", "difference"]
    columns: tuple[str, ...]


_NORM = Derived("vector_norm", "norm", ("vector",))
_LENGTH = Derived("text_length", "length", ("text",))

DERIVED: Mapping[str, tuple[Derived, ...]] = {
    "documents": (_LENGTH,),
    "chunks": (_LENGTH, Derived("span_length", "difference", ("end", "start")), _NORM),
    "nodes": (_NORM,),
    "events": (_NORM,),
}


def type_name(kind: pa.DataType) -> str:
    """Name of an Arrow type that any engine can tell: the width of vectors and names of list items are left out."""
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ", ".join(f"{f.name}: {type_name(f.type)}" for f in kind) + ">"
    return str(kind)


def column_types(table: Table) -> dict[str, str]:
    """The name of the type of each column."""
    return {f.name: type_name(f.type) for f in table.schema}
