"""What an ingest would read: files by kind, their pages, what would be left out and why. Nothing is written."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quern.indexes.catalog import Warehouse
from quern.jobs.core.progress import watched
from quern.jobs.pages.formats.rows import FileReject
from quern.jobs.pages.ingest import Reading, Span
from quern.jobs.pages.inputs import Input, find_inputs
from quern.pipelines.ingest import named_within, unread
from quern.pipelines.page_store import page_store
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES


@dataclass
class FilesOfKind:
    """What files of one kind hold.

    Attributes:
        files: Files.
        held: Files of those that the page store holds unchanged: they would not be read.
        bytes: Size of the others.
        pages: Pages in the others, one per capture.
        rejects: What would be left out of them.
        warnings: What would be noted of them and lose nothing.
    """

    files: int = 0
    held: int = 0
    bytes: int = 0
    pages: int = 0
    rejects: int = 0
    warnings: int = 0


@dataclass(frozen=True)
class IngestPlan:
    """What an ingest would read.

    Attributes:
        kinds: What there is of each kind of file, by its ending; `none` for files of no known kind.
        rejects: Rows that would be left out, by reason.
        warnings: Rows that would be noted, by reason.
        first_reject: Where and why the first would be left out; empty without one.
        seconds: Time it took to read them.
    """

    kinds: dict[str, FilesOfKind]
    rejects: dict[str, int]
    warnings: dict[str, int]
    first_reject: str
    seconds: float


def plan_ingest(sources: Sequence[str | Path], warehouse: Path, settings: IngestSettings) -> IngestPlan:
    """What `quern ingest` of `sources` would read into `warehouse`, which need not be there yet.

    Every file that would be read is read, one after the other in this process; what it holds is counted and let go.

    Raises:
        IngestError: There is nothing to read.
        WarehouseError: `warehouse` is there and is none.
    """
    started = time.monotonic()
    inputs, wanted = find_inputs(sources), None
    if (warehouse / "warehouse.json").exists():
        catalog = Warehouse.open(warehouse)
        inputs = [named_within(file, catalog.root) for file in inputs]
        wanted = {file.name for file in unread(page_store(catalog), inputs, settings)}
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
        first_reject=counted.first,
        seconds=round(time.monotonic() - started, 3),
    )


class _Counted:
    """What was found so far."""

    def __init__(self) -> None:
        self.kinds: dict[str, FilesOfKind] = {}
        self.rejects: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.first = ""

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
                self._reject(found, kind)
            else:
                kind.pages += isinstance(found, dict)

    def _reject(self, found: FileReject, kind: FilesOfKind) -> None:
        if found.reason in PAGES.no_loss:
            self.warnings[found.reason] += 1
            kind.warnings += 1
            return
        self.rejects[found.reason] += 1
        kind.rejects += 1
        self.first = self.first or f"{found.key}: {found.reason} ({found.detail})"
