"""Manifests: everything that is known about one snapshot, and what it pins of each table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from quern.schemas.differences import RowChanges
from quern.schemas.errors import QuernError
from quern.schemas.settings import Settings


class WarehouseError(QuernError):
    """A warehouse or snapshot that is not there or cannot be used; the message says what to do."""


class TableVersion(BaseModel):
    """What a snapshot pins of one table.

    Attributes:
        kind: `served` (LanceDB) or `staged` (Parquet).
        version: Number of the LanceDB table (`lance/NAME-VERSION.lance`); of a staged table, the count of its changes.
        rows: Rows.
        digest: Digest of its content.
        file: Its Parquet file, relative to the warehouse; served tables are staged too.
        checksum: Checksum of that file, or of the list of files of a folder.
        served: Checksums of the files of the LanceDB table, by their paths in its directory.
        dimension: Width of its vectors; 0 for none.
        indexes: State of its indexes when it was written.
        layout: Version of the layout and indexes it was written with.
    """

    kind: Literal["served", "staged"]
    version: int
    rows: int
    digest: str
    file: str
    checksum: str = ""
    served: dict[str, str] = Field(default_factory=dict)
    dimension: int = 0
    indexes: dict[str, Any] = Field(default_factory=dict)
    layout: int = 0


class Manifest(BaseModel):
    """Everything about one snapshot.

    Attributes:
        parent: The snapshot that was published when this one was built.
        source: What was read.
        changes: How many rows of each table differ from the parent's.
        jobs: One report per job, in order.
        steps: One record per step of the build, in order.
        audit: One check per expectation.
        rejects: Rejects per `job: reason`, without warnings.
        warnings: Those with which a row was kept, without a value, in the same way.
        reject_shares: Both as shares of the rows that the job was given.
        seconds: Time of the build.
        peak_memory_bytes: Largest memory of all its processes together.
        settings: Settings of the build, as a tree.
        model: Fingerprint of the embedding model.
    """

    build_id: str
    parent: str | None
    started_at: datetime
    published_at: datetime | None = None
    source: str
    tables: dict[str, TableVersion]
    changes: dict[str, RowChanges] = Field(default_factory=dict)
    jobs: list[dict[str, Any]]
    steps: list[StepRecord] = Field(default_factory=list)
    audit: list[dict[str, Any]]
    rejects: dict[str, int] = Field(default_factory=dict)
    warnings: dict[str, int] = Field(default_factory=dict)
    reject_shares: dict[str, float] = Field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_bytes: int = 0
    settings: dict[str, Any]
    model: str = ""

    def known_settings(self) -> Settings:
        """The settings of the build; names and choices that this version of Quern no longer knows are left out."""
        known = {name: type(group).model_fields for name, group in Settings()}
        tree = {
            group: {n: v for n, v in values.items() if n in known[group]}
            for group, values in self.settings.items()
            if group in known
        }
        try:
            return Settings.model_validate(tree)
        except ValidationError as error:
            for group, name in (of["loc"] for of in error.errors() if of["type"] == "literal_error"):
                del tree[str(group)][str(name)]
        return Settings.model_validate(tree)


def new_build_id() -> str:
    """A name for a build: its start in UTC to the millisecond, so that names sort by time."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")[:-3]


def build_id_after(build_id: str) -> str:
    """The name that a build would have a millisecond after `build_id`."""
    try:
        start = datetime.strptime(build_id.ljust(len("00000000T000000000"), "0") + "000", "%Y%m%dT%H%M%S%f")
        return (start + timedelta(milliseconds=1)).strftime("%Y%m%dT%H%M%S%f")[:-3]
    except (ValueError, OverflowError):  # Whoever runs steps one by one may name a build by any digits.
        return f"{build_id}0"


class StepRecord(BaseModel):
    """One step of one build.

    Attributes:
        name: Name of the step.
        job: Name of its job in logs and rejects.
        version: Version of the job.
        fingerprint: Fingerprint of the job.
        configuration: What the fingerprint is made of beside name, version and schemas.
        reads: Digest of each table read.
        makes: Digest of each table made.
        rows: Rows of each table made.
        rows_in: Rows the job was given.
        rows_out: Rows it made.
        computed: Rows of those given whose results were not known.
        rejected: Rejects, without warnings.
        warned: Warnings: rejects with which a row was kept.
        notes: Further figures of the job.
        seconds: Time of the step.
        final: Whether another run over the same tables would make the same.
        memo: Folders of the memo that it asked.
    """

    name: str
    job: str
    version: int
    fingerprint: str
    configuration: dict[str, Any] = Field(default_factory=dict)
    reads: dict[str, str] = Field(default_factory=dict)
    makes: dict[str, str] = Field(default_factory=dict)
    rows: dict[str, int] = Field(default_factory=dict)
    rows_in: int = 0
    rows_out: int = 0
    computed: int = 0
    rejected: int = 0
    warned: int = 0
    notes: dict[str, int | float] = Field(default_factory=dict)
    seconds: float = 0.0
    final: bool = True
    memo: list[str] = Field(default_factory=list)

    @property
    def told(self) -> bool:
        """Whether the step wrote rejects."""
        return bool(self.rejected or self.warned)
