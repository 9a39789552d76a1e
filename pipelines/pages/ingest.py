"""Adding pages to a warehouse's page store: what `quern ingest` does, and what a crawl ends with."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Warehouse
from quern.indexes.checksums import VERIFIED
from quern.indexes.page_store import Named, PageStore, Part, Removals
from quern.jobs.engines import Engines
from quern.jobs.pages.formats.files import page_url
from quern.jobs.pages.ingest import Span, spans_of
from quern.jobs.pages.inputs import ADDRESSED, IngestError, Input, covers, find_inputs, text_of
from quern.jobs.pages.reading import mended, read_spans, reasons_of, typical_reject, version_of
from quern.pipelines.pages.store import page_store
from quern.schemas.addresses import Url
from quern.schemas.settings import IngestSettings, Settings
from quern.schemas.tables import PAGES

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IngestReport:
    """What one ingest did."""

    files: int  # Files that the sources name.
    reused: int  # Files of those that the store held already, unchanged.
    pages: int  # Pages read from the others, one per capture.
    rejects: int  # What was left out of the others.
    seconds: float  # Time it took.
    engine: str  # What read them: `local`, `spark`, or `none`.
    records: dict[str, int] = field(default_factory=dict)  # Archives' records by type, from the others.
    # Where and why the first for the most frequent reason was left out; empty where nothing was lost.
    first_reject: str = ""
    warnings: int = 0  # What was noted of pages that were kept, without a value.
    first_warning: str = ""  # The same of the warnings.
    reasons: dict[str, int] = field(default_factory=dict)  # Rejects and warnings by reason, the most frequent first.
    missing: int = 0  # Documents of earlier ingests of the sources whose files are missing now, and which were kept.
    removed: int = 0  # The same of those that were removed.
    missing_files: list[str] = field(default_factory=list)  # Names of the first of these files.

    def line(self) -> str:
        """The report as key=value pairs."""
        records = "".join(f" {kind}={count}" for kind, count in sorted(self.records.items()))
        warned = f"warned={self.warnings} " if self.warnings else ""
        return (
            f"job=ingest files={self.files} reused={self.reused} pages={self.pages} rejected={self.rejects} {warned}"
            f"seconds={self.seconds:.1f} engine={self.engine}{records}"
        )


def add_pages(
    warehouse: Warehouse,
    sources: Sequence[Path | Url],
    settings: Settings,
    *,
    sync: bool = False,
    confirmed: bool = False,
) -> IngestReport:
    """Read `sources` into the page store of `warehouse`; files that it holds unchanged are not read again.

    A file that changed replaces what was read of it before. An ingest that was stopped goes on with the ranges of
    files that it had not finished; nothing of it is seen by a build before it has come to its end.

    Args:
        warehouse: The warehouse.
        sources: Files, folders, patterns and addresses.
        settings: How they are read.
        sync: Whether documents go whose files earlier ingests of the sources read and that are missing now.
        confirmed: Whether they may be more than `audit.max_shrink` of the documents of the sources, even all.

    Raises:
        IngestError: There is nothing to read, or too much is missing.
        PageStoreError: Another ingest is writing to the store.
        EngineError: Spark cannot start, or could not finish.
    """
    started = time.monotonic()
    store = page_store(warehouse)
    files = find_inputs(sources, lenient=sync and confirmed)
    with store.lock(), Engines(settings.engine, folder=store.directory) as engines:
        VERIFIED.forget()
        store.mend()
        held, damaged = store.whole_parts()
        inputs = named_inputs(files, held, damaged, settings.ingest, warehouse.root)
        missing = missing_documents(sources, inputs, held, damaged, warehouse.root)
        if sync and not confirmed:
            missing.check_share(sources, settings.audit.max_shrink)
        pending = unread(held, inputs, settings.ingest)
        spans = [span for file in pending for span in spans_of(file, settings.ingest.task_bytes)]
        finished, left = _resumed(store, spans, settings.ingest)
        parts, engine = read_spans(left, settings.ingest, store.directory, engines)
        read = mended(finished + parts, pending, settings.ingest, store.directory)
        # Pages that a user purged, and that are as they were, leave again.
        purged = Removals(store.removals().purged)
        parts = [part.without(purged) for part in read] if purged.marks else read
        for before, part in zip(read, parts, strict=True):
            if part is not before:
                before.remove()
        gone = missing.files if sync else {}
        if parts or gone:
            store.publish(parts, gone)
    claims = [claim for part in parts for claim in part.live]
    records = sum((Counter(claim.records) for claim in claims), Counter[str]())
    reasons = reasons_of(parts)
    warnings = sum(count for reason, count in reasons.items() if reason in PAGES.warnings)
    report = IngestReport(
        files=len(inputs),
        reused=len(inputs) - len(pending),
        pages=sum(c.pages for c in claims),
        rejects=reasons.total() - warnings,
        seconds=round(time.monotonic() - started, 3),
        engine=engine,
        records=dict(sorted(records.items())),
        first_reject=typical_reject(parts),
        warnings=warnings,
        first_warning=typical_reject(parts, warning=True),
        reasons=dict(reasons.most_common()),
        missing=0 if sync else missing.documents,
        removed=missing.documents if sync else 0,
        missing_files=missing.first(),
    )
    log.info("%s", report.line())
    return report


def named_inputs(
    found: Sequence[Input], parts: Sequence[Part], damaged: Sequence[Named], settings: IngestSettings, root: Path
) -> list[Input]:
    """The files found, as the page store of the warehouse at `root` names them.

    Folders may hold files of one name, which are different documents. The one that was ingested first has the address
    of its path in its folder, for as long as it is there; the address of another is its whole path, and stays so.
    Of a file of a damaged part the version tells its path; where it changed since, or the settings did, the order of
    ingests decides whose address the short one was.
    """
    inputs: list[Input] = []
    for file in found:  # The name of one in the warehouse, as a crawl's archives are, holds when that is moved.
        path = Path(file.location)
        within = path.is_relative_to(root)
        inputs.append(replace(file, name=text_of(path.relative_to(root).as_posix())) if within else file)
    address = {f.name: page_url(Path(f.path)) for f in inputs if f.kind and f.kind not in ADDRESSED}
    address = {name: url for name, url in address.items() if url.startswith("file:")}
    whole = {f.name: replace(f, path="/" + f.location.removeprefix("s3://").lstrip("/")) for f in inputs}
    owners, has_whole = _owners(address, whole, parts, damaged, settings, root)
    named: list[Input] = []
    for file in inputs:
        url = address.get(file.name)
        if url and (file.name in has_whole or not _is_one_file(owners.setdefault(url, file.name), file.name, root)):
            file = whole[file.name]
        named.append(file)
    return named


def _owners(
    address: Mapping[str, str],
    whole: Mapping[str, Input],
    parts: Sequence[Part],
    damaged: Sequence[Named],
    settings: IngestSettings,
    root: Path,
) -> tuple[dict[str, str], set[str]]:
    """The file that was ingested first of each address, and the files that have the address of their whole path."""
    whole_address = {name: page_url(Path(whole[name].path)) for name in address}
    urls = pa.array({*address.values(), *whole_address.values()}, pa.string())
    last_parts = {_last_part(name) for name in address}
    candidates: list[tuple[int, str, str]] = []  # Of each address in use: the ingest, the file, the address.
    has_whole: set[str] = set()
    for part in parts:
        if last_parts.isdisjoint(_last_part(claim.file) for claim in part.live):
            continue  # No file of it can have one of the addresses.
        ingests = {claim.file: part.first_read(claim)[0] for claim in part.live}
        for batch in part.batches("pages", ["url", "source_file"]):
            for row in batch.filter(pc.is_in(batch.column("url"), value_set=urls)).to_pylist():
                has_whole |= {row["source_file"]} if whole_address.get(row["source_file"]) == row["url"] else set()
                if Path(root, row["source_file"]).exists() or row["source_file"].startswith("s3://"):
                    candidates.append((ingests[row["source_file"]], row["source_file"], row["url"]))
    for of in damaged:
        for name in address.keys() & {*of.live}:
            version = of.files[name].version
            if version and version == version_of(whole[name], settings):
                has_whole.add(name)
            else:
                candidates.append((of.files[name].ingest, name, address[name]))
    owners: dict[str, str] = {}
    for _, file, url in sorted(candidates):
        owners.setdefault(url, file)
    return owners, has_whole


def _last_part(name: str) -> str:
    """The last part of a file's address, by its name."""
    return name.rpartition("/")[2].lower().removesuffix(".gz")


def _is_one_file(name: str, other: str, root: Path) -> bool:
    """Whether two names are of one file, or one and its compressed copy: a folder may be reached by several paths."""
    one, two = Path(root, name), Path(root, other)
    copy = name.removesuffix(".gz") == other.removesuffix(".gz")
    return copy or (one.exists() and two.exists() and one.samefile(two))


@dataclass(frozen=True)
class MissingDocuments:
    """What earlier ingests of some sources read and these do not have any more."""

    files: dict[str, int]  # Documents of each file that is missing, by the file's name.
    total: int  # Documents of all files of the sources.

    @property
    def documents(self) -> int:
        """Documents of the missing files."""
        return sum(self.files.values())

    def first(self) -> list[str]:
        """Names of the first missing files with documents."""
        return [name for name, documents in sorted(self.files.items()) if documents][:3]

    def check_share(self, sources: Sequence[Path | Url], most: float) -> None:
        """Raises `IngestError` where more than the share `most` of the documents is missing."""
        if self.documents > most * self.total:
            raise IngestError(
                f"--sync would remove {self.documents:,} of the {self.total:,} documents that earlier ingests of "
                f"{', '.join(map(str, sources))} read, a larger share than audit.max_shrink ({most:g}) allows; "
                "--yes removes them"
            )


def missing_documents(
    sources: Sequence[Path | Url],
    inputs: Sequence[Input],
    parts: Sequence[Part],
    damaged: Sequence[Named],
    root: Path,
) -> MissingDocuments:
    """What the page store holds of files of `sources` that are not among `inputs`.

    What lies in a folder that cannot be entered is not missing. Each file of a damaged part counts as one document:
    how many it held is not known.
    """
    there = {file.name for file in inputs}
    closed = [Path(file.location) for file in inputs if file.fault and file.fault[0] == "unreadable_folder"]
    documents: Counter[str] = Counter()
    for claim in (claim for part in parts for claim in part.live):
        documents[claim.file] += claim.pages
    documents.update(file for of in damaged for file in of.live)

    def is_of(name: str, sources: Collection[Path | Url]) -> bool:
        address = name if name.startswith("s3://") else str(root / name)
        return any(covers(source, address) for source in sources)

    of_sources = {name: n for name, n in documents.items() if is_of(name, sources)}
    missing = {name: n for name, n in of_sources.items() if name not in there and not is_of(name, closed)}
    return MissingDocuments(missing, sum(of_sources.values()))


def unread(parts: Sequence[Part], inputs: Sequence[Input], settings: IngestSettings) -> list[Input]:
    """The files that the parts of a page store do not hold as they are now."""
    held: Counter[tuple[str, str]] = Counter()
    for part in parts:
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

    def key(span: Span) -> tuple[object, ...]:
        return span.file.name, version_of(span.file, settings), span.start, span.end, span.file.source

    keys = {key(span) for span in spans}
    parts: list[Part] = []
    for part in store.pending():
        claims: set[tuple[object, ...]] = {(c.file, c.version, c.start, c.end, c.source) for c in part.claims}
        if claims <= keys and all(c.version for c in part.claims):
            parts.append(part)
            keys -= claims
        elif {c.file for c in part.claims} & {span.file.name for span in spans}:
            part.remove()
    return parts, [span for span in spans if key(span) in keys]
