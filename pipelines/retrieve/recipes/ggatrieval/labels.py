"""Labels of candidates: each pair of a question and a chunk is aligned once, whatever round it comes in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa

from quern.jobs.reasoning.alignment.alignment import Alignment
from quern.jobs.reasoning.alignment.constituents import Parsed, parsed
from quern.jobs.reasoning.alignment.labelled import Labelled
from quern.jobs.reasoning.alignment.task import AlignInput, align_task, aligned
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.pipelines.retrieve.batch import Batch
from quern.schemas.page_times import publication

_COLUMNS: Final = ["chunk_id", "doc_id", "title", "published_at", "utc_offset", "text"]


class Labels:
    """What is known of the candidates of a batch's questions."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._evidence: dict[int, Evidence] = {}
        self._known: dict[tuple[int, int], Labelled] = {}
        self.parsed: Sequence[Parsed] = parsed(batch.searched, batch.settings.align.parser)

    def take(self, pairs: Iterable[tuple[int, int, int]]) -> None:
        """Align each (question, chunk), with its place by relevance, all that are new in one run of the task."""
        new = [pair for pair in pairs if pair[:2] not in self._known]
        self._read({chunk for _, chunk, _ in new})
        inputs = [AlignInput(self.parsed[q], self._evidence[c]) for q, c, _ in new]
        for (q, c, place), alignment in zip(new, self._aligned(inputs), strict=True):
            self._known[q, c] = Labelled(self._evidence[c], alignment, place)

    def _aligned(self, inputs: Sequence[AlignInput]) -> Sequence[Alignment]:
        """The alignments of pairs: by rule unless a model is to (`align.model`), for they are many."""
        if self._batch.settings.align.model and self._batch.settings.generator.kind != "rules":
            return [done.output for done in self._batch.reasoner.run(align_task(), inputs)]
        return [aligned(given, reflect=self._batch.settings.ggatrieval.reflection) for given in inputs]

    def __getitem__(self, pair: tuple[int, int]) -> Labelled:
        """A chunk with what of a question it matches."""
        return self._known[pair]

    def _read(self, chunks: set[int]) -> None:
        """Take the texts of chunks from the snapshot."""
        wanted = sorted(chunks - self._evidence.keys())
        if not wanted:
            return
        keys = self._batch.graph.chunks.keys.take(pa.array(wanted)).to_pylist()
        rows = self._batch.searcher.snapshot.table("chunks").lookup("chunk_id", sorted(keys), _COLUMNS).to_pylist()
        of_key = {row["chunk_id"]: row for row in rows}
        for chunk, key in zip(wanted, keys, strict=True):
            row = of_key[key]
            self._evidence[chunk] = Evidence(
                row["text"], row["title"], (), (), publication(row), row["chunk_id"], row["doc_id"]
            )
