"""The catalog: which snapshot of the warehouse is published, and what each one pins.

Write, audit, publish: a build writes new versions of its tables beside the published ones, audits them, and
only then replaces one small file, `current.json`. A reader opens one snapshot and never sees half a build.

    WAREHOUSE/warehouse.json        what this directory is
    WAREHOUSE/current.json          the published snapshot
    WAREHOUSE/snapshots/ID.json     manifests
    WAREHOUSE/stages/TABLE/ID.parquet, WAREHOUSE/lance/TABLE.lance, WAREHOUSE/memo/JOB/FINGERPRINT/*.arrow
    WAREHOUSE/logs/ID.log           one line per job of each build
    WAREHOUSE/audit/ID/index.html   data docs of the audit of each build, of refused ones too
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from quern.indexes.locks import exclusive
from quern.indexes.served import LAYOUT, ServedTable, ServedTables
from quern.indexes.stage_folders import remove
from quern.indexes.stages import Stage
from quern.indexes.storage import write_text
from quern.schemas.errors import QuernError
from quern.schemas.settings import Settings
from quern.schemas.tables import TABLES, Table

log = logging.getLogger(__name__)

_FORMAT = {"format": "quern warehouse", "version": 1}


class WarehouseError(QuernError):
    """A warehouse or snapshot that is not there or cannot be used; the message says what to do."""


class TableVersion(BaseModel):
    """What a snapshot pins of one table.

    Attributes:
        kind: `served` (LanceDB) or `staged` (Parquet).
        version: Version of the LanceDB table; of a staged table, the count of its changes.
        rows: Rows.
        digest: Digest of its content.
        file: Its Parquet file, relative to the warehouse; served tables are staged too.
        dimension: Width of its vectors; 0 for none.
        indexes: State of its indexes when it was written.
        layout: Version of the layout and indexes it was written with.
    """

    kind: Literal["served", "staged"]
    version: int
    rows: int
    digest: str
    file: str
    dimension: int = 0
    indexes: dict[str, Any] = Field(default_factory=dict)
    layout: int = 0


class Manifest(BaseModel):
    """Everything about one snapshot.

    Attributes:
        parent: The snapshot that was published when this one was built.
        source: What was read.
        jobs: One report per job, in order.
        audit: One check per expectation.
        rejects: Rejects per `job: reason`.
        reject_shares: The same as shares of the rows that the job was given.
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
    jobs: list[dict[str, Any]]
    audit: list[dict[str, Any]]
    rejects: dict[str, int] = Field(default_factory=dict)
    reject_shares: dict[str, float] = Field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_bytes: int = 0
    settings: dict[str, Any]
    model: str = ""

    def known_settings(self) -> Settings:
        """The settings of the build; those that this version of Quern no longer knows are left out."""
        fields = Settings.model_fields
        tree = {
            group: {n: v for n, v in values.items() if n in type(getattr(Settings(), group)).model_fields}
            for group, values in self.settings.items()
            if group in fields
        }
        return Settings.model_validate(tree)


def new_build_id() -> str:
    """A name for a build: its start in UTC to the millisecond, so that names sort by time."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")[:-3]


class Warehouse:
    """A directory that holds the tables, the memo and the snapshots."""

    def __init__(self, root: Path) -> None:
        # Workers of engines run in directories of their own.
        self.root = root = root.absolute()
        self.memo = root / "memo"
        self.stages = root / "stages"
        self.logs = root / "logs"
        self.audits = root / "audit"
        self._snapshots = root / "snapshots"
        self._current = root / "current.json"
        self._served: ServedTables | None = None

    @classmethod
    def create(cls, root: Path) -> Warehouse:
        """The warehouse at `root`, made if nothing is there.

        Raises:
            WarehouseError: `root` is a file, or a directory that holds something else.
        """
        if root.exists() and not root.is_dir():
            raise WarehouseError(f"{root} is a file; --warehouse must name a directory")
        if not (root / "warehouse.json").exists():
            if root.is_dir() and any(root.iterdir()):
                raise WarehouseError(f"{root} holds other files and is no warehouse; name a new or empty directory")
            try:
                write_text(root / "warehouse.json", json.dumps(_FORMAT) + "\n")
            except OSError as error:
                raise WarehouseError(f"no warehouse can be made at {root}: {error.strerror}") from error
        return cls.open(root)

    @classmethod
    def open(cls, root: Path) -> Warehouse:
        """The warehouse at `root`.

        Raises:
            WarehouseError: There is none.
        """
        try:
            found = json.loads((root / "warehouse.json").read_text("utf-8"))
        except (OSError, ValueError):
            raise WarehouseError(f"{root} is no warehouse; `quern build PAGES --warehouse {root}` makes one") from None
        if found != _FORMAT:
            raise WarehouseError(f"{root} is a warehouse of another version of Quern: {found}")
        return cls(root)

    @property
    def served(self) -> ServedTables:
        """The served tables."""
        if self._served is None:
            self._served = ServedTables(self.root / "lance")
        return self._served

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the warehouse for writing; there is one writer at a time.

        Raises:
            WarehouseError: Another build holds it.
        """
        busy = WarehouseError(f"another build is writing to {self.root}; wait for it or stop it")
        with exclusive(self.root / "build.lock", busy):
            yield

    def current_id(self) -> str | None:
        """The published snapshot's build id; None before the first.

        Raises:
            WarehouseError: The pointer is damaged.
        """
        try:
            return str(json.loads(self._current.read_text("utf-8"))["build_id"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            raise WarehouseError(
                f"{self._current} is damaged; write one of snapshots/*.json into it, like "
                f'{{"build_id": "{(self.snapshot_ids() or ["ID"])[-1]}"}}'
            ) from None

    def snapshot_ids(self) -> list[str]:
        """Build ids of all snapshots, oldest first."""
        return sorted(p.stem for p in self._snapshots.glob("[0-9]*.json"))

    def manifest(self, build_id: str | None = None) -> Manifest:
        """The manifest of a snapshot, by default of the published one.

        Raises:
            WarehouseError: There is no such snapshot.
        """
        wanted = build_id or self.current_id()
        if wanted is None:
            raise WarehouseError(f"nothing is published in {self.root} yet; run `quern build` first")
        if wanted not in self.snapshot_ids():
            known = ", ".join(self.snapshot_ids()[-3:]) or "none"
            raise WarehouseError(f"there is no snapshot {wanted} in {self.root}; the latest are: {known}")
        return Manifest.model_validate_json((self._snapshots / f"{wanted}.json").read_text("utf-8"))

    def snapshot(self, build_id: str | None = None) -> Snapshot:
        """A snapshot open for reading, by default the published one."""
        return Snapshot(self, self.manifest(build_id))

    def pin(self, stage: Stage, parent: Manifest | None) -> TableVersion:
        """Write `stage` as a new version of its table, or return the parent's where nothing changed.

        Raises:
            WarehouseError: No such table is declared.
        """
        table = stage.table
        if table.name not in TABLES:
            raise WarehouseError(f"{table.name} is no table of Quern: declare it in schemas/tables/{table.name}.py")
        before = parent.tables.get(table.name) if parent else None
        if before and before.digest == stage.digest and self._is_there(before, table):
            if self.root / before.file != stage.path:
                remove(stage.path)
            return before
        version = (before.version if before else 0) + 1
        indexes: dict[str, Any] = {}
        if table.served:
            version, indexes = self.served.write(stage)
        return TableVersion(
            kind="served" if table.served else "staged",
            version=version,
            rows=stage.rows,
            digest=stage.digest,
            file=str(stage.path.relative_to(self.root)),
            dimension=_dimension(table),
            indexes=indexes,
            layout=LAYOUT,
        )

    def _is_there(self, version: TableVersion, table: Table) -> bool:
        """Whether a pinned version can be read as it would be written today."""
        if not (self.root / version.file).exists():
            return False
        return version.kind == "staged" or (version.layout == LAYOUT and self.served.has(table.name, version.version))

    def publish(self, manifest: Manifest) -> Manifest:
        """Make `manifest` the published snapshot, in one step."""
        manifest = manifest.model_copy(update={"published_at": datetime.now(UTC)})
        for name, version in manifest.tables.items():
            if version.kind == "served":
                self.served.tag(name, version.version, manifest.build_id)
        write_text(self._snapshots / f"{manifest.build_id}.json", manifest.model_dump_json(indent=1) + "\n")
        self._point_to(manifest.build_id)
        return manifest

    def rollback(self, build_id: str | None = None) -> Manifest:
        """Publish an earlier snapshot again, by default the one that the published was built upon.

        Raises:
            WarehouseError: There is no such snapshot, or none before the published one.
        """
        if build_id is None:
            build_id = self.manifest().parent
            if build_id not in self.snapshot_ids():
                raise WarehouseError(f"there is no snapshot before the published one in {self.root}; name one")
        manifest = self.manifest(build_id)
        self._point_to(manifest.build_id)
        return manifest

    def _point_to(self, build_id: str) -> None:
        write_text(self._current, json.dumps({"build_id": build_id}) + "\n")

    def prune(self, keep: int) -> list[str]:
        """Forget all but the newest `keep` snapshots (the published one always stays); returns their ids."""
        current = self.current_id()
        ids = self.snapshot_ids()
        gone = [s for s in ids[: max(0, len(ids) - keep)] if s != current]
        for build_id in gone:
            (self._snapshots / f"{build_id}.json").unlink()
        self._sweep()
        self._prune_audits(keep)
        return gone

    def _prune_audits(self, keep: int) -> None:
        """Delete the data docs of pruned snapshots, and of refused builds that are older than all that are kept."""
        ids = self.snapshot_ids()
        for docs in self.audits.glob("[0-9]*"):
            if ids and docs.name not in ids and docs.name < ids[-keep:][0]:
                shutil.rmtree(docs, ignore_errors=True)

    def _sweep(self) -> None:
        """Delete staged files and table versions that no manifest names: of pruned and of failed builds."""
        manifests = [self.manifest(s) for s in self.snapshot_ids()]
        named = {self.root / v.file for m in manifests for v in m.tables.values()}
        for path in self.stages.glob("*/*.parquet"):
            if path not in named:
                remove(path)
        for name in {n for m in manifests for n, v in m.tables.items() if v.kind == "served"}:
            kept = {m.build_id: m.tables[name].version for m in manifests if name in m.tables}
            self.served.prune(name, kept)

    def clear_work(self, build_id: str) -> Path:
        """An empty directory for the temporary files of a build; those of killed builds are removed."""
        shutil.rmtree(self.root / "work", ignore_errors=True)
        work = self.root / "work" / build_id
        work.mkdir(parents=True)
        return work


def _dimension(table: Table) -> int:
    return max((getattr(f.type, "list_size", 0) for f in table.schema), default=0)


class Snapshot:
    """One snapshot, open for reading: every table at the version that its manifest pins."""

    def __init__(self, warehouse: Warehouse, manifest: Manifest) -> None:
        self.warehouse = warehouse
        self.manifest = manifest

    def _pinned(self, name: str) -> tuple[Table, TableVersion]:
        version = self.manifest.tables.get(name)
        if version is None:
            raise WarehouseError(f"snapshot {self.manifest.build_id} has no table {name}")
        return TABLES[name].with_dimension(version.dimension) if version.dimension else TABLES[name], version

    def table(self, name: str) -> ServedTable:
        """A served table."""
        table, version = self._pinned(name)
        if not self.warehouse.served.has(name, version.version):
            raise WarehouseError(
                f"{self.warehouse.root} is damaged: its table {name} has no version {version.version}; build again"
            )
        return self.warehouse.served.open(table, version.version)

    def stage(self, name: str) -> Stage:
        """A table as its Parquet file."""
        table, version = self._pinned(name)
        return Stage(table, self.warehouse.root / version.file, version.rows, version.digest)
