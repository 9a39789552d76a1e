"""The tables `queries` and `nodes`: Doc2Query-- keeps the best share of the synthetic queries as nodes.

A pair is scored by the cosine of `question answer` with its chunk. The best alpha are kept, per chunk (QCG-RAG, section
3.3) or over the corpus (Doc2Query--, arXiv 2301.03266), or all from a given similarity on. Needs whole chunks. Of a
document at most `filter.most_of_document` are kept, as many of each of its chunks: a register of thousands of lines is
one page among others. Memory: the ids of the chunks, about 30 bytes each, a number for each document, and 4 bytes
a pair for the threshold of the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.keys import positions_among
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, similarities, vector_array, vector_matrix
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.vectors.embedded_tables import question_and_answer
from quern.schemas.settings import FilterSettings
from quern.schemas.tables import NODES, QUERIES, Table

_PAIR: Final = QUERIES.without("similarity", "kept").schema.names


@dataclass(frozen=True)
class _Scored:
    """Queries of some whole chunks, those that have a vector."""

    queries: pa.RecordBatch
    texts: pa.Array
    vectors: Floats
    similarity: Floats
    chunk: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Filter(TableJob):
    """The tables `queries`, with similarity and whether kept, and `nodes`, the kept ones with their vectors."""

    settings: FilterSettings

    name: ClassVar[str] = "filter"
    version: ClassVar[int] = 3

    @property
    def tables(self) -> tuple[Table, ...]:
        """`queries` and `nodes`."""
        return QUERIES, NODES

    def configuration(self) -> Mapping[str, object]:
        """The settings."""
        return self.settings.model_dump()

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Score the pairs of `embedded_pairs` against `chunks`, and keep the best."""
        pairs, chunks, settings = inputs["embedded_pairs"], inputs["chunks"], self.settings
        floor = _floor(pairs, chunks, settings)
        quotas = _quotas(chunks, settings.most_of_document)
        nodes_table = NODES.with_dimension(pairs.table.schema.field("vector").type.list_size)
        rejected = _reject_orphans(pairs, chunks, run)
        with run.writer(QUERIES) as query_writer, run.writer(nodes_table) as node_writer:
            for scored in _scored(pairs, chunks):
                scope = settings.scope
                kept = _best_of_chunks(scored, settings.alpha) if scope == "chunk" else scored.similarity >= floor
                kept &= _best_within(scored, quotas)
                columns = [*scored.queries.columns, pa.array(scored.similarity), pa.array(kept)]
                query_writer.write(pa.RecordBatch.from_arrays(columns, schema=QUERIES.schema))
                node_writer.write(_nodes(scored, kept, nodes_table.schema))
        queries, nodes = query_writer.stage(), node_writer.stage()
        return Made((queries, nodes), Counts(pairs.rows, nodes.rows, 0, pairs.rows, rejected))


def chunk_ids(chunks: Stage) -> pa.Array:
    """Ids of all chunks."""
    return pa.concat_arrays([b.column(0) for b in chunks.batches(["chunk_id"])] or [pa.array([], pa.string())])


def _reject_orphans(queries: Stage, chunks: Stage, run: Run) -> int:
    """Record the queries whose chunk has no vector; returns how many."""
    known = chunk_ids(chunks)
    rejected = 0
    for batch in queries.batches(["query_id", "chunk_id"]):
        lost = batch.filter(pc.invert(pc.is_in(batch.column("chunk_id"), value_set=known)))
        rows = zip(lost.column("query_id").to_pylist(), lost.column("chunk_id").to_pylist(), strict=True)
        run.reject(Filter.name, [(q, "chunk_missing", f"chunk {c} has no vector") for q, c in rows])
        rejected += lost.num_rows
    return rejected


def _nodes(scored: _Scored, kept: npt.NDArray[np.bool_], schema: pa.Schema) -> pa.RecordBatch:
    mask = pa.array(kept)
    columns = [
        scored.queries.column("query_id").filter(mask),
        scored.queries.column("chunk_id").filter(mask),
        scored.texts.filter(mask),
        vector_array(scored.vectors[kept]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _ranks(scored: _Scored) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The place of each query among those of its chunk, the best first, ties to the earlier; and how many these are."""
    order = np.lexsort((np.arange(len(scored.chunk)), -scored.similarity, scored.chunk))
    chunk = scored.chunk[order]
    first = np.searchsorted(chunk, chunk, side="left")
    rank, count = np.empty_like(order), np.empty_like(order)
    rank[order] = np.arange(len(chunk)) - first
    count[order] = np.searchsorted(chunk, chunk, side="right") - first
    return rank, count


def _best_of_chunks(scored: _Scored, alpha: float) -> npt.NDArray[np.bool_]:
    """The best `alpha` of each chunk's queries, at least one; ties go to the earlier query."""
    rank, count = _ranks(scored)
    # The subtraction keeps 0.8 * 5 from becoming 4.000000001 and so 5.
    return np.asarray(rank < np.ceil(alpha * count - 1e-9), dtype=np.bool_)


def _best_within(scored: _Scored, quotas: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    """The best queries of each chunk, as many as its document leaves it; of a document with no quota all."""
    documents = document_of(scored.queries.column("chunk_id")).to_pylist()
    quota = np.fromiter((quotas.get(doc, len(documents)) for doc in documents), np.int64, len(documents))
    return np.asarray(_ranks(scored)[0] < quota, dtype=np.bool_)


def _quotas(chunks: Stage, most: int) -> dict[str, int]:
    """How many nodes a chunk may have, of each document whose chunks could together have more than `most`.

    Each chunk has the same share, and at least one node, so that a long page is found by all of its parts.
    """
    count: Counter[str] = Counter()
    for batch in chunks.batches(["chunk_id"]):
        count.update(document_of(batch.column(0)).to_pylist())
    return {doc: max(1, most // n) for doc, n in count.items() if n > 1}


def document_of(chunk_ids: pa.Array) -> pa.Array:
    """The document of each chunk: the key of a chunk is its document's, a hyphen and a number."""
    return pc.replace_substring_regex(chunk_ids, r"-\d+$", "")


def _floor(pairs: Stage, chunks: Stage, settings: FilterSettings) -> np.float32:
    """The least similarity of a kept query; -inf where each chunk is judged alone."""
    if settings.scope == "absolute":
        return np.float32(settings.min_similarity)
    if settings.scope == "chunk":
        return np.float32(-np.inf)
    scores = np.concatenate([np.empty(0, np.float32), *(s.similarity for s in _scored(pairs, chunks))])
    scores[np.isnan(scores)] = -np.inf
    wanted = max(1, int(np.ceil(settings.alpha * len(scores) - 1e-9)))
    return np.float32(np.partition(scores, -wanted)[-wanted]) if len(scores) else np.float32(-np.inf)


def _scored(pairs: Stage, chunks: Stage) -> Iterator[_Scored]:
    for chunk_batch, rows in _by_chunks(chunks, pairs):
        chunk = positions_among(chunk_batch.column("chunk_id"), rows.column("chunk_id"))
        vectors = vector_matrix(rows.column("vector"))
        scores = similarities(vectors, vector_matrix(chunk_batch.column("vector"))[chunk])
        queries = rows.select(_PAIR)
        yield _Scored(queries, question_and_answer(queries), vectors, scores, chunk)


def _by_chunks(chunks: Stage, queries: Stage) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Batches of chunks, each with all queries of its chunks.

    Both tables have one order, but a chunk may be missing, because it has no vector; its queries are left out.
    """
    known = chunk_ids(chunks)
    stream = _of_known_chunks(queries, known)
    rest: pa.RecordBatch | None = None
    for batch in chunks.batches(["chunk_id", "vector"], rows=256):
        taken: list[pa.RecordBatch] = []
        while (piece := rest if rest is not None else next(stream, None)) is not None:
            inside = pc.is_in(piece.column("chunk_id"), value_set=batch.column("chunk_id")).to_numpy(
                zero_copy_only=False
            )
            cut = len(inside) if inside.all() else int(np.argmin(inside))
            taken.append(piece.slice(0, cut))
            rest = piece.slice(cut) if cut < len(inside) else None
            if rest is not None:
                break
        whole = [p for p in taken if p.num_rows]
        if whole:
            yield batch, pa.Table.from_batches(whole).combine_chunks().to_batches()[0]


def _of_known_chunks(queries: Stage, known: pa.Array) -> Iterator[pa.RecordBatch]:
    for batch in queries.batches([*_PAIR, "vector"]):
        kept = batch.filter(pc.is_in(batch.column("chunk_id"), value_set=known))
        if kept.num_rows:
            yield kept
