"""The column `documents.duplicate_of`: which document each exact or near duplicate repeats.

Exact duplicates have the same text, near ones a Jaccard similarity of shingles of at least `deduplicate.similarity`:
proposed by MinHash-LSH (`jobs.documents.duplicates.shingles`, `.buckets`), verified on the shingles, joined to clusters
(`.components`). The keeper of a cluster is its oldest document by `published_at` (undated ones last), then the longest,
then the one with the least doc_id. Titles do not count.

All is done on distinct texts, so a text that ten thousand documents share costs one signature. What is known of last
night's texts is kept (`.nights`). The driver holds 32 bytes a document and 40 a distinct text; the comparison runs in
this process (`.near`) or on Spark (`.shuffles`).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.stages import BATCH_ROWS, Stage
from quern.jobs.core.run import JobReport, Run, Source
from quern.jobs.documents.duplicates.buckets import Positions
from quern.jobs.documents.duplicates.near import find_duplicates
from quern.jobs.documents.duplicates.night_state import DUPLICATES, Night, States
from quern.jobs.documents.duplicates.signatures import Signatures
from quern.jobs.documents.duplicates.texts import write_members, write_signatures
from quern.schemas.digests import settings_digest
from quern.schemas.settings import DeduplicateSettings
from quern.schemas.tables import DOCUMENTS

NAME, VERSION = "deduplicate", 1
_PARTITION_ROWS = 20_000


def fingerprint(settings: DeduplicateSettings) -> str:
    """Digest of name, version and all settings that links depend on."""
    chosen = settings.model_dump(exclude={"local_below"})
    return settings_digest([NAME, VERSION, Signatures.version, chosen])


def deduplicate(documents: Stage, settings: DeduplicateSettings, run: Run) -> Stage:
    """The documents with `duplicate_of`; each duplicate is also a reject that names its keeper."""
    started = time.monotonic()
    work = run.work / NAME
    work.mkdir(parents=True)
    states = States(run.memo / NAME / fingerprint(settings))
    before, state = states.newest(), states.begin(run.build_id)
    keys = write_members(documents, work / "members.parquet")
    whole, computed = write_signatures(documents, keys, before, state, settings, run)
    night = Night(
        documents=documents,
        members=work / "members.parquet",
        signatures=state / "signatures.parquet",
        signatures_before=before / "signatures.parquet" if before else None,
        links_before=before / "links" if before else None,
        links=state / "links",
        work=work,
        settings=settings,
    )
    made, engine, counts = _write_documents(night, run)
    if whole:
        states.commit(state)
    shutil.rmtree(work)
    rows, seconds = documents.rows, round(time.monotonic() - started, 3)
    known, rejected = rows - computed, int(sum(counts.values()))
    run.report(JobReport(NAME, fingerprint(settings), rows, rows, known, computed, rejected, seconds, engine, counts))
    return made


def _compared(night: Night, run: Run) -> tuple[str, Iterator[pa.RecordBatch]]:
    """The engine, and the duplicates in the order of the documents."""
    rows = night.documents.rows
    spark = run.engines.shuffler(rows, night.settings.local_below)
    if spark is None:
        return "driver", find_duplicates(night)
    from quern.jobs.documents.duplicates.shuffles import find_duplicates_on_spark

    return "spark", find_duplicates_on_spark(night, spark, _partitions(rows, run.cores))


def _partitions(rows: int, cores: int) -> int:
    """Partitions of a shuffle of the bands of `rows` documents; changes no result."""
    return max(cores, rows // _PARTITION_ROWS)


def _write_documents(night: Night, run: Run) -> tuple[Stage, str, dict[str, float]]:
    """The documents with `duplicate_of`, the engine, and how many duplicates there are of each kind."""
    engine, duplicates = _compared(night, run)
    counts: dict[str, float] = {"exact_duplicate": 0, "near_duplicate": 0}
    merged = _Merge(duplicates)
    start = 0
    with run.writer(DOCUMENTS) as writer:
        for batch in night.documents.batches():
            found = merged.until(start + batch.num_rows)
            positions = found.column("position").to_numpy() - start
            start += batch.num_rows
            writer.write(_marked(batch, positions, found.column("keeper")))
            rejects = list(_rejects(batch, positions, found))
            run.reject(NAME, rejects)
            for _, reason, _ in rejects:
                counts[reason] += 1
        merged.until(start)
    return writer.stage(), engine, counts


def _marked(batch: pa.RecordBatch, positions: Positions, keepers: pa.ChunkedArray) -> pa.RecordBatch:
    """The documents of `batch`, those at `positions` marked as duplicates of `keepers`."""
    mask = np.zeros(batch.num_rows, dtype=np.bool_)
    mask[positions] = True
    none = pa.nulls(batch.num_rows, pa.string())
    column = pc.replace_with_mask(none, pa.array(mask), keepers.combine_chunks())
    at = batch.schema.get_field_index("duplicate_of")
    return batch.set_column(at, batch.schema.field(at), column)


def _rejects(batch: pa.RecordBatch, positions: Positions, found: pa.Table) -> Iterator[tuple[str, str, str]]:
    """(doc_id, reason, detail) of the duplicates in `batch`."""
    doc_ids = batch.column("doc_id").take(pa.array(positions)).to_pylist()
    for doc_id, row in zip(doc_ids, found.to_pylist(), strict=True):
        if row["exact"]:
            yield doc_id, "exact_duplicate", f"the same text as {row['keeper']}"
        else:
            nearest = "" if row["direct"] else " with the nearest of the copies between"
            yield doc_id, "near_duplicate", f"of {row['keeper']}: Jaccard {row['similarity']:.3f}{nearest}"


class _Merge:
    """Duplicates in the order of the documents, taken up to a position at a time."""

    def __init__(self, duplicates: Iterator[pa.RecordBatch]) -> None:
        self._duplicates = duplicates
        self._pending: pa.Table | None = None

    def until(self, position: int) -> pa.Table:
        """Those before `position` that were not taken yet."""
        taken: list[pa.Table] = []
        while True:
            if self._pending is None:
                batch = next(self._duplicates, None)
                if batch is None:
                    break
                self._pending = pa.Table.from_batches([batch])
            count = int(np.searchsorted(self._pending.column("position").to_numpy(), position))
            taken.append(self._pending.slice(0, count))
            if count < self._pending.num_rows:
                self._pending = self._pending.slice(count)
                break
            self._pending = None
        return pa.concat_tables([DUPLICATES.empty_table(), *taken])


@dataclass(frozen=True)
class _Originals:
    """The documents that repeat no other."""

    documents: Stage
    rows: int

    def batches(self, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The named columns."""
        names = list(columns) if columns is not None else self.documents.table.schema.names
        wanted = dict.fromkeys([*names, "duplicate_of"])
        for batch in self.documents.batches(list(wanted), rows):
            yield batch.filter(batch.column("duplicate_of").is_null()).select(names)


def originals(documents: Stage) -> Source:
    """A view of the documents that repeat no other: those that are cut, embedded and searched."""
    rows = sum(b.column(0).null_count for b in documents.batches(["duplicate_of"]))
    return _Originals(documents, rows)
