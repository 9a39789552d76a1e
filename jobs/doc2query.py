"""Table `queries`, before filtering: up to M question-answer pairs of each chunk (QCG-RAG, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import pyarrow as pa

from jobs.contract import Job, Outcome, Reject, outcome
from jobs.tasks.doc2query import ChunkContext, doc2query
from jobs.tasks.doc2query_rules import NEAR_IDENTICAL
from schemas import sentences
from schemas.tables import QUERIES, Table


@dataclass(frozen=True)
class Doc2Query(Job):
    """Synthetic question-answer pairs by rules.

    Attributes:
        pairs: M, the most pairs of a chunk.
        near_identical: Jaccard similarity of words from which the later of two pairs of a chunk is left out.
    """

    pairs: int = 20
    near_identical: float = NEAR_IDENTICAL

    name: ClassVar[str] = "doc2query"
    version: ClassVar[int] = 1
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("chunk_id", "text", "title", "published_at")
    key: ClassVar[str] = "chunk_id"

    @property
    def makes(self) -> Table:
        """`queries` without what the filter adds."""
        return QUERIES.without("similarity", "kept")

    def configuration(self) -> Mapping[str, object]:
        """Number of pairs, generator and version of the task."""
        return {
            "pairs": self.pairs,
            "near_identical": self.near_identical,
            "generator": "rules",
            "task": doc2query(self.pairs).version,
            "sentences": sentences.VERSION,
        }

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """The pairs of each chunk; a chunk without any is rejected as `no_pairs`."""
        task = doc2query(self.pairs, self.near_identical)
        rows: list[dict[str, object]] = []
        parents: list[int] = []
        rejects: list[Reject] = []
        # Writing pairs is Python per chunk: regular expressions over its sentences.
        for row, chunk in enumerate(batch.select(self.reads).to_pylist()):
            made = task.rule(ChunkContext(chunk["text"], chunk["title"], chunk["published_at"])).pairs
            if not made:
                rejects.append(Reject(row, "no_pairs", f"no sentence with words in {chunk['text'][:60]!r}"))
            for m, pair in enumerate(made):
                parents.append(row)
                rows.append(
                    {"query_id": f"{chunk['chunk_id']}-{m}", "chunk_id": chunk["chunk_id"], **pair.model_dump()}
                )
        return outcome(self.makes, rows, parents, rejects)
