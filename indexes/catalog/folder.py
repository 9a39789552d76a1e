"""The directory of a warehouse: where its parts are, and the manifests in it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError

from quern.indexes.catalog.history import BuildHistory
from quern.indexes.catalog.leases import Lease, is_leased
from quern.indexes.catalog.manifest import Manifest, TableVersion, WarehouseError
from quern.indexes.catalog.object_store import stored_at
from quern.indexes.checksums import VERIFIED, DamagedError, read_sealed, unsealed, write_sealed
from quern.indexes.served import ServedTable, ServedTables
from quern.indexes.stages import Stage
from quern.schemas.addresses import Url
from quern.schemas.tables import TABLES, Table
from quern.schemas.version import VERSION

FORMAT: Final[Mapping[str, Any]] = {"format": "quern warehouse", "version": 3}
_BY: Final = "quern"

log = logging.getLogger(__name__)

_POINT_AGAIN = "`quern snapshots rollback ID` publishes a snapshot again, `quern build` a new one"
_ANOTHER = "`quern build` publishes another, `quern snapshots rollback ID` an earlier one"


class WarehouseFolder:
    """A directory that holds the tables, the memo and the snapshots, open for reading."""

    def __init__(self, root: Path) -> None:
        # Workers of engines run in directories of their own.
        self.root = root = root.absolute()
        self.memo = root / "memo"
        self.stages = root / "stages"
        self.logs = root / "logs"
        self.audits = root / "audit"
        self.lineage = root / "lineage"
        self.builds = root / "builds"
        self.store = stored_at(root, FORMAT["version"])  # Where snapshots are published, if not here.
        self.history = BuildHistory(root / "history", self.store)
        self.snapshots = root / "snapshots"
        self._current = root / "current.json"

    @classmethod
    def open(cls, root: Path) -> Self:
        """The warehouse at `root`.

        Raises WarehouseError: there is none, or it is of another version of Quern; DamagedError: the file that says
        what the directory is, is damaged.
        """
        if root.is_file():
            raise WarehouseError(f"{root} is a file; --warehouse names the directory of a warehouse")
        about = _format_of(root / "warehouse.json")
        if about is None and (store := stored_at(root, FORMAT["version"])):
            if store.current is None:
                raise WarehouseError(
                    f"{store.url} is no warehouse; `quern build PAGES --warehouse {store.url}` makes one"
                )
            write_sealed(root / "warehouse.json", about := about_format())
        if about is None:
            raise WarehouseError(f"{root} is no warehouse; `quern build PAGES --warehouse {root}` makes one")
        if about.get("version") != FORMAT["version"]:
            number, this = about.get("version"), FORMAT["version"]
            by = f"Quern {about[_BY]}, " if _BY in about else ""
            newer = isinstance(number, int) and number > this
            age, use = ("a newer", "use that one, or ") if newer else ("an older", "")
            raise WarehouseError(
                f"{root} was made by {age} version of Quern ({by}format {number}) than this one (Quern {VERSION}, "
                f"format {this}), which cannot read it and leaves it as it is: {use}name a new directory and build "
                "from the same pages again, or delete this one first"
            )
        return cls(root)

    @cached_property
    def served(self) -> ServedTables:
        """The served tables."""
        return ServedTables(self.root / "lance")

    @property
    def address(self) -> Path | Url:
        """What a command calls the warehouse: its directory, or where it is published."""
        return self.store.url if self.store else self.root

    def current_id(self) -> str | None:
        """The published snapshot's build id; None before the first. Raises DamagedError: the pointer is damaged."""
        if self.store:
            return self.store.current
        try:
            return str(read_sealed(self._current, _POINT_AGAIN)["build_id"])
        except FileNotFoundError:
            return None

    def snapshot_ids(self) -> list[str]:
        """Build ids of all snapshots, oldest first, of those whose manifest is damaged too."""
        if self.store:
            return sorted(self.store.pointer.snapshots) if self.store.pointer else []
        return sorted(p.stem for p in self.snapshots.glob("[0-9]*.json"))

    def manifest(self, build_id: str | None = None) -> Manifest:
        """The manifest of a snapshot, by default of the published one.

        Raises WarehouseError: there is no such snapshot; DamagedError: the manifest is damaged, or the pointer to the
        published one.
        """
        target = build_id or self.current_id()
        if target is None:
            raise WarehouseError(
                f"nothing is published in {self.address} yet; run `quern build -w {self.address}` first"
            )
        path = self.manifest_path(target)
        try:
            return Manifest.model_validate(read_sealed(path, _ANOTHER))
        except FileNotFoundError:
            ids = ", ".join(self.snapshot_ids()[-3:]) or "none"
            raise WarehouseError(f"there is no snapshot {target} in {self.address}; the latest are: {ids}") from None
        except ValidationError as error:
            raise DamagedError(path, f"{error.error_count()} fields cannot be read", _ANOTHER) from None

    def whole_manifests(self) -> list[Manifest]:
        """The manifests that are not damaged, oldest first; damaged ones are logged."""
        manifests = []
        for build_id in self.snapshot_ids():
            try:
                manifests.append(self.manifest(build_id))
            except DamagedError as error:
                log.warning("%s", error)
            except WarehouseError:  # Pruned since it was listed.
                continue
        return manifests

    def manifest_path(self, build_id: str) -> Path:
        """Where the manifest of a snapshot is; its leases are locks on that file."""
        path = self.snapshots / f"{build_id}.json"
        if self.store:
            self.store.fetch_manifest(build_id, path)
        return path

    def fetch(self, manifest: Manifest, name: str, *, served: bool) -> None:
        """Have the files of a table of a snapshot in this directory: its staged ones, or those of LanceDB.

        Raises DamagedError: the store has one no longer, or not as it was written.
        """
        if self.store:
            version = manifest.tables[name]
            folder = self.served.folder(name, version.version).relative_to(self.root).as_posix()
            self.store.fetch(manifest, folder if served else version.file)

    def is_leased(self, build_id: str) -> bool:
        """Whether a reader holds the snapshot, so that pruning leaves it alone."""
        return is_leased(self.manifest_path(build_id))


def _format_of(path: Path) -> dict[str, Any] | None:
    """What says of a directory what it is; None where nothing does."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if is_remnant(path.parent):
            raise DamagedError(path, "it is gone") from None
        return None
    except OSError:
        return None
    try:
        return unsealed(content)
    except ValueError as error:
        why = str(error)
    try:  # Before version 3 it had no checksum.
        old = json.loads(content)
    except ValueError:
        old = None
    if isinstance(old, dict) and set(old) == set(FORMAT) and old["version"] in range(1, 3):
        return old
    if is_remnant(path.parent):
        raise DamagedError(path, why)
    return None


def about_format() -> dict[str, Any]:
    """What says of a directory that it is a warehouse, and by what version of Quern it was made."""
    return {**FORMAT, _BY: VERSION}


def is_remnant(root: Path) -> bool:
    """Whether a directory holds a warehouse's snapshots and tables, whatever became of the file that says so."""
    return (root / "snapshots").is_dir() and (root / "stages").is_dir()


class Snapshot:
    """One snapshot, open for reading: every table at the version that its manifest pins.

    Its lease, if it has one, lasts as long as the object and the served tables that were opened from it.
    """

    def __init__(self, warehouse: WarehouseFolder, manifest: Manifest, lease: Lease | None = None) -> None:
        self.warehouse = warehouse
        self.manifest = manifest
        self.lease = lease
        VERIFIED.forget()

    def _pinned(self, name: str) -> tuple[Table, TableVersion]:
        version = self.manifest.tables.get(name)
        if version is None:
            raise WarehouseError(f"snapshot {self.manifest.build_id} has no table {name}")
        return TABLES[name].with_dimension(version.dimension) if version.dimension else TABLES[name], version

    def table(self, name: str) -> ServedTable:
        """A served table. Raises DamagedError: its files, which are read whole once, are not as they were written."""
        table, version = self._pinned(name)
        self.warehouse.fetch(self.manifest, name, served=True)
        return self.warehouse.served.open(table, version.version, version.served, self.lease)

    def stage(self, name: str) -> Stage:
        """A table as its Parquet file.

        Raises DamagedError: it is to be fetched from a store, which has it no longer, or not as it was written.
        """
        table, version = self._pinned(name)
        self.warehouse.fetch(self.manifest, name, served=False)
        return Stage(table, self.warehouse.root / version.file, version.rows, version.digest, version.checksum)

    def check(self) -> None:
        """Read all files of all tables. Raises DamagedError: one is not as it was written."""
        for name, version in self.manifest.tables.items():
            self.stage(name).check()
            if version.kind == "served":
                self.warehouse.fetch(self.manifest, name, served=True)
                self.warehouse.served.check(name, version.version, version.served)
