"""Snapshots: every table of a warehouse at the version that one manifest pins."""

from __future__ import annotations

from quern.indexes.catalog.folder import WarehouseFolder
from quern.indexes.catalog.leases import Lease
from quern.indexes.catalog.manifest import Manifest, TableVersion, WarehouseError
from quern.indexes.checksums import VERIFIED
from quern.indexes.served import ServedTable
from quern.indexes.stages import Stage
from quern.schemas.tables import TABLES, Table


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
        """A served table.

        Raises:
            DamagedError: Its files, which are read whole once, are not as they were written.
        """
        table, version = self._pinned(name)
        return self.warehouse.served.open(table, version.version, version.served, self.lease)

    def stage(self, name: str) -> Stage:
        """A table as its Parquet file."""
        table, version = self._pinned(name)
        return Stage(table, self.warehouse.root / version.file, version.rows, version.digest, version.checksum)

    def check(self) -> None:
        """Read all files of all tables.

        Raises:
            DamagedError: One is not as it was written.
        """
        for name, version in self.manifest.tables.items():
            self.stage(name).check()
            if version.kind == "served":
                self.warehouse.served.check(name, version.version, version.served)
