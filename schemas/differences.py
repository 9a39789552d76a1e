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
    """A row that differs."""

    change: Change  # What became of it.
    key: dict[str, str | int | None]  # The columns that identify it.
    title: str | None = None  # Of a document, its title; where that changed, the later one.
    url: str | None = None  # Of a document, its address, likewise.
    columns: list[str] = Field(default_factory=list)  # Of a changed row, the columns whose values differ.


class TableDifference(BaseModel):
    """What differs in one table."""

    rows_before: int  # Rows of the earlier version; 0 where there is none.
    rows_after: int  # Rows of the later version; 0 where there is none.
    changes: RowChanges  # How many rows differ.
    # The first of those, as many of each kind as were asked for.
    rows: list[RowDifference] = Field(default_factory=list)


class SnapshotDifference(BaseModel):
    """What differs between two snapshots."""

    before: str  # Build id of the earlier one.
    after: str  # Build id of the later one.
    tables: dict[str, TableDifference]  # The tables compared, in the order in which a build makes them.
