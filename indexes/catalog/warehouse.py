"""The warehouse as its one writer sees it: pin new versions of tables, publish them in one step, prune old ones."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Self

from quern.indexes.catalog.folder import Snapshot, WarehouseFolder, about_format, is_remnant
from quern.indexes.catalog.leases import Lease, held_alone, take_lease
from quern.indexes.catalog.manifest import Manifest, TableVersion, WarehouseError, build_id_after, new_build_id
from quern.indexes.catalog.object_store import MARK
from quern.indexes.catalog.writer import Writer, held_for_writing
from quern.indexes.checksums import VERIFIED, DamagedError, read_sealed, write_sealed
from quern.indexes.search_files import SearchFiles
from quern.indexes.served.writer import LAYOUT, ServedWriter, Written
from quern.indexes.stage_writers import remove
from quern.indexes.stages import Stage
from quern.indexes.storage import Remnant, begun
from quern.schemas.tables import TABLES

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Instead:
    """A version of a table that is damaged, and the one with the same content that comes in its place."""

    table: str
    damaged: TableVersion
    again: TableVersion


class Warehouse(WarehouseFolder):
    """A directory that holds the tables, the memo and the snapshots, open for writing."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._instead: list[_Instead] = []

    @cached_property
    def served(self) -> ServedWriter:
        """The served tables."""
        return ServedWriter(self.root / "lance", shared=self.store is not None)

    @classmethod
    def create(cls, root: Path) -> Self:
        """The warehouse at `root`, made if nothing is there.

        Raises WarehouseError: `root` is a file, or a directory that holds something else.
        """
        if root.exists() and not root.is_dir():
            raise WarehouseError(f"{root} is a file; --warehouse must name a directory")
        path = root / "warehouse.json"
        try:
            if path.exists() or is_remnant(root):
                return cls.open(root)
        except DamagedError as error:
            log.warning("%s: it is written again", error)
        else:
            if root.is_dir() and not all(begun(file) or file.name == MARK for file in root.iterdir()):
                raise WarehouseError(f"{root} holds other files and is no warehouse; name a new or empty directory")
        try:
            write_sealed(path, about_format())
        except OSError as error:
            raise WarehouseError(f"no warehouse can be made at {root}: {error.strerror}") from error
        return cls.open(root)

    @contextmanager
    def lock(self, what: str = "a command", seconds: float = 0.0, *, beside_others: bool = False) -> Iterator[None]:
        """Hold the warehouse for writing; there is one writer at a time, which tells others `what` it does.

        Steps of a build write apart from each other and hold it `beside_others`.

        Raises WarehouseError: another build still holds it after `seconds`, or it cannot be written; StoreError: it is
        published in a store that cannot be written, or that has no conditional puts.
        """
        with held_for_writing(self.root, what, seconds, beside_others=beside_others):
            VERIFIED.forget()
            if self.store:
                self.store.refresh()
                self.store.objects.see_that_it_compares()
            yield

    def tell_writer(self, what: str) -> None:
        """Tell others more exactly what the warehouse is held for."""
        Writer(what=what).tell(self.root)

    def next_build_id(self) -> str:
        """A name for a build that begins now; it sorts after all others, whatever the clock says."""
        now, newest = new_build_id(), max(self.snapshot_ids(), default="")
        if now > newest:
            return now
        after = build_id_after(newest)
        log.warning("the clock says %s, which is before the newest snapshot: this build is named %s", now, after)
        return after

    def snapshot(self, build_id: str | None = None, *, leased: bool = True) -> Snapshot:
        """A snapshot open for reading, by default the published one; pruning leaves it alone while it is `leased`.

        Raises WarehouseError: there is no such snapshot.
        """
        lease = self.lease(build_id) if leased else None
        return Snapshot(self, self.manifest(lease.build_id if lease else build_id), lease)

    def lease(self, build_id: str | None = None) -> Lease:
        """A lease on a snapshot, by default the published one. Raises WarehouseError: there is no such snapshot."""
        # Others are published and pruned meanwhile.
        for _ in range(10):
            snapshot_id = build_id or self.current_id()
            if snapshot_id is None:
                break
            try:
                return take_lease(self.manifest_path(snapshot_id))
            except FileNotFoundError:  # Another was published since the pointer was read, and this one pruned.
                continue
        return Lease(self.manifest_path(self.manifest(build_id).build_id), None)

    def pin(self, stage: Stage, parent: Manifest | None) -> TableVersion:
        """Write `stage` as a new version of its table, or return the parent's where nothing changed.

        Raises WarehouseError: no such table is declared.
        """
        table = stage.table
        if table.name not in TABLES:
            raise WarehouseError(f"{table.name} is no table of Quern: declare it in schemas/tables/{table.name}.py")
        before = parent.tables.get(table.name) if parent else None
        if parent is None or before is None or before.digest != stage.digest:
            return self._written(stage, 1 + (before.version if before else 0))
        with suppress(DamagedError):  # Where the store has it no longer, it is written again.
            for served in {table.served, False}:
                self.fetch(parent, table.name, served=served)
        # The version that was pinned, unless it is damaged.
        source, pinned = stage, replace(stage, path=self.root / before.file, checksum=before.checksum)
        if pinned.path != stage.path and pinned.as_written():
            remove(stage.path)
            source = pinned
        whole = source.path == pinned.path
        if whole and table.served:
            try:
                self.served.check(table.name, before.version, before.served)
            except DamagedError as error:
                log.warning("table %s is damaged: %s error=%s", table.name, error.path, error.why)
                whole = False
        if whole and not (table.served and before.layout != LAYOUT):
            return before
        again = self._written(source, before.version)
        if not whole:
            self._instead.append(_Instead(table.name, before, again))
        return again

    def _written(self, stage: Stage, version: int) -> TableVersion:
        """`stage` as what a snapshot pins, written for readers if its table is served; else its number is `version`."""
        table = stage.table
        written = self.served.write(stage) if table.served else Written(version)
        return TableVersion(
            kind="served" if table.served else "staged",
            version=written.version,
            rows=stage.rows,
            digest=stage.digest,
            file=str(stage.path.relative_to(self.root)),
            checksum=stage.checksum,
            served=written.checksums,
            dimension=max((getattr(f.type, "list_size", 0) for f in table.schema), default=0),
            indexes=written.indexes,
            layout=LAYOUT,
        )

    def publish(self, manifest: Manifest) -> Manifest:
        """Make `manifest` the published snapshot, in one step."""
        manifest = manifest.model_copy(update={"published_at": datetime.now(UTC)})
        if self.store:
            published = next((m for m in self.whole_manifests() if m.build_id == self.current_id()), None)
            # The files of all tables of a snapshot that was pinned here, and their checksums.
            files: dict[Path, str] = {}
            for name, of in manifest.tables.items():
                files |= Stage(TABLES[name], self.root / of.file, of.rows, of.digest, of.checksum).checksums()
                files |= self.served.files(name, of.version, of.served)
            manifest = self.store.publish(manifest, files, published)
            self._instead.clear()  # Manifests in a store name what they named.
        self._write(manifest)
        if not self.store:
            self._point_to(manifest.build_id)
        self.served.keep()
        while self._instead:
            # All snapshots that pin a damaged version of a table pin the same content, which was written again.
            instead = self._instead.pop()
            for other in self.whole_manifests():
                if other.tables.get(instead.table) == instead.damaged:
                    tables = {**other.tables, instead.table: instead.again}
                    self._write(other.model_copy(update={"tables": tables}))
        return manifest

    def _write(self, manifest: Manifest) -> None:
        write_sealed(self.snapshots / f"{manifest.build_id}.json", manifest.model_dump(mode="json"))

    def parent_id(self) -> str | None:
        """The snapshot that a build is made upon: the published one, or the newest whole one where that is damaged."""
        try:
            current = self.current_id()
            return self.manifest(current).build_id if current else None
        except DamagedError as error:
            log.warning("%s", error)
        return next((manifest.build_id for manifest in reversed(self.whole_manifests())), None)

    def rollback(self, build_id: str | None = None) -> Manifest:
        """Publish an earlier snapshot again, by default the one that the published was built upon.

        Raises WarehouseError: there is no such snapshot, or none before the published one.
        """
        if build_id is None:
            build_id = self.manifest().parent
            if build_id not in self.snapshot_ids():
                raise WarehouseError(f"there is no snapshot before the published one in {self.address}; name one")
        manifest = self.manifest(build_id)
        self._point_to(manifest.build_id)
        return manifest

    def _point_to(self, build_id: str) -> None:
        if self.store:
            self.store.point_to(build_id)
            return
        write_sealed(self._current, {"build_id": build_id})

    def prune(self, keep: int) -> list[str]:
        """Forget all but the newest `keep` snapshots; returns the ids of those that went.

        The published one always stays, and what is leased: it goes when it is pruned again.
        """
        pruned = [s for s in self.prunable(keep) if self.forget(s)]
        for remnant in list(self.remnants(keep)):
            remnant.remove()
        return pruned

    def prunable(self, keep: int) -> list[str]:
        """Ids of all snapshots but the newest `keep` and the published one, leased or not."""
        current, ids = self.current_id(), self.snapshot_ids()
        return [s for s in ids[: max(0, len(ids) - keep)] if s != current]

    def forget(self, build_id: str) -> bool:
        """Delete the manifest of a snapshot, unless that is leased; what it alone needed is a remnant then."""
        path = self.manifest_path(build_id)
        with held_alone(path) as alone:
            if alone:
                if self.store:
                    self.store.forget(build_id, self.whole_manifests)
                path.unlink()
        return alone

    def remnants(self, keep: int, without: Collection[str] = ()) -> Iterator[Remnant]:
        """What no snapshot needs but those `without` which it is to be thought: of pruned and of failed builds.

        What a damaged manifest names is not known: no table goes while there is one, until it is pruned itself.
        """
        ids = [s for s in self.snapshot_ids() if s not in without]
        manifests = [m for m in self.whole_manifests() if m.build_id not in without]
        whole = len(manifests) == len(ids)
        for path in self.snapshots.glob("[0-9]*.json") if self.store else ():
            if path.stem not in self.snapshot_ids():  # Pruned by another machine: it may be read on this one.
                if self.is_leased(path.stem):
                    manifests.append(Manifest.model_validate(read_sealed(path)))
                else:
                    yield Remnant("snapshots", path)
        if whole:
            # Staged files and versions of served tables that none of `manifests` names, and no build in progress made.
            files = {self.root / v.file for m in manifests for v in m.tables.values()}
            going_on = {folder.name for folder in self.builds_in_progress()}
            for path in self.stages.glob("*/*.parquet"):
                if path not in files and path.stem not in going_on:
                    yield Remnant("temporary" if path.name.startswith(".tmp-") else "stages", path)
            versions = {(n, v.version) for m in manifests for n, v in m.tables.items() if v.kind == "served"}
            for table, version in self.served.versions():
                if (table, version) not in versions:
                    yield Remnant("served", self.served.folder(table, version))
            yield from SearchFiles(self.root).remnants({v.digest for m in manifests for v in m.tables.values()})
        # Of refused builds, what is older than all snapshots that are kept for their age.
        records = [*self.audits.glob("[0-9]*"), *self.logs.glob("[0-9]*.log"), *self.lineage.glob("[0-9]*.jsonl")]
        for path in records if ids else ():
            if (build_id := path.name.partition(".")[0]) not in ids and build_id < ids[-keep:][0]:
                yield Remnant("audits" if path.parent == self.audits else "logs", path)

    def builds_in_progress(self) -> list[Path]:
        """Folders of builds that are run step by step and can be gone on with: nothing was published since."""
        parent, folders = self.parent_id(), []
        for folder in sorted(self.builds.glob("*")):
            with suppress(FileNotFoundError, DamagedError):
                if read_sealed(folder / "begun.json").get("parent") == parent:
                    folders.append(folder)
        return folders

    def drop_build(self, build_id: str, *, docs: bool) -> None:
        """Delete what a build wrote that came to nothing, its `docs` too; of a published one nothing."""
        if build_id not in self.snapshot_ids():
            self.drop_versions()
            if docs:
                shutil.rmtree(self.audits / build_id, ignore_errors=True)
            for path in self.stages.glob(f"*/{build_id}.parquet"):
                remove(path)

    def drop_versions(self) -> None:
        """Delete the versions of served tables that were written and are not published."""
        self.served.undo()
        self._instead.clear()

    def clear_work(self, build_id: str) -> Path:
        """An empty directory for the temporary files of a build; those of killed builds are removed."""
        shutil.rmtree(self.root / "work", ignore_errors=True)
        work = self.root / "work" / build_id
        work.mkdir(parents=True)
        return work
