"""Table `builds`: one row per build, published or not, kept for good beside the snapshots."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, get_args

import pyarrow as pa
from pydantic import BaseModel, Field

from quern.schemas.arrow_models import arrow_schema
from quern.schemas.contract.table import Table, column


class BuiltTable(BaseModel):
    """A table that a build made."""

    name: str
    rows: int
    bytes: int | None = None  # Bytes of its files, Parquet and LanceDB; None where that is not known.
    added: int = 0  # Rows that differ from the parent's.
    changed: int = 0
    removed: int = 0


class BuiltStep(BaseModel):
    """A step that a build finished."""

    name: str
    engine: str
    rows_in: int
    rows_out: int
    computed: int
    rejected: int
    seconds: float
    peak_memory_bytes: int


class Build(BaseModel):
    """A build."""

    build_id: str = Field(description="Name of the build: its start.")
    status: Literal["published", "refused", "failed", "stopped"] = Field(
        description="`published`, `refused` by its audit, `failed`, or `stopped` by a signal."
    )
    error: str | None = Field(
        None, description="Kind of the error that ended it, or the critical expectations that failed."
    )
    started_at: datetime = Field(description="When it began.")
    ended_at: datetime = Field(description="When it was published, or ended.")
    seconds: float = Field(description="Time that it took; of a build run step by step that of its steps.")
    peak_memory_bytes: int = Field(0, description="Largest memory of its processes together.")
    parent: str | None = Field(None, description="Snapshot that it was made upon.")
    source: str = Field(description="What pages were read from.")
    version: str | None = Field(None, description="Version of Quern; null where a manifest alone tells of the build.")
    host: str | None = Field(None, description="Machine that ended it; null in the same case.")
    engines: dict[str, str] = Field(
        {}, description="What did its jobs, each with its address; that is empty for this machine."
    )
    reuse: float | None = Field(
        None, description="Share of the rows given to steps with a memo that were not computed; null without rows."
    )
    tables: list[BuiltTable] = Field(
        [], description="Tables: rows, bytes of their files (Parquet and LanceDB), and changes against the parent."
    )
    steps: list[BuiltStep] = Field(
        [], description="Finished steps in order: engine, rows, seconds, and peak memory of all processes meanwhile."
    )
    rejects: dict[str, int] = Field({}, description="Rows left out, by `job: reason`.")
    warnings: dict[str, int] = Field({}, description="Rows kept without a value, by `job: reason`.")
    settings: dict[str, str] = Field({}, description="Its settings: `group.name` to the value as JSON.")


BUILDS = Table(
    "builds",
    ("build_id",),
    pa.schema(
        column(name, field.type, about.description or "", nullable=type(None) in get_args(about.annotation))
        for field, (name, about) in zip(arrow_schema(Build), Build.model_fields.items(), strict=True)
    ),
    doc="A build: how it ended, what it made, took and left out, and with which settings.",
    row="build",
    hidden=("settings",),
    pinned=False,
)
