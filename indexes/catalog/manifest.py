"""Manifests: everything that is known about one snapshot, and what it pins of each table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationError

from quern.schemas.differences import RowChanges
from quern.schemas.errors import QuernError
from quern.schemas.settings import Settings


class WarehouseError(QuernError):
    """A warehouse or snapshot that is not there or cannot be used; the message says what to do."""


def _below(path: str) -> str:
    """Refuse a path that leads out of the warehouse: a reader writes what a bucket holds to the paths it is told."""
    if not path or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError(f"{path!r} is no path below the warehouse")
    return path


RelativePath = Annotated[str, AfterValidator(_below)]
Name = Annotated[str, StringConstraints(pattern=r"^\w[\w-]*$")]  # What a file may be named after.


class TableVersion(BaseModel):
    """What a snapshot pins of one table."""

    kind: Literal["served", "staged"]  # `served` (LanceDB) or `staged` (Parquet).
    # Number of the LanceDB table (`lance/NAME-VERSION.lance`); of a staged table, the count of its changes.
    version: int
    rows: int  # Rows.
    digest: str  # Digest of its content.
    file: RelativePath  # Its Parquet file, relative to the warehouse; served tables are staged too.
    checksum: str = ""  # Checksum of that file, or of the list of files of a folder.
    # Checksums of the files of the LanceDB table, by their paths in its directory.
    served: dict[RelativePath, str] = Field(default_factory=dict)
    dimension: int = 0  # Width of its vectors; 0 for none.
    indexes: dict[str, Any] = Field(default_factory=dict)  # State of its indexes when it was written.
    layout: int = 0  # Version of the layout and indexes it was written with.


class Manifest(BaseModel):
    """Everything about one snapshot."""

    build_id: Name
    parent: str | None  # The snapshot that was published when this one was built.
    started_at: datetime
    published_at: datetime | None = None
    source: str  # What was read.
    tables: dict[Name, TableVersion]
    # How many rows of each table differ from the parent's.
    changes: dict[str, RowChanges] = Field(default_factory=dict)
    jobs: list[dict[str, Any]]  # One report per job, in order.
    steps: list[StepRecord] = Field(default_factory=list)  # One record per step of the build, in order.
    audit: list[dict[str, Any]]  # One check per expectation.
    rejects: dict[str, int] = Field(default_factory=dict)  # Rejects per `job: reason`, without warnings.
    # Those with which a row was kept, without a value, in the same way.
    warnings: dict[str, int] = Field(default_factory=dict)
    reject_shares: dict[str, float] = Field(default_factory=dict)  # Both as shares of the rows that the job was given.
    seconds: float = 0.0  # Time of the build.
    peak_memory_bytes: int = 0  # Largest memory of all its processes together.
    settings: dict[str, Any]  # Settings of the build, as a tree.
    model: str = ""  # Fingerprint of the embedding model.
    # Of a warehouse in an object store: the keys of the files of its tables, by their paths in the warehouse.
    objects: dict[RelativePath, str] = Field(default_factory=dict)

    def known_settings(self) -> Settings:
        """The settings of the build; what this version of Quern no longer knows is left out."""
        fields = {name: type(group).model_fields for name, group in Settings()}
        tree = {
            group: {n: v for n, v in values.items() if n in fields[group]}
            for group, values in self.settings.items()
            if group in fields
        }
        try:
            return Settings.model_validate(tree)
        except ValidationError as error:
            for group, *names in (of["loc"] for of in error.errors() if of["type"] in ("literal_error", "value_error")):
                if names:
                    tree.get(str(group), {}).pop(str(names[0]), None)
                else:  # Settings of a group that no longer go together, such as a generator without a model.
                    tree.pop(str(group), None)
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
    """One step of one build."""

    name: str  # Name of the step.
    job: str  # Name of its job in logs and rejects.
    version: int  # Version of the job.
    fingerprint: str  # Fingerprint of the job.
    # What the fingerprint is made of beside name, version and schemas.
    configuration: dict[str, Any] = Field(default_factory=dict)
    reads: dict[str, str] = Field(default_factory=dict)  # Digest of each table read.
    makes: dict[str, str] = Field(default_factory=dict)  # Digest of each table made.
    rows: dict[str, int] = Field(default_factory=dict)  # Rows of each table made.
    rows_in: int = 0  # Rows the job was given.
    rows_out: int = 0  # Rows it made.
    computed: int = 0  # Rows of those given whose results were not known.
    rejected: int = 0  # Rejects, without warnings.
    warned: int = 0  # Warnings: rejects with which a row was kept.
    notes: dict[str, int | float] = Field(default_factory=dict)  # Further figures of the job.
    seconds: float = 0.0  # Time of the step.
    peak_memory_bytes: int = 0  # Largest memory of the build's processes while it ran; 0 where it was left alone.
    final: bool = True  # Whether another run over the same tables would make the same.
    memo: list[str] = Field(default_factory=list)  # Folders of the memo that it asked.

    @property
    def told(self) -> bool:
        """Whether the step wrote rejects."""
        return bool(self.rejected or self.warned)
