"""What deduplication compares: a row per document in the members' file, a signature per distinct text.

Signatures and links of a night are kept for the next (`indexes.night_state`). They are a pure function of a set of
texts: `signatures.parquet` has a row per text, `links/` the verified near duplicates with the bucket that proposed
each. Tonight's result is that of a full run, whatever set was kept: buckets whose members are the same keep their
links, the others are gone through again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quern.indexes.memo import is_damaged, unnest
from quern.indexes.stages import BATCH_ROWS, Stage
from quern.jobs.core.contract import Choice, Computed, View
from quern.jobs.core.run import Run, memoise, record_rejects
from quern.jobs.core.table_writing import rejects_of
from quern.jobs.documents.duplicates.signatures import SIGNATURES, TOKEN, Signatures
from quern.schemas.settings import DeduplicateSettings
from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN

CONTENT_BYTES = 16
Keys = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.int64]
_NO_KEYS = np.empty((0, CONTENT_BYTES // 8), dtype=np.uint64)
_SPACELESS = re.compile(f"[{CJK}{SOUTH_EAST_ASIAN}]")

MEMBERS = pa.schema(
    [
        ("position", pa.int64()),  # Row of the document in its table.
        ("doc_id", pa.string()),
        ("content", pa.binary()),  # BLAKE2b-128 of the text.
        ("published_at", pa.int64()),  # Microseconds since 1970, or null.
        ("length", pa.int64()),  # Characters of the text.
        ("day", pa.int64()),  # Days since 1970 on which a short text was published, else null.
    ]
)


@dataclass(frozen=True)
class Night:
    """One night's deduplication, as it is given to the comparison."""

    documents: Stage
    members: Path  # Parquet file of `MEMBERS`, a row per document, in order.
    before: Path | None  # Directory of what the last night kept; None on the first.
    state: Path  # Directory of what tonight keeps: its signatures, and the links that are written.
    work: Path  # An empty directory for temporary files.
    settings: DeduplicateSettings


def content_keys(column: pa.ChunkedArray) -> Keys:
    """Digests as pairs of numbers that sort as the bytes do, shape (rows, 2)."""
    buffer = b"".join(b"".join(chunk.to_pylist()) for chunk in column.chunks)
    return np.frombuffer(buffer, dtype=">u8").astype(np.uint64).reshape(-1, CONTENT_BYTES // 8)


def groups(keys: Keys) -> tuple[Positions, Positions]:
    """The group of each row of `keys`, equal rows being one, and the first row of each group, in ascending order."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(first) - 1
    return group, order[first]


def write_members(documents: Stage, path: Path, short_words: int) -> Keys:
    """Write the members' file; returns the digest of each document's text, shape (documents, 2)."""
    digests = [_NO_KEYS]
    position = 0
    with pq.ParquetWriter(path, MEMBERS, compression="zstd") as writer:
        for batch in documents.batches(["doc_id", "published_at", "text"]):
            text, published = batch.column("text"), batch.column("published_at").cast(pa.int64())
            contents = _digests(batch)
            # Days since 1970 on which short texts were published; null for others.
            days = [
                time // 86_400_000_000 if time is not None and _is_short(one.as_py(), short_words) else None
                for one, time in zip(text, published.to_pylist(), strict=True)
            ]
            columns = [
                pa.array(np.arange(position, position + len(text))),
                batch.column("doc_id"),
                contents,
                published,
                pc.utf8_length(text).cast(pa.int64()),
                pa.array(days, pa.int64()),
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=MEMBERS))
            digests.append(content_keys(pa.chunked_array([contents])))
            position += len(text)
    return np.concatenate(digests)


def _digests(batch: pa.RecordBatch) -> pa.Array:
    texts = (text.as_buffer() for text in batch.column("text"))
    return pa.array([blake2b(text, digest_size=CONTENT_BYTES).digest() for text in texts], pa.binary())


def _is_short(text: str, words: int) -> bool:
    """Whether `text` has fewer than so many words; two characters of a script without spaces are one."""
    sizes = (0.5 if _SPACELESS.match(token[0]) else 1.0 for token in TOKEN.finditer(text))
    return all(count < words for count in accumulate(sizes)) and words > 0


def write_signatures(
    documents: Stage, keys: Keys, before: Path | None, state: Path, settings: DeduplicateSettings, run: Run
) -> tuple[bool, int]:
    """Write tonight's signatures; returns whether all could be made, and how many texts are new.

    Texts for which none could be made get an empty one: they are compared for exact duplicates only.
    """
    job = Signatures(settings)
    old_keys = _NO_KEYS
    if is_damaged(run.memo / job.name / job.fingerprint()):
        before = None  # Of texts that the state knows nothing is asked of the memo, which would never be mended.
    if before is not None:
        old_keys = content_keys(pq.read_table(before / "signatures.parquet", columns=["content"]).column("content"))
    # Which of the known texts are there tonight, and which documents are the first of a text that is not known.
    group, first = groups(np.concatenate([old_keys, keys]))
    live = np.isin(group[: len(old_keys)], group[len(old_keys) :])
    fresh = np.zeros(len(group), dtype=np.bool_)
    fresh[first] = True
    fresh = fresh[len(old_keys) :]
    choice = Choice(("text",), lambda batch, start: pa.array(fresh[start : start + batch.num_rows]))
    content = Computed(("text",), _digests)
    texts = View(documents, ("content", "text"), int(fresh.sum()), {"content": content}, choice)
    signatures = memoise(job, texts, run)
    rejects, start, at = [], 0, 0
    with pq.ParquetWriter(state / "signatures.parquet", SIGNATURES.schema, compression="zstd") as writer:
        if before is not None:
            with pq.ParquetFile(before / "signatures.parquet") as file:
                for batch in file.iter_batches(batch_size=BATCH_ROWS):
                    live_rows = batch.filter(pa.array(live[start : start + batch.num_rows]))
                    writer.write_batch(live_rows.cast(SIGNATURES.schema))
                    start += batch.num_rows
        for batch in texts.batches(job.reads, run.batch_rows):
            results = signatures.results(at, batch.num_rows)
            rows, parents = unnest(results, "rows")
            writer.write_batch(rows)
            absent = np.setdiff1d(np.arange(batch.num_rows), parents)
            contents = batch.column("content").take(pa.array(absent)).to_pylist()
            empty = [{"content": c, "shingles": 0, "bands": []} for c in contents]
            writer.write_batch(pa.RecordBatch.from_pylist(empty, schema=SIGNATURES.schema))
            rejects.append(rejects_of(results, at))
            at += batch.num_rows
    rejected = record_rejects(job, texts, pa.concat_tables(rejects), run) if rejects else 0
    run.report(job, signatures.counts(texts.rows, rejected), signatures.started)
    return rejected == 0, texts.rows
