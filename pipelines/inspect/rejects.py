"""What a snapshot left out, and why: the table of rejects, filtered, counted and read as a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot
from quern.pipelines.audit.audit import reject_shares, rows_in
from quern.schemas.errors import QuernError
from quern.schemas.words.meant import no_such

_MOST_NAMED = 12


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


def summary(snapshot: Snapshot, wanted: Wanted) -> list[dict[str, Any]]:
    """Rows of (job, reason, count, share of the job's input), the most frequent first.

    Raises:
        RejectsError: The wanted job is none of this snapshot's.
    """
    every, counted = _counts(snapshot, wanted)
    jobs = {str(job["job"]) for job in snapshot.manifest.jobs} | {job for job, _ in every}
    if wanted.job and wanted.job not in jobs:
        raise RejectsError(f"snapshot {snapshot.manifest.build_id}: {no_such('job', wanted.job, sorted(jobs))}")
    given = rows_in(snapshot.manifest.jobs, every, snapshot.manifest.tables["pages"].rows)
    shares = reject_shares(given, every, counted)
    found = sorted(counted.items(), key=lambda kv: (-kv[1], kv[0]))
    return [
        {"job": job, "reason": reason, "count": n, "share": shares.get(f"{job}: {reason}")}
        for (job, reason), n in found
    ]


def rows(snapshot: Snapshot, wanted: Wanted, limit: int = 0) -> Iterator[dict[str, str]]:
    """The wanted rejects (job, key, reason, detail) in the order they were written; at most `limit`, 0 for all."""
    left = limit
    for batch in snapshot.stage("rejects").batches(["job", "key", "reason", "detail"]):
        found = wanted.of(batch)
        if limit:
            found = found.slice(0, left)
            left -= found.num_rows
        yield from found.to_pylist()
        if limit and left <= 0:
            return


def _counts(snapshot: Snapshot, wanted: Wanted) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """All rejects and the wanted ones, per (job, reason)."""
    every: Counter[tuple[str, str]] = Counter()
    counted: Counter[tuple[str, str]] = Counter()
    for batch in snapshot.stage("rejects").batches(["job", "key", "reason", "detail"]):
        for counts, part in ((every, batch), (counted, wanted.of(batch))):
            pairs = zip(part.column("job").to_pylist(), part.column("reason").to_pylist(), strict=True)
            counts.update(pairs)
    return every, counted


def there_are(snapshot: Snapshot) -> str:
    """What rejects a snapshot has, in a line."""
    counts, _ = _counts(snapshot, Wanted())
    if not counts:
        return "it left nothing out"
    named = ", ".join(f"{job}: {reason} ({n})" for (job, reason), n in counts.most_common(_MOST_NAMED))
    more = len(counts) - _MOST_NAMED
    return f"there are {named}" + (f" and {more} more reasons" if more > 0 else "")
