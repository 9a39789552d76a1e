"""The job `signatures`: a text's number of shingles and its LSH bands, memoised under the text.

A row takes 8 bytes a band. Shingles themselves are not kept: they would take as much room as the text, and only those
of candidate pairs are needed again (`jobs.documents.duplicates.near`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from quern.jobs.core.contract import Job, Outcome
from quern.jobs.documents.duplicates.shingles import MinHash, shingles
from quern.schemas.settings import DeduplicateSettings
from quern.schemas.tables import Table

CONTENT = pa.binary()
SIGNATURES = Table(
    "signatures",
    ("content",),
    pa.schema(
        [
            pa.field("content", CONTENT, False, {"doc": "BLAKE2b-128 of the text."}),
            pa.field("shingles", pa.int64(), False, {"doc": "Distinct shingles of the text."}),
            pa.field("bands", pa.list_(pa.int64()), False, {"doc": "Hash of each band; empty: exact duplicates only."}),
        ]
    ),
    served=False,
)


@dataclass(frozen=True)
class Signatures(Job):
    """Shingles and bands of texts."""

    settings: DeduplicateSettings = field(default_factory=DeduplicateSettings)

    name: ClassVar[str] = "signatures"
    version: ClassVar[int] = 1
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("content", "text")
    key: ClassVar[str] = "content"

    @property
    def makes(self) -> Table:
        """The signatures."""
        return SIGNATURES

    def configuration(self) -> Mapping[str, object]:
        """Size of shingles, bands and rows, and what is too short."""
        chosen = self.settings
        return {
            "shingle": chosen.shingle,
            "bands": chosen.bands,
            "rows": chosen.rows,
            "min_shingles": chosen.min_shingles,
        }

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """One signature per text."""
        minhash = MinHash(self.settings.bands, self.settings.rows)
        sets = [shingles(text, self.settings.shingle) for text in batch.column("text").to_pylist()]
        bands = [minhash.of(s) if len(s) >= self.settings.min_shingles else np.empty(0, np.int64) for s in sets]
        offsets = np.concatenate([[0], np.cumsum([len(b) for b in bands])]).astype(np.int32)
        flat = np.concatenate([np.empty(0, np.int64), *bands])
        columns = [
            batch.column("content"),
            pa.array([len(s) for s in sets], pa.int64()),
            pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat)),
        ]
        return Outcome(pa.RecordBatch.from_arrays(columns, schema=SIGNATURES.schema), np.arange(len(sets)))
