"""Reading everything that a warehouse keeps, to find what is no longer as it was written, and what will mend it.

Builds and questions compare checksums of what they use; this compares them all, also of what nothing uses tonight.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from quern.indexes.catalog import Manifest, Warehouse
from quern.indexes.catalog.history import MEND as HISTORY_MEND
from quern.indexes.catalog.object_store import MEND as STORED_MEND
from quern.indexes.catalog.object_store import checksum_in
from quern.indexes.checksums import DamagedError, checksum, damage, read_sealed, size_of
from quern.indexes.memo import part_paths
from quern.indexes.memo_parts import PartFile
from quern.indexes.memo_uses import NIGHTS_FILE, uses_file
from quern.indexes.night_state import ABOUT
from quern.indexes.page_store import PageStore
from quern.indexes.stages import Stage
from quern.pipelines.build.records import FinishedStep, stage_of
from quern.pipelines.pages.store import MEND, crawl_files, page_store
from quern.schemas.addresses import Url
from quern.schemas.tables import REJECTS, TABLES

_BUILD: Final = "`quern build` mends it"
_MEMO: Final = "the next build or question that needs it computes what it held again"
_STATE: Final = "the next build does in full what it would have taken up"
_STEP: Final = "the step is done again"


@dataclass(frozen=True)
class KeptFile:
    """A file that is kept."""

    path: Path | Url  # The file, or the address of an object.
    damage: Callable[[], str]  # Reads it whole, and says what is wrong with it; nothing where it is as it was written.
    mend: str  # What mends it.
    listed: bool = False  # Whether a listing alone says that it is there: it may go at any time.
    size: int | None = None  # Bytes of an object.


@dataclass(frozen=True)
class BadFile:
    """A file that is not as it was written."""

    path: Path | Url
    why: str
    mend: str

    def line(self) -> str:
        """The file, what is wrong with it and what mends it, in one line."""
        return f"{self.path}: {self.why}; {self.mend}"


@dataclass
class Verified:
    """What was read."""

    files: int  # Files.
    size: int  # Their bytes.
    bad: list[BadFile]  # Those that are not as they were written.

    def as_tree(self) -> dict[str, Any]:
        """The same, JSON-like."""
        bad = [{"file": str(b.path), "damage": b.why, "mend": b.mend} for b in self.bad]
        return {"files": self.files, "bytes": self.size, "damaged": bad}


def kept_files(warehouse: Warehouse, snapshot: str | None = None) -> list[KeptFile]:
    """Every file that `warehouse` keeps, or that one snapshot of it consists of, each once."""
    files: list[KeptFile] = []
    try:
        newest = warehouse.current_id()
    except DamagedError:
        newest = next(reversed(warehouse.snapshot_ids()), None)
    # What the newest pins as well is mended with it: it names its files first.
    for build_id in sorted([snapshot] if snapshot else warehouse.snapshot_ids(), key=lambda i: i != newest):
        only = f"only snapshot {build_id} needs it: `quern vacuum` forgets it"
        mend = f"the next build publishes another, pruning forgets snapshot {build_id}"
        files.append(_sealed(warehouse.snapshots / f"{build_id}.json", mend, listed=True))
        try:
            manifest = warehouse.manifest(build_id)
            if store := warehouse.store:
                # The objects that it consists of; what is cached of them is fetched again where it is damaged.
                for key in manifest.objects.values():
                    address, size = Url(f"{store.url}/{key}"), size_of(checksum_in(key))
                    files.append(KeptFile(address, partial(store.object_damage, key), STORED_MEND, size=size))
            else:
                files += _of_tables(warehouse, manifest, _BUILD if build_id == newest else only)
        except DamagedError:
            continue
    if snapshot is None:
        root = warehouse.root
        files.append(_sealed(root / "warehouse.json", _BUILD))
        if not warehouse.store:
            files.append(_sealed(root / "current.json", _BUILD, listed=not warehouse.snapshot_ids()))
        for crawl in crawl_files(warehouse):
            files.append(KeptFile(crawl.report, partial(_of_check, crawl.expected, crawl.report), MEND, listed=True))
            files.append(KeptFile(crawl.rejects, partial(_of_check, crawl.check, crawl.rejects), MEND, listed=True))
        files += [
            *_of_pages(page_store(warehouse)),
            *_of_memo(warehouse.memo),
            *_of_builds(warehouse),
            *(_plain(path, expected, HISTORY_MEND) for path, expected in warehouse.history.files().items()),
        ]
    return list({file.path: file for file in reversed(files)}.values())[::-1]


def verify(files: list[KeptFile], step: Callable[[], None] = lambda: None) -> Verified:
    """Read `files`; `step` is called after each."""
    report = Verified(0, 0, [])
    for file in files:
        why = file.damage()
        there = file.path.exists() if isinstance(file.path, Path) else True
        if there or not file.listed:
            report.files += 1
            if isinstance(file.path, Path):
                report.size += file.path.stat().st_size if there else 0
            else:
                report.size += file.size or 0
            if why:
                report.bad.append(BadFile(file.path, why, file.mend))
        step()
    return report


def _plain(path: Path, expected: str, mend: str) -> KeptFile:
    return KeptFile(path, lambda: damage(path, expected), mend)


def _sealed(path: Path, mend: str, *, listed: bool = False) -> KeptFile:
    def why() -> str:
        try:
            read_sealed(path)
        except FileNotFoundError:
            return "it is gone"
        except DamagedError as error:
            return error.why
        return ""

    return KeptFile(path, why, mend, listed)


def _of_tables(warehouse: Warehouse, manifest: Manifest, mend: str) -> Iterator[KeptFile]:
    for name, version in manifest.tables.items():
        table = TABLES.get(name)
        if table is not None:
            stage = Stage(table, warehouse.root / version.file, version.rows, version.digest, version.checksum)
            yield from _of_stage(stage, mend)
        for path, expected in warehouse.served.files(name, version.version, version.served).items():
            yield _plain(path, expected, mend)


def _of_stage(stage: Stage, mend: str) -> Iterator[KeptFile]:
    try:
        for path, expected in stage.checksums().items():
            yield _plain(path, expected, mend)
    except DamagedError as error:
        yield _plain(error.path, stage.checksum, mend)


def _of_check(check: Callable[[], object], path: Path) -> str:
    try:
        check()
    except DamagedError as error:
        return error.why if error.path == path else ""
    return ""


def _of_pages(store: PageStore) -> Iterator[KeptFile]:
    """The page store: its manifest, the copy, and the parts in effect."""
    if not store.manifests[0].exists() and not store.manifests[1].exists():
        return
    for path in store.manifests:
        yield _sealed(path, "`quern ingest` of anything writes it again")
    try:
        named = store.named()
    except DamagedError:
        return
    for name, of in named.items():
        mend = of.mend
        yield _sealed(store.directory / f"{name}.json", mend)
        try:
            part = store.part(name, of)
        except DamagedError:
            continue
        for kind, expected in part.checksums.items():
            yield _plain(part.path(kind), expected, mend)


def _of_memo(memo: Path) -> Iterator[KeptFile]:
    """Parts of the memo, and what whole-table jobs keep from night to night."""
    for at, folders, names in os.walk(memo):
        folder = Path(at)
        folders.sort()
        if ABOUT in names:
            yield _sealed(folder / ABOUT, _STATE, listed=True)
            try:
                digests = read_sealed(folder / ABOUT)["digests"]
            except (DamagedError, OSError):
                continue
            for name, expected in digests.items():
                yield _plain(folder / name, expected, _STATE)
        else:
            if NIGHTS_FILE in names:
                yield _sealed(folder / NIGHTS_FILE, "the next build begins it anew", listed=True)
            marks = uses_file(folder)
            if marks.name in names:
                yield KeptFile(marks, partial(_of_marks, marks), "the next build begins it anew", listed=True)
            for path in part_paths(folder):
                yield KeptFile(path, partial(_of_part, path), _MEMO, listed=True)


def _of_part(path: Path) -> str:
    try:
        return PartFile(path).damage()
    except DamagedError as error:
        return error.why


def _of_marks(path: Path) -> str:
    try:
        written, _, content = path.read_bytes().partition(b"\n")
    except OSError as error:
        return error.strerror or str(error)
    return "" if written == checksum(content).encode("ascii") else "its bytes are others than were written"


def _of_builds(warehouse: Warehouse) -> Iterator[KeptFile]:
    """Builds in progress, step by step, with the tables that their steps made and what they left out."""
    for folder in sorted(path for path in warehouse.builds.glob("*") if path.is_dir()):
        yield _sealed(folder / "begun.json", f"delete {folder} and begin another build", listed=True)
        for path in (folder / "audit.json", folder / "idle.json"):
            yield _sealed(path, _STEP, listed=True)
        for path in sorted((folder / "steps").glob("*.json")):
            yield _sealed(path, _STEP, listed=True)
            with suppress(DamagedError, FileNotFoundError):
                step = FinishedStep.model_validate(read_sealed(path))
                for file in (*step.tables.values(), step.rejects):
                    stage = stage_of(REJECTS, file, warehouse.root)
                    yield from (replace(kept, listed=True) for kept in _of_stage(stage, _STEP))
