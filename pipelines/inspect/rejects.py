"""What a snapshot left out, and why: the table of rejects, filtered, counted and read as a stream.

Before the first build, what the page store left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot, Warehouse
from quern.indexes.page_store import PageStore
from quern.pipelines.audit import reject_shares, rows_in
from quern.pipelines.pages.store import page_store
from quern.schemas.errors import QuernError
from quern.schemas.tables import NO_LOSS, WARNINGS
from quern.schemas.words.meant import no_such

_INGEST: Final = "ingest"
_COLUMNS: Final = ["job", "key", "reason", "detail"]


class RejectsError(QuernError):
    """A filter that can match no reject; the message names what there is."""


@dataclass(frozen=True)
class Wanted:
    """Which rejects are wanted: of a job, of a reason, with a key that begins so; empty for all.

    Rejects of archives have a file and an offset as their key; their detail begins with the address, which counts too.
    """

    job: str = ""
    reason: str = ""
    key: str = ""

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of `batch` that are wanted."""
        for column, value in (("job", self.job), ("reason", self.reason)):
            if value:
                batch = batch.filter(pc.equal(batch.column(column), value))
        if self.key:
            begins = [pc.starts_with(batch.column(column), self.key) for column in ("key", "detail")]
            batch = batch.filter(pc.or_(*begins))
        return batch

    def __str__(self) -> str:
        return " ".join(f"--{name} {value}" for name, value in vars(self).items() if value)


Source = Snapshot | PageStore


def name_of(source: Source) -> str:
    """What a source is called in messages."""
    return "the page store" if isinstance(source, PageStore) else f"snapshot {source.manifest.build_id}"


def left_out(warehouse: Warehouse, name: str | None) -> Source:
    """The snapshot `name`, the published one where none is named; the page store where nothing was built of it yet.

    Raises:
        WarehouseError: There is no such snapshot, and nothing was ingested.
    """
    store = page_store(warehouse)
    return store if name is None and warehouse.current_id() is None and store.named() else warehouse.snapshot(name)


def summary(source: Source, wanted: Wanted) -> list[dict[str, Any]]:
    """Rows of (job, reason, count, share of the job's input, whether it is a warning); losses, then the most frequent.

    Raises:
        RejectsError: The wanted job is none of this snapshot's.
    """
    every, counted = _counts(source, wanted)
    stored = isinstance(source, PageStore)
    reports = [] if isinstance(source, PageStore) else source.manifest.jobs
    jobs = {str(job["job"]) for job in reports} | {job for job, _ in every} | ({_INGEST} if stored else set())
    if wanted.job and wanted.job not in jobs:
        raise RejectsError(f"{name_of(source)}: {no_such('job', wanted.job, sorted(jobs))}")
    if isinstance(source, PageStore):
        pages = sum(claim.pages for part in source.parts() for claim in part.live)  # A capture each.
    else:
        pages = source.manifest.tables["pages"].rows
    job_rows = rows_in(reports, every, pages)
    shares = reject_shares(job_rows, every, counted)
    counts = sorted(counted.items(), key=lambda kv: (kv[0][1] in NO_LOSS, -kv[1], kv[0]))
    return [
        {"job": job, "reason": reason, "count": n, "share": shares.get(f"{job}: {reason}")}
        | ({"warning": True} if reason in WARNINGS else {})
        for (job, reason), n in counts
    ]


def _batches(source: Source) -> Iterator[pa.RecordBatch]:
    """The rejects, with their jobs."""
    if not isinstance(source, PageStore):
        yield from source.stage("rejects").batches(_COLUMNS)
        return
    for part in source.parts():
        for batch in part.batches("rejects", _COLUMNS[1:]):
            job = pa.array([_INGEST] * batch.num_rows, pa.string())
            yield pa.RecordBatch.from_arrays([job, *batch.columns], _COLUMNS)


def rows(source: Source, wanted: Wanted, limit: int = 0) -> Iterator[dict[str, str]]:
    """The wanted rejects (job, key, reason, detail) in the order they were written; at most `limit`, 0 for all."""
    left = limit
    for batch in _batches(source):
        matches = wanted.of(batch)
        if limit:
            matches = matches.slice(0, left)
            left -= matches.num_rows
        yield from matches.to_pylist()
        if limit and left <= 0:
            return


def _counts(source: Source, wanted: Wanted) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """All rejects and the wanted ones, per (job, reason)."""
    every: Counter[tuple[str, str]] = Counter()
    counted: Counter[tuple[str, str]] = Counter()
    for batch in _batches(source):
        for counts, part in ((every, batch), (counted, wanted.of(batch))):
            pairs = zip(part.column("job").to_pylist(), part.column("reason").to_pylist(), strict=True)
            counts.update(pairs)
    return every, counted


def there_are(source: Source) -> str:
    """What rejects there are, in a line."""
    counts, _ = _counts(source, Wanted())
    if not counts:
        return "it left nothing out"
    reasons = ", ".join(f"{job}: {reason} ({n})" for (job, reason), n in counts.most_common(12))
    more = len(counts) - 12
    return f"there are {reasons}" + (f" and {more} more reasons" if more > 0 else "")
