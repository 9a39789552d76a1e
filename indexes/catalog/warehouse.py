"""The warehouse as its one writer sees it: pin new versions of tables, publish them in one step, prune old ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from quern.indexes.catalog.folder import FORMAT, WarehouseFolder
from quern.indexes.catalog.leases import held_alone, take_lease
from quern.indexes.catalog.manifest import Manifest, TableVersion, WarehouseError
from quern.indexes.catalog.snapshot import Snapshot
from quern.indexes.locks import exclusive
from quern.indexes.served import LAYOUT
from quern.indexes.stage_folders import remove
from quern.indexes.stages import Stage
from quern.indexes.storage import write_text
from quern.schemas.tables import TABLES, Table

_TRIES: Final = 10  # To open the published snapshot, while others are published and pruned.


class Warehouse(WarehouseFolder):
    """A directory that holds the tables, the memo and the snapshots, open for writing."""

    @classmethod
    def create(cls, root: Path) -> Self:
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
                write_text(root / "warehouse.json", json.dumps(FORMAT) + "\n")
            except OSError as error:
                raise WarehouseError(f"no warehouse can be made at {root}: {error.strerror}") from error
        return cls.open(root)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the warehouse for writing; there is one writer at a time.

        Raises:
            WarehouseError: Another build holds it.
        """
        busy = WarehouseError(f"another build is writing to {self.root}; wait for it or stop it")
        with exclusive(self.root / "build.lock", busy):
            yield

    def snapshot(self, build_id: str | None = None, *, leased: bool = True) -> Snapshot:
        """A snapshot open for reading, by default the published one; pruning leaves it alone while it is `leased`.

        Raises:
            WarehouseError: There is no such snapshot.
        """
        if not leased:
            return Snapshot(self, self.manifest(build_id))
        for _ in range(_TRIES - 1):
            try:
                return self._leased(build_id)
            except FileNotFoundError:  # Another was published since the pointer was read, and this one pruned.
                continue
        return self.snapshot(build_id, leased=False)

    def _leased(self, build_id: str | None) -> Snapshot:
        """The snapshot with a lease on it; raises FileNotFoundError where it is not there."""
        wanted = build_id or self.current_id()
        if wanted is None:
            return Snapshot(self, self.manifest())
        lease = take_lease(self._manifest_path(wanted))
        return Snapshot(self, self.manifest(wanted), lease)

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
            self._keep(replace(stage, path=self.root / before.file), stage)
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

    def _keep(self, pinned: Stage, again: Stage) -> None:
        """Drop a table that was written `again`, or put it in the place of the one pinned where that is damaged."""
        if pinned.path == again.path:
            return
        if pinned.as_written():
            remove(again.path)
        elif again.path.exists():
            remove(pinned.path)
            again.path.replace(pinned.path)

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
        self.served.keep()
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
        """Forget all but the newest `keep` snapshots; returns the ids of those that went.

        The published one always stays, and what is leased: it goes when it is pruned again.
        """
        gone = [s for s in self.prunable(keep) if self._forget(s)]
        self._sweep()
        self._prune_audits(keep)
        return gone

    def prunable(self, keep: int) -> list[str]:
        """Ids of all snapshots but the newest `keep` and the published one, leased or not."""
        current, ids = self.current_id(), self.snapshot_ids()
        return [s for s in ids[: max(0, len(ids) - keep)] if s != current]

    def _forget(self, build_id: str) -> bool:
        """Delete the manifest of a snapshot, unless that is leased."""
        path = self._manifest_path(build_id)
        with held_alone(path) as alone:
            if alone:
                path.unlink()
        return alone

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

    def drop_build(self, build_id: str, *, docs: bool) -> None:
        """Delete what a build wrote that came to nothing, its `docs` too; of a published one nothing."""
        if build_id not in self.snapshot_ids():
            self.served.undo()
            if docs:
                shutil.rmtree(self.audits / build_id, ignore_errors=True)
            for path in self.stages.glob(f"*/{build_id}.parquet"):
                remove(path)

    def clear_work(self, build_id: str) -> Path:
        """An empty directory for the temporary files of a build; those of killed builds are removed."""
        shutil.rmtree(self.root / "work", ignore_errors=True)
        work = self.root / "work" / build_id
        work.mkdir(parents=True)
        return work


def _dimension(table: Table) -> int:
    return max((getattr(f.type, "list_size", 0) for f in table.schema), default=0)
