"""One night's deduplication, and what is kept of it for the next: signatures and links of the texts.

What is kept (`indexes.night_state`) is a pure function of a set of texts: `signatures.parquet` has a row per text,
`links/` the verified near duplicates with the bucket that proposed each. Tonight's result is that of a full run,
whatever set was kept: buckets whose members are the same keep their links, the others are gone through again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.indexes.stages import Stage
from quern.schemas.settings import DeduplicateSettings

CONTENT_BYTES = 16
Keys = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

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
LINKS = pa.schema([("key", pa.int64()), ("a", pa.binary()), ("b", pa.binary()), ("similarity", pa.float64())])
DUPLICATES = pa.schema(
    [
        ("position", pa.int64()),  # Row of the document, ascending.
        ("keeper", pa.string()),  # doc_id of the document that stays.
        ("exact", pa.bool_()),  # Whether its text is the keeper's.
        ("direct", pa.bool_()),  # Whether `similarity` is that to the keeper, else to the nearest copy.
        ("similarity", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Night:
    """One night's deduplication, as it is given to the comparison."""

    documents: Stage  # The documents.
    members: Path  # Parquet file of `MEMBERS`, a row per document, in order.
    signatures: Path  # Parquet file of tonight's signatures, a row per distinct text.
    signatures_before: Path | None  # That of the last night; None on the first.
    links_before: Path | None  # Directory of the last night's links.
    links: Path  # Directory that tonight's links are to be written to.
    work: Path  # An empty directory for temporary files.
    settings: DeduplicateSettings  # The settings.


def content_keys(column: pa.ChunkedArray) -> Keys:
    """Digests as pairs of numbers that sort as the bytes do, shape (rows, 2)."""
    joined = b"".join(b"".join(chunk.to_pylist()) for chunk in column.chunks)
    return np.frombuffer(joined, dtype=">u8").astype(np.uint64).reshape(-1, CONTENT_BYTES // 8)


def compare_contents(known: Keys, keys: Keys) -> tuple[Flags, Flags]:
    """Which of `known` are among `keys`, and which of `keys` are new: not known, and the first of their kind."""
    both = np.concatenate([known, keys])
    order = np.lexsort((both[:, 1], both[:, 0]))  # Stable: the known one comes first, then the first of `keys`.
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (both[order[1:]] != both[order[:-1]]).any(axis=1)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(first) - 1
    wanted = np.zeros(int(first.sum()), dtype=np.bool_)
    wanted[group[len(known) :]] = True
    fresh = np.zeros(len(order), dtype=np.bool_)
    fresh[order[first]] = True
    return wanted[group[: len(known)]], fresh[len(known) :]
