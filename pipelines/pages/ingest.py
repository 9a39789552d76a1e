"""Adding pages to a warehouse's page store: what `quern ingest` does, and what a crawl ends with."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from quern.indexes.catalog import Warehouse
from quern.indexes.checksums import VERIFIED
from quern.indexes.page_store import PageStore, Part
from quern.jobs.engines import Engines
from quern.jobs.pages.ingest import Span, spans_of
from quern.jobs.pages.inputs import Input, find_inputs, text_of
from quern.jobs.pages.reading import mended, read_spans, reasons_of, typical_reject, version_of
from quern.pipelines.pages.store import page_store
from quern.schemas.addresses import Url
from quern.schemas.settings import IngestSettings, Settings
from quern.schemas.tables import PAGES

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IngestReport:
    """What one ingest did.

    Attributes:
        files: Files that the sources name.
        reused: Files of those that the store held already, unchanged.
        pages: Pages read from the others, one per capture.
        rejects: What was left out of the others.
        warnings: What was noted of pages that were kept, without a value.
        seconds: Time it took.
        engine: What read them: `local`, `spark`, or `none`.
        records: Archives' records by type, from the others.
        first_reject: Where and why the first for the most frequent reason was left out; empty where nothing was lost.
        first_warning: The same of the warnings.
        reasons: Rejects and warnings by reason, the most frequent first.
    """

    files: int
    reused: int
    pages: int
    rejects: int
    seconds: float
    engine: str
    records: dict[str, int] = field(default_factory=dict)
    first_reject: str = ""
    warnings: int = 0
    first_warning: str = ""
    reasons: dict[str, int] = field(default_factory=dict)

    def line(self) -> str:
        """The report as key=value pairs."""
        records = "".join(f" {kind}={count}" for kind, count in sorted(self.records.items()))
        warned = f"warned={self.warnings} " if self.warnings else ""
        return (
            f"job=ingest files={self.files} reused={self.reused} pages={self.pages} rejected={self.rejects} {warned}"
            f"seconds={self.seconds:.1f} engine={self.engine}{records}"
        )


def add_pages(warehouse: Warehouse, sources: Sequence[Path | Url], settings: Settings) -> IngestReport:
    """Read `sources` into the page store of `warehouse`; files that it holds unchanged are not read again.

    A file that changed replaces what was read of it before. An ingest that was stopped goes on with the ranges of
    files that it had not finished; nothing of it is seen by a build before it has come to its end.

    Raises:
        IngestError: There is nothing to read.
        PageStoreError: Another ingest is writing to the store.
        EngineError: Spark cannot start, or could not finish.
    """
    started = time.monotonic()
    store = page_store(warehouse)
    inputs = [named_within(file, warehouse.root) for file in find_inputs(sources)]
    with store.lock(), Engines(settings.engine, preload=[read_spans.__module__]) as engines:
        VERIFIED.forget()
        store.mend()
        wanted = unread(store, inputs, settings.ingest)
        spans = [span for file in wanted for span in spans_of(file, settings.ingest.task_bytes)]
        finished, left = _resumed(store, spans, settings.ingest)
        parts, engine = read_spans(left, settings.ingest, store.directory, engines)
        parts = mended(finished + parts, wanted, settings.ingest, store.directory)
        if parts:
            store.publish(parts)
    report = _report(parts, len(inputs), len(inputs) - len(wanted), started, engine)
    log.info("%s", report.line())
    return report


def named_within(file: Input, root: Path) -> Input:
    """`file` under a name that holds when the warehouse is moved, if it lies in it: a crawl's archives do."""
    path = Path(file.location)
    return replace(file, name=text_of(path.relative_to(root).as_posix())) if path.is_relative_to(root) else file


def unread(store: PageStore, inputs: Sequence[Input], settings: IngestSettings) -> list[Input]:
    """The files that the store does not hold as they are now, those of a damaged part among them."""
    held: Counter[tuple[str, str]] = Counter()
    for part in store.whole_parts():
        for claim in part.live:
            held[claim.file, claim.version] += claim.end - claim.start
    versions = [version_of(file, settings) for file in inputs]
    return [
        file
        for file, version in zip(inputs, versions, strict=True)
        if not version or held[file.name, version] != max(file.size, 1)
    ]


def _resumed(store: PageStore, spans: Sequence[Span], settings: IngestSettings) -> tuple[list[Part], list[Span]]:
    """Finished parts of an ingest that was stopped, and the spans that none of them holds."""
    wanted = {(span.file.name, version_of(span.file, settings), span.start, span.end) for span in spans}
    taken: list[Part] = []
    for part in store.pending():
        claims = {(c.file, c.version, c.start, c.end) for c in part.claims}
        if claims <= wanted and all(c.version for c in part.claims):
            taken.append(part)
            wanted -= claims
        elif {c.file for c in part.claims} & {span.file.name for span in spans}:
            part.remove()
    left = [s for s in spans if (s.file.name, version_of(s.file, settings), s.start, s.end) in wanted]
    return taken, left


def _report(parts: Sequence[Part], files: int, reused: int, started: float, engine: str) -> IngestReport:
    claims = [claim for part in parts for claim in part.live]
    records = sum((Counter(claim.records) for claim in claims), Counter[str]())
    reasons = reasons_of(parts)
    warnings = sum(count for reason, count in reasons.items() if reason in PAGES.warnings)
    return IngestReport(
        files=files,
        reused=reused,
        pages=sum(c.pages for c in claims),
        rejects=reasons.total() - warnings,
        seconds=round(time.monotonic() - started, 3),
        engine=engine,
        records=dict(sorted(records.items())),
        first_reject=typical_reject(parts),
        warnings=warnings,
        first_warning=typical_reject(parts, warning=True),
        reasons=dict(reasons.most_common()),
    )
