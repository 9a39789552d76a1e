"""Removing documents: their pages are marked, so that builds leave them out; their text goes on request.

A mark is of an address with its content: the same page, read again unchanged, stays away; with other content it is a
new one. What is purged leaves the page store and the archives of crawls at once, and all else with the next build
(`quern.pipelines.vacuum`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot, Warehouse
from quern.indexes.checksums import DamagedError
from quern.indexes.page_store import PageStore, marks_of
from quern.jobs.core.run import same_key
from quern.jobs.documents.clean import Clean, normalise_url
from quern.jobs.pages.originals import erase
from quern.pipelines.pages.store import page_store
from quern.schemas.errors import QuernError
from quern.schemas.tables import DOCUMENTS
from quern.schemas.words.lines import shortened

_MOST_NAMED: Final = 3
_STATED: Final = ("doc_id", "page_url", "url", "title", "duplicate_of")


class NothingToRemoveError(QuernError):
    """Documents to remove that are not there; the message names them."""


@dataclass(frozen=True)
class Removal:
    """What a removal removes."""

    # Id, title, address and page of each document of a snapshot.
    documents: list[dict[str, str | None]] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)  # Addresses of the pages.
    copies: list[str] = field(default_factory=list)  # Ids of documents that repeat one of them, and stay.
    # Files outside of the warehouse that the pages were read from, and that are there.
    files: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # Archives in the warehouse in which the pages could not be erased.


def remove(warehouse: Warehouse, targets: Sequence[str], *, purge: bool = False, dry_run: bool = False) -> Removal:
    """Remove documents, all of them or none.

    Args:
        warehouse: The warehouse.
        targets: Ids or addresses of documents, or addresses of pages.
        purge: Whether their text is to leave the warehouse too; then also that of documents which were removed before.
        dry_run: Whether it is only told what would be removed.

    Raises:
        NothingToRemoveError: One of them is not there.
        PageStoreError: An ingest is writing.
        DamagedError: A table or a part of the page store is damaged.
    """
    store = page_store(warehouse)
    published = [warehouse.snapshot()] if warehouse.current_id() else []
    older = [s for s in warehouse.snapshot_ids() if purge and s != warehouse.current_id()]
    with store.lock(shared=dry_run):
        matches = _Found({form: t for t in targets for form in _forms(t)})
        for snapshot in published:
            matches.look_in(snapshot)
        for build_id in older:
            with suppress(DamagedError):  # It goes with the next build, whatever it holds.
                matches.look_in(warehouse.snapshot(build_id))
        stored = matches.look_through(store, removed=purge)
        if lost := [target for target in dict.fromkeys(targets) if target not in matches.targets]:
            raise NothingToRemoveError(f"{warehouse.root} has no document {_named(lost)}: nothing was removed")
        archives = {(warehouse.root / row["warc_file"], row["warc_offset"]) for row in stored if row["warc_file"]}
        within = [(path, offset) for path, offset in sorted(archives) if path.is_relative_to(warehouse.root)]
        kept = []
        if not dry_run:
            kept = [str(path) for path, offset in within if purge and not erase(path, offset)]
            store.remove(matches.marks, purge=purge)
    files = sorted({row["source_file"] for row in stored} - {str(p.relative_to(warehouse.root)) for p, _ in within})
    return Removal(
        documents=[{name: row[name] for name in _STATED[:-1]} for row in matches.documents.values()],
        pages=sorted(matches.pages),
        copies=_copies(published, matches.documents),
        files=[name for name in files if name.startswith("s3://") or Path(name).exists()],
        kept=sorted(set(kept)),
    )


def restore(warehouse: Warehouse, targets: Sequence[str], *, some: bool = False, dry_run: bool = False) -> Removal:
    """Take back that documents were removed, of all of them or none: the next build reads their pages again.

    Args:
        warehouse: The warehouse.
        targets: As of `remove`.
        some: Whether those of them that were not removed are passed over.
        dry_run: Whether it is only told what would be restored.

    Raises:
        NothingToRemoveError: One of them was not removed, or was purged.
        PageStoreError: An ingest is writing.
        DamagedError: A part of the page store is damaged.
    """
    store = page_store(warehouse)
    with store.lock(shared=dry_run):
        matches = _Found({form: t for t in targets for form in _forms(t)})
        for build_id in reversed(warehouse.snapshot_ids()):
            with suppress(DamagedError):
                matches.look_in(warehouse.snapshot(build_id))
        matches.look_through(store, removed=True)
        removals = store.removals()
        marks = matches.marks.keys() & (removals.marks - removals.purged)
        pages = {matches.marks[mark] for mark in marks}
        documents = [row for row in matches.documents.values() if row["page_url"] in pages]
        names = pages.union(*({row["doc_id"], row["url"]} for row in documents))
        lost = [target for target in dict.fromkeys(targets) if names.isdisjoint(_forms(target))]
        if not pages or (lost and not some):
            raise NothingToRemoveError(
                f"{warehouse.root} has no removed document {_named(lost)}: it was never removed, or it was purged; "
                "nothing was restored (`quern rejects --reason removed` shows what a build left out)"
            )
        if not dry_run:
            store.restore(marks)
    return Removal([{name: row[name] for name in _STATED[:-1]} for row in documents], sorted(pages))


def _forms(target: str) -> tuple[str, ...]:
    """How the tables may write what a user names."""
    return target, f"doc:{target}", normalise_url(target)


def _named(targets: Sequence[str]) -> str:
    more = f" and {len(targets) - _MOST_NAMED} more" if len(targets) > _MOST_NAMED else ""
    return ", ".join(shortened(target, 80) for target in targets[:_MOST_NAMED]) + more


class _Found:
    """Documents and pages that were looked for.

    Attributes:
        targets: What was looked for and found.
        documents: Documents by their ids.
        pages: Addresses of pages.
        marks: Addresses of pages by their marks.
    """

    def __init__(self, forms: dict[str, str]) -> None:
        """Args: `forms`: what is looked for, by all forms in which it may be written."""
        self._forms = forms
        self.targets: set[str] = set()
        self.documents: dict[str, dict[str, Any]] = {}
        self.pages: set[str] = set()
        self.marks: dict[bytes, str] = {}

    def look_in(self, snapshot: Snapshot) -> None:
        """Find documents and pages of a snapshot."""
        forms = pa.array(self._forms, pa.string())
        for batch in snapshot.stage(DOCUMENTS.name).batches(_STATED):
            matches = [pc.is_in(batch.column(name), value_set=forms) for name in ("doc_id", "page_url", "url")]
            for row in batch.filter(pc.or_(pc.or_(matches[0], matches[1]), matches[2])).to_pylist():
                self.documents.setdefault(row["doc_id"], row)
                self.pages.add(row["page_url"])
                self._take(row["doc_id"], row["page_url"], row["url"])
        # Pages that would make the same documents.
        keys = pa.array([same_key(DOCUMENTS, doc_id) for doc_id in self.documents], pa.string())
        for batch in snapshot.stage("rejects").batches(["job", "key", "detail"]):
            same = pc.and_(pc.equal(batch.column("job"), Clean.name), pc.is_in(batch.column("detail"), value_set=keys))
            self.pages.update(batch.column("key").filter(same).to_pylist())
        for batch in snapshot.stage("pages").batches(["url", "digest"]):
            self._mark(batch)

    def look_through(self, store: PageStore, *, removed: bool) -> list[dict[str, Any]]:
        """Find pages of the page store: their files, archives and offsets; with `removed` also those that were."""
        removals, rows = store.removals(), list[dict[str, Any]]()
        columns = ["url", "digest", "source_file", "warc_file", "warc_offset"]
        for batch in (batch for part in store.parts() for batch in part.batches("pages", columns)):
            batch = batch if removed else batch.filter(pa.array(~removals.holds(batch)))
            rows += self._mark(batch).to_pylist()
        return rows

    def _mark(self, pages: pa.RecordBatch) -> pa.RecordBatch:
        """Those of `pages` that were looked for; they are marked."""
        keys = pa.array({*self._forms, *self.pages}, pa.string())
        pages = pages.filter(pc.is_in(pages.column("url"), value_set=keys))
        urls = pages.column("url").to_pylist()
        self._take(*urls)
        self.pages.update(urls)
        self.marks.update(zip((mark.tobytes() for mark in marks_of(pages)), urls, strict=True))
        return pages

    def _take(self, *names: str | None) -> None:
        self.targets.update(self._forms[name] for name in names if name in self._forms)


def _copies(published: Sequence[Snapshot], removed: dict[str, dict[str, Any]]) -> list[str]:
    """Documents of the published snapshot that repeat one of those removed, or that one of those repeats."""
    originals = {row["duplicate_of"] or doc_id for doc_id, row in removed.items()}
    copies = set[str]()
    for snapshot in published:
        for batch in snapshot.stage(DOCUMENTS.name).batches(["doc_id", "duplicate_of"]):
            original = pc.coalesce(batch.column("duplicate_of"), batch.column("doc_id"))
            same = pc.is_in(original, value_set=pa.array(originals, pa.string()))
            copies.update(batch.column("doc_id").filter(same).to_pylist())
    return sorted(copies - removed.keys())
