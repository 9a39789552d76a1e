"""What an ingest would read: files by kind, their pages, what would be left out and why; nothing is written."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xxhash import xxh3_64_intdigest

from quern.indexes.catalog import Warehouse
from quern.jobs.core.progress import watched
from quern.jobs.pages.formats.rows import FileReject
from quern.jobs.pages.ingest import Reading, Span
from quern.jobs.pages.inputs import Input, find_inputs
from quern.jobs.pages.reading import most_frequent
from quern.pipelines.pages.ingest import MissingDocuments, missing_documents, named_inputs, unread
from quern.pipelines.pages.store import page_store
from quern.schemas.addresses import Url
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES


@dataclass
class FilesOfKind:
    """What files of one kind hold."""

    files: int = 0  # Files.
    held: int = 0  # Files of those that the page store holds unchanged: they would not be read.
    bytes: int = 0  # Size of the others.
    pages: int = 0  # Pages in the others, one per capture.
    rejects: int = 0  # What would be left out of them.
    warnings: int = 0  # What would be noted of pages that are kept.


@dataclass(frozen=True)
class IngestPlan:
    """What an ingest would read."""

    # What there is of each kind of file, by its ending; `none` for files of no known kind.
    kinds: dict[str, FilesOfKind]
    rejects: dict[str, int]  # Rows that would be left out, by reason.
    warnings: dict[str, int]  # Rows that would be noted, by reason.
    first_reject: str  # Where and why the first is left out for the most frequent reason; empty where nothing is lost.
    first_warning: str  # The same of the warnings.
    distinct: int  # Pages with different ids or addresses: as many as a build makes of these files alone.
    seconds: float  # Time it took to read them.
    missing: int = 0  # Documents of earlier ingests of the sources whose files are missing now.
    missing_files: list[str] = field(default_factory=list)  # Names of the first of these files.

    @property
    def duplicates(self) -> int:
        """Pages whose id or address another page has."""
        return sum(kind.pages for kind in self.kinds.values()) - self.distinct


def plan_ingest(
    sources: Sequence[Path | Url], warehouse: Path, settings: IngestSettings, *, lenient: bool = False
) -> IngestPlan:
    """What `quern ingest` of `sources` would read into `warehouse`, which need not be there yet.

    Every file that would be read is read, one after the other in this process; what it holds is counted and let go.
    With `lenient` sources may be missing or empty.

    Raises:
        IngestError: There is nothing to read.
        WarehouseError: `warehouse` is there and is none.
    """
    started = time.monotonic()
    inputs, wanted, missing = find_inputs(sources, lenient=lenient), None, MissingDocuments({}, 0)
    if (warehouse / "warehouse.json").exists():
        catalog = Warehouse.open(warehouse)
        parts = page_store(catalog).whole_parts()
        inputs = named_inputs(inputs, parts, catalog.root)
        wanted = {file.name for file in unread(parts, inputs, settings)}
        missing = missing_documents(sources, inputs, parts, catalog.root)
    counted = _Counted()
    done = 0
    with watched("ingest", len(inputs), lambda: done):
        for file in inputs:
            counted.take(file, settings, held=wanted is not None and file.name not in wanted)
            done += 1
    return IngestPlan(
        kinds=dict(sorted(counted.kinds.items())),
        rejects=dict(counted.rejects.most_common()),
        warnings=dict(counted.warnings.most_common()),
        first_reject=counted.first(counted.rejects),
        first_warning=counted.first(counted.warnings, warning=True),
        distinct=len(counted.addresses),
        missing=missing.documents,
        missing_files=missing.first(),
        seconds=round(time.monotonic() - started, 3),
    )


class _Counted:
    """What was found so far."""

    def __init__(self) -> None:
        self.kinds: dict[str, FilesOfKind] = {}
        self.rejects: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.addresses: set[int] = set()
        self._firsts: dict[str, str] = {}

    def take(self, file: Input, settings: IngestSettings, *, held: bool) -> None:
        """Count `file`, and what it holds unless the page store holds it."""
        kind = self.kinds.setdefault(file.kind or "none", FilesOfKind())
        kind.files += 1
        if held:
            kind.held += 1
            return
        kind.bytes += file.size
        for found in Reading(Span(file, 0, max(file.size, 1)), settings):
            if isinstance(found, FileReject):
                self._firsts.setdefault(found.reason, f"{found.key}: {found.reason} ({found.detail})")
                if found.reason in PAGES.warnings:
                    self.warnings[found.reason] += 1
                    kind.warnings += 1
                else:
                    self.rejects[found.reason] += 1
                    kind.rejects += 1
            elif isinstance(found, dict):
                kind.pages += 1
                self.addresses.add(xxh3_64_intdigest(found["url"].encode()))

    def first(self, reasons: Counter[str], *, warning: bool = False) -> str:
        """Where and why something was left out, the first for the most frequent of `reasons`."""
        return self._firsts.get(most_frequent(reasons, warning=warning) or "", "")
