"""What differs between two snapshots, table by table."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Change = Literal["added", "changed", "removed"]


class RowChanges(BaseModel):
    """How many rows of a table were added, changed and removed."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    def __str__(self) -> str:
        return f"added={self.added} changed={self.changed} removed={self.removed}"

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self.added or self.changed or self.removed)


class RowDifference(BaseModel):
    """A row that differs.

    Attributes:
        change: What became of it.
        key: The columns that identify it.
        title: Of a document, its title; where that changed, the later one.
        url: Of a document, its address, likewise.
        columns: Of a changed row, the columns whose values differ.
    """

    change: Change
    key: dict[str, str | int | None]
    title: str | None = None
    url: str | None = None
    columns: list[str] = Field(default_factory=list)


class TableDifference(BaseModel):
    """What differs in one table.

    Attributes:
        rows_before: Rows of the earlier version; 0 where there is none.
        rows_after: Rows of the later version; 0 where there is none.
        changes: How many rows differ.
        rows: The first of those, as many of each kind as were asked for.
    """

    rows_before: int
    rows_after: int
    changes: RowChanges
    rows: list[RowDifference] = Field(default_factory=list)


class SnapshotDifference(BaseModel):
    """What differs between two snapshots.

    Attributes:
        before: Build id of the earlier one.
        after: Build id of the later one.
        tables: The tables compared, in the order in which a build makes them.
    """

    before: str
    after: str
    tables: dict[str, TableDifference]
