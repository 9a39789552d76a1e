"""Vacuum: the warehouse without what no kept snapshot, no open reader and no coming build needs.

Snapshots go first, by their manifests, then what only they needed: a vacuum that is killed leaves nothing that counts
without what it needs, and the next one goes on. It runs as the warehouse's one writer; readers go on beside it.
"""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from os import W_OK, access
from pathlib import Path
from typing import Final

from quern.indexes.catalog import Warehouse
from quern.indexes.memo_uses import add_night, night_at, night_of, oldest_kept, published_nights
from quern.indexes.memo_vacuum import MOSTLY_UNUSED, PARTLY_UNUSED, MemoFolder
from quern.indexes.night_state import NightStates
from quern.indexes.object_store import StoreError
from quern.indexes.page_store import PageStoreError
from quern.indexes.storage import Remnant, Space, abandoned
from quern.pipelines.pages.store import page_store
from quern.schemas.settings import MemoSettings, Settings

log = logging.getLogger(__name__)

REASONING: Final = "reasoning"
_DAY_NS: Final = 86_400 * 10**9


@dataclass
class Vacuumed:
    """What was freed, or would be."""

    snapshots: list[str] = field(default_factory=list)  # Ids of the snapshots that were forgotten.
    leased: list[str] = field(default_factory=list)  # Ids of those that are old enough, but read.
    freed: dict[str, Space] = field(default_factory=dict)  # Files and bytes, by kind.

    def add(self, kind: str, space: Space) -> None:
        """Count what was freed."""
        if space.files:
            self.freed[kind] = self.freed.get(kind, Space()) + space

    @property
    def total(self) -> Space:
        """Of all kinds."""
        return sum(self.freed.values(), Space())


def vacuum(warehouse: Warehouse, keep: int, memo: MemoSettings, *, dry_run: bool = False) -> Vacuumed:
    """Prune, and remove what killed builds left, old logs, and what the memo holds that is used no more.

    Raises:
        WarehouseError: A build is writing.
    """
    # A dry run can do without the lock where nobody can write.
    unheld = dry_run and not access(warehouse.root, W_OK)
    with nullcontext() if unheld else warehouse.lock("quern vacuum"):
        done = _pruned(warehouse, keep, dry_run=dry_run)
        _remove(_abandoned(warehouse), done, dry_run=dry_run)
        if _is_to_purge(warehouse):
            _purge(warehouse, done, dry_run=dry_run)
        else:
            vacuum_memo(warehouse, memo, done, share=PARTLY_UNUSED, dry_run=dry_run)
        return done


def tidy(warehouse: Warehouse, build_id: str, settings: Settings) -> None:
    """Remove what is old once `build_id` is published; where that fails, as on a full disk, the next night tries again.

    Args:
        warehouse: Held for writing; builds in progress end.
        build_id: The build.
        settings: Its settings.
    """
    shutil.rmtree(warehouse.builds, ignore_errors=True)
    try:
        add_night(warehouse.memo, build_id)
        if _is_to_purge(warehouse):
            _purge(warehouse, Vacuumed())
        else:
            warehouse.prune(settings.audit.keep_snapshots)
            vacuum_memo(warehouse, settings.memo)
    except (OSError, StoreError) as error:
        log.warning("build=%s is published, but what is old could not be removed: %s", build_id, error)


def _is_to_purge(warehouse: Warehouse) -> bool:
    """Whether text of removed pages is to leave the warehouse, and the published snapshot was built without them."""
    since = page_store(warehouse).removals().purge_since
    return since is not None and warehouse.current_id() is not None and warehouse.manifest().started_at >= since


def _purge(warehouse: Warehouse, done: Vacuumed, *, dry_run: bool = False) -> None:
    """Remove all that the published snapshot was not built with: any of it may hold text of pages that were removed.

    While a reader has another snapshot open, that one stays, and it is to be purged again.
    """
    pruned = _pruned(warehouse, 1, dry_run=dry_run)
    done.snapshots += pruned.snapshots
    done.leased = pruned.leased
    for kind, space in pruned.freed.items():
        done.add(kind, space)
    used_since = night_of(warehouse.current_id() or "")
    for path in _job_folders(warehouse.memo):
        done.add("memo", MemoFolder(path).forget(used_since, 0.0, dry_run=dry_run))
    _remove(_answers(warehouse.memo), done, dry_run=dry_run)
    _remove(_states(warehouse.memo, night_at(time.time_ns())), done, dry_run=dry_run)
    if dry_run:
        return
    with suppress(FileNotFoundError):
        os.truncate(warehouse.logs / "engines.log", 0)
    if pruned.leased:
        log.warning("a reader has %s open, with text of removed pages: `quern vacuum` removes it", pruned.leased)
        return
    store = page_store(warehouse)
    try:
        with store.lock():
            store.purged()
    except PageStoreError as error:  # The next build purges again.
        log.warning("%s", error)


def _pruned(warehouse: Warehouse, keep: int, *, dry_run: bool) -> Vacuumed:
    done = Vacuumed()
    old = warehouse.prunable(keep)
    done.leased = [build_id for build_id in old if warehouse.is_leased(build_id)]
    going = [build_id for build_id in old if build_id not in done.leased]
    for build_id in going:
        manifest = Remnant("snapshots", warehouse.manifest_path(build_id))
        space = manifest.space()
        if dry_run or warehouse.forget(build_id):
            done.snapshots.append(build_id)
            done.add(manifest.kind, space)
        else:
            done.leased.append(build_id)
    _remove(warehouse.remnants(keep, without=done.snapshots), done, dry_run=dry_run)
    return done


def _remove(remnants: Iterator[Remnant], done: Vacuumed, *, dry_run: bool) -> None:
    for remnant in list(remnants):
        done.add(remnant.kind, remnant.space())
        if not dry_run:
            remnant.remove()


def _abandoned(warehouse: Warehouse) -> Iterator[Remnant]:
    """Temporary files and folders of writers that were killed, and builds that cannot be gone on with."""
    root, going_on = warehouse.root, warehouse.builds_in_progress()
    folders = [*(root / "work").glob("*"), *(path for path in warehouse.builds.glob("*") if path not in going_on)]
    folders += [path for path in warehouse.memo.glob("*/*/.tmp-*") if path.is_dir()]
    for path in folders:
        yield Remnant("temporary", path)
    for path in abandoned(root):
        if not any(folder in path.parents for folder in (*folders, warehouse.stages)):  # Those went with the tables.
            yield Remnant("temporary", path)
    for path in (root / "fetched").glob("*"):  # What readers fetch now is younger.
        if time.time_ns() - path.lstat().st_mtime_ns > _DAY_NS:
            yield Remnant("temporary", path)
    store = page_store(warehouse)
    with suppress(PageStoreError):  # An ingest is writing: it sees to what it leaves.
        if store.root.is_dir() and access(store.root, W_OK):
            with store.lock():
                yield from (Remnant("temporary", path) for path in store.abandoned() if not path.name.startswith("."))


def vacuum_memo(
    warehouse: Warehouse,
    memo: MemoSettings,
    done: Vacuumed | None = None,
    share: float = MOSTLY_UNUSED,
    *,
    dry_run: bool = False,
) -> None:
    """Forget results that none of the last builds used.

    Args:
        warehouse: Held for writing.
        memo: How long results stay.
        done: Where what is freed is counted.
        share: Unused share of a part from which on it is written again.
        dry_run: Whether it is only counted.
    """
    started, mine, published = time.monotonic(), Vacuumed(), warehouse.current_id()
    nights = published_nights(warehouse.memo) or warehouse.snapshot_ids()
    cutoff = oldest_kept(nights, memo.keep_nights, published)
    folders = [MemoFolder(path) for path in _job_folders(warehouse.memo)]
    if not dry_run:
        for folder in folders:
            folder.mend_marks()
            NightStates(folder.folder).forget_damaged()
    folders = [folder for folder in folders if folder.parts]
    if cutoff:
        for folder in folders:
            mine.add("memo", folder.forget(cutoff, share, dry_run=dry_run))
        # By the times of files: a night is a day at least, and may be named after another (a clock that was wrong).
        before = min(cutoff, night_at(time.time_ns() - memo.keep_nights * _DAY_NS))
        _remove((part for part in _answers(warehouse.memo) if _used_in(part.path) < before), mine, dry_run=dry_run)
        _remove(_states(warehouse.memo, before), mine, dry_run=dry_run)
    for kind, space in mine.freed.items():
        if not dry_run:
            seconds = time.monotonic() - started
            log.info("vacuum=%s files=%d bytes=%d seconds=%.1f", kind, space.files, space.bytes, seconds)
        if done is not None:
            done.add(kind, space)


def _job_folders(memo: Path) -> Iterator[Path]:
    """Folders of results of jobs, one per job and fingerprint."""
    return (path for path in sorted(memo.glob("*/*")) if path.is_dir() and path.parent.name != REASONING)


def _answers(memo: Path) -> Iterator[Remnant]:
    """Parts of what questions were answered with; they are used or not as a whole, by the time of their files."""
    return (Remnant("answers", path) for path in sorted((memo / REASONING).glob("*/*/[0-9]*.arrow")))


def _states(memo: Path, cutoff: int) -> Iterator[Remnant]:
    """States of whole-table jobs that no build since `cutoff` took up, but for the newest of each job."""
    by_job: dict[str, list[Path]] = {}
    for path in _job_folders(memo):
        if any(child.is_dir() for child in path.iterdir()):
            by_job.setdefault(path.parent.name, []).append(path)
    for folders in by_job.values():
        for path in sorted(folders, key=_used_in)[:-1]:
            if _used_in(path) < cutoff:
                yield Remnant("states", path)


def _used_in(path: Path) -> int:
    """The night in which a file or folder was last written or used, by its time."""
    try:
        return night_at(path.stat().st_mtime_ns)
    except FileNotFoundError:
        return 0
