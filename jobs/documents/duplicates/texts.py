"""What deduplication is given: the members' file, a row per document, and a signature per distinct text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quern.indexes.memo import is_damaged, unnest
from quern.indexes.stages import BATCH_ROWS, Stage
from quern.jobs.core.contract import Choice, Computed, View
from quern.jobs.core.run import Run, memoise, record_rejects
from quern.jobs.core.table_writing import rejects_of
from quern.jobs.documents.duplicates.buckets import Positions
from quern.jobs.documents.duplicates.night_state import (
    CONTENT_BYTES,
    MEMBERS,
    Flags,
    Keys,
    compare_contents,
    content_keys,
)
from quern.jobs.documents.duplicates.shingles import TOKEN
from quern.jobs.documents.duplicates.signatures import SIGNATURES, Signatures
from quern.schemas.settings import DeduplicateSettings
from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN

_NO_KEYS = np.empty((0, CONTENT_BYTES // 8), dtype=np.uint64)


def write_members(documents: Stage, path: Path, short_words: int) -> Keys:
    """Write the members' file; returns the digest of each document's text, shape (documents, 2)."""
    digests = [_NO_KEYS]
    position = 0
    with pq.ParquetWriter(path, MEMBERS, compression="zstd") as writer:
        for batch in documents.batches(["doc_id", "published_at", "text"]):
            text = batch.column("text")
            contents = pa.array([_digest(t) for t in text], pa.binary())
            published = batch.column("published_at").cast(pa.int64())
            columns = [
                pa.array(np.arange(position, position + len(text))),
                batch.column("doc_id"),
                contents,
                published,
                pc.utf8_length(text).cast(pa.int64()),
                published_days(text, published, short_words),
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=MEMBERS))
            digests.append(content_keys(pa.chunked_array([contents])))
            position += len(text)
    return np.concatenate(digests)


def _digest(text: pa.StringScalar) -> bytes:
    return blake2b(text.as_buffer(), digest_size=CONTENT_BYTES).digest()


def _new_texts(documents: Stage, fresh: Flags) -> View:
    """The texts that last night's state does not know, each once, with their digests."""
    content = Computed(("text",), lambda batch: pa.array([_digest(t) for t in batch.column("text")], pa.binary()))
    choice = Choice(("text",), lambda batch, start: pa.array(fresh[start : start + batch.num_rows]))
    return View(documents, ("content", "text"), int(fresh.sum()), {"content": content}, choice)


@dataclass(frozen=True)
class Signed:
    """How tonight's signatures were made: whether all could be, and how many texts were new."""

    whole: bool
    new: int


def write_signatures(
    documents: Stage, keys: Keys, before: Path | None, state: Path, settings: DeduplicateSettings, run: Run
) -> Signed:
    """Write tonight's signatures."""
    job = Signatures(settings)
    known = _NO_KEYS
    if is_damaged(run.memo / job.name / job.fingerprint()):
        before = None  # Of texts that the state knows nothing is asked of the memo, which would never be mended.
    if before is not None:
        known = content_keys(pq.read_table(before / "signatures.parquet", columns=["content"]).column("content"))
    live, fresh = compare_contents(known, keys)
    texts = _new_texts(documents, fresh)
    done = memoise(job, texts, run)
    rejects, start, at = [], 0, 0
    with pq.ParquetWriter(state / "signatures.parquet", SIGNATURES.schema, compression="zstd") as writer:
        for batch in _signatures_of(before):
            writer.write_batch(batch.filter(pa.array(live[start : start + batch.num_rows])))
            start += batch.num_rows
        for batch in texts.batches(job.reads, run.batch_rows):
            results = done.results(at, batch.num_rows)
            rows, parents = unnest(results, "rows")
            writer.write_batch(rows)
            writer.write_batch(_without_bands(batch, parents))
            rejects.append(rejects_of(results, at))
            at += batch.num_rows
    rejected = record_rejects(job, texts, pa.concat_tables(rejects), run) if rejects else 0
    run.report(job, done.counts(texts.rows, rejected), done.started)
    return Signed(rejected == 0, texts.rows)


def _signatures_of(state: Path | None) -> Iterator[pa.RecordBatch]:
    if state is not None:
        with pq.ParquetFile(state / "signatures.parquet") as file:
            for batch in file.iter_batches(batch_size=BATCH_ROWS):
                yield batch.cast(SIGNATURES.schema)


def _without_bands(batch: pa.RecordBatch, parents: Positions) -> pa.RecordBatch:
    """Signatures of the texts for which none could be made: they are compared for exact duplicates only."""
    absent = np.setdiff1d(np.arange(batch.num_rows), parents)
    contents = batch.column("content").take(pa.array(absent))
    rows = [{"content": c, "shingles": 0, "bands": []} for c in contents.to_pylist()]
    return pa.RecordBatch.from_pylist(rows, schema=SIGNATURES.schema)


_SPACELESS = re.compile(f"[{CJK}{SOUTH_EAST_ASIAN}]")


def is_short(text: str, words: int) -> bool:
    """Whether `text` has fewer than so many words; two characters of a script without spaces are one."""
    sizes = (0.5 if _SPACELESS.match(token[0]) else 1.0 for token in TOKEN.finditer(text))
    return all(count < words for count in accumulate(sizes)) and words > 0


def published_days(texts: pa.Array, published: pa.Array, words: int) -> pa.Array:
    """Days since 1970 on which short texts were published; null for others.

    Args:
        texts: The texts.
        published: Microseconds since 1970, or null.
        words: Words that a short text has fewer than.
    """
    at = published.to_pylist()
    short = [time is not None and is_short(text.as_py(), words) for text, time in zip(texts, at, strict=True)]
    return pa.array([time // 86_400_000_000 if yes else None for time, yes in zip(at, short, strict=True)], pa.int64())
