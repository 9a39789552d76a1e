"""The column `documents.duplicate_of`: which document each exact or near duplicate repeats.

Exact duplicates have the same text, near ones a Jaccard similarity of shingles of at least `deduplicate.similarity`:
proposed by MinHash-LSH (`jobs.documents.duplicates.signatures`), verified on the shingles, joined to clusters
(`.duplicates.clusters`). Texts that differ in a number, a name or a field are no near duplicates
(`.duplicates.values`), nor are short ones that were published on different days (`.duplicates.texts`). The keeper of a
cluster is its oldest document by `published_at` (undated ones last), then the longest, then the one with the least
doc_id. Titles do not count.

All is done on distinct texts, so a text that ten thousand documents share costs one signature. What is known of last
night's texts is kept (`.duplicates.texts`); `.duplicates.clusters` says how much memory the comparison takes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.night_state import NightStates
from quern.indexes.stages import Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.documents.duplicates.clusters import find_duplicates
from quern.jobs.documents.duplicates.signatures import Signatures
from quern.jobs.documents.duplicates.texts import Night, write_members, write_signatures
from quern.schemas.settings import DeduplicateSettings
from quern.schemas.tables import DOCUMENTS, Table


@dataclass(frozen=True)
class Deduplicate(TableJob):
    """The documents with `duplicate_of`; each duplicate is also a reject that names its keeper."""

    settings: DeduplicateSettings

    name: ClassVar[str] = "deduplicate"
    version: ClassVar[int] = 3

    @property
    def engine(self) -> Literal["none", "cpu", "model"]:
        """Signatures of many texts are made on Spark."""
        return "cpu"

    @property
    def incremental(self) -> bool:
        """What is known of last night's texts is kept."""
        return True

    @property
    def tables(self) -> tuple[Table, ...]:
        """`documents`."""
        return (DOCUMENTS,)

    def configuration(self) -> Mapping[str, object]:
        """All settings that links depend on."""
        return {"signatures": Signatures.version, **self.settings.results()}

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Find the duplicates among the documents."""
        (documents,) = inputs.values()
        work = run.work / self.name
        work.mkdir(parents=True)
        states = NightStates(run.memo / self.name / self.fingerprint())
        before, state = states.newest(lambda path, _: path), states.begin(run.build_id)
        night = Night(documents, work / "members.parquet", before, state, work, self.settings)
        keys = write_members(documents, night.members, self.settings.short_words)
        whole, new = write_signatures(documents, keys, before, state, self.settings, run)
        stage, duplicates = _write_documents(night, run)
        if whole:
            states.commit(state, {})
            states.forget_others()
        shutil.rmtree(work)
        counts = Counts(
            rows_in=documents.rows,
            rows_out=documents.rows,
            reused=documents.rows - new,
            computed=new,
            rejected=int(sum(duplicates.values())),
            notes=duplicates,
        )
        return Made((stage,), counts, final=whole)


def _write_documents(night: Night, run: Run) -> tuple[Stage, dict[str, float]]:
    """The documents with `duplicate_of`, and how many duplicates there are of each kind."""
    duplicates = pa.Table.from_batches([find_duplicates(night)])
    places = duplicates.column("position").to_numpy()
    counts: dict[str, float] = {"exact_duplicate": 0, "near_duplicate": 0}
    at = DOCUMENTS.schema.get_field_index("duplicate_of")
    start = 0
    with run.writer(DOCUMENTS) as writer:
        for batch in night.documents.batches():
            first, end = np.searchsorted(places, [start, start + batch.num_rows])
            some, positions = duplicates.slice(first, end - first), places[first:end] - start
            start += batch.num_rows
            mask = np.zeros(batch.num_rows, dtype=np.bool_)
            mask[positions] = True
            none = pa.nulls(batch.num_rows, pa.string())
            column = pc.replace_with_mask(none, pa.array(mask), some.column("keeper").combine_chunks())
            writer.write(batch.set_column(at, DOCUMENTS.schema.field(at), column))
            rejects: list[tuple[str, str, str]] = []
            doc_ids = batch.column("doc_id").take(pa.array(positions)).to_pylist()
            for doc_id, row in zip(doc_ids, some.to_pylist(), strict=True):
                reason, detail = "exact_duplicate", f"the same text as {row['keeper']}"
                if not row["exact"]:
                    nearest = "" if row["direct"] else " with the nearest of the copies between"
                    reason = "near_duplicate"
                    detail = f"of {row['keeper']}: Jaccard {row['similarity']:.3f}{nearest}"
                rejects.append((doc_id, reason, detail))
                counts[reason] += 1
            run.reject(Deduplicate.name, rejects)
    return writer.stage(), counts
