"""The tables `queries` and `nodes`: Doc2Query-- keeps the best share of the synthetic queries as nodes.

A pair is scored by the cosine of `question answer` with its chunk; the best alpha are kept, per chunk
(QCG-RAG, section 3.3) or over the corpus (Doc2Query--, arXiv 2301.03266), or all from a given similarity on. Needs
whole chunks. Memory: the ids of the chunks, about 30 bytes each; the corpus' threshold is found on disk.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.keys import positions_in
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, similarities, vector_array, vector_matrix
from quern.jobs.core.run import JobReport, Memoised, Run, finished, memoise, record_rejects
from quern.jobs.graph.share_floor import best_share_floor
from quern.jobs.vectors.embed import Embed
from quern.jobs.vectors.embedded_tables import dimension, node_texts, vectors_of
from quern.schemas.digests import settings_digest
from quern.schemas.settings import FilterSettings
from quern.schemas.tables import NODES, QUERIES

NAME, VERSION = "filter", 2


@dataclass(frozen=True)
class _Scored:
    """Queries of some whole chunks, those that have a vector."""

    queries: pa.RecordBatch
    texts: pa.Array
    vectors: Floats
    similarity: Floats
    chunk: npt.NDArray[np.int64]


def filter_queries(
    embed: Embed, queries: Stage, chunks: Stage, settings: FilterSettings, run: Run
) -> tuple[Stage, Stage]:
    """The tables `queries`, with similarity and whether kept, and `nodes`, the kept ones with their vectors."""
    done = memoise(embed, node_texts(queries), run)
    run.report(_embed_report(done, embed, queries, run))
    started = time.monotonic()
    floor = _floor(done, embed, queries, chunks, settings, run)
    nodes_table = NODES.with_dimension(dimension(embed))
    rejected = _reject_orphans(queries, chunks, run)
    with run.writer(QUERIES) as query_writer, run.writer(nodes_table) as node_writer:
        for scored in _scored(done, embed, queries, chunks):
            kept = _best_of_chunks(scored, settings.alpha) if settings.scope == "chunk" else scored.similarity >= floor
            columns = [*scored.queries.columns, pa.array(scored.similarity), pa.array(kept)]
            query_writer.write(pa.RecordBatch.from_arrays(columns, schema=QUERIES.schema))
            node_writer.write(_nodes(scored, kept, nodes_table.schema))
    made, nodes = query_writer.stage(), node_writer.stage()
    seconds = round(time.monotonic() - started, 3)
    run.report(
        JobReport(NAME, fingerprint(settings), queries.rows, nodes.rows, 0, queries.rows, rejected, seconds, "driver")
    )
    return made, nodes


def fingerprint(settings: FilterSettings) -> str:
    """Digest of name, version and settings."""
    return settings_digest([NAME, VERSION, settings.model_dump()])


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
        run.reject(NAME, [(q, "chunk_missing", f"chunk {c} has no vector") for q, c in rows])
        rejected += lost.num_rows
    return rejected


def _embed_report(done: Memoised, embed: Embed, queries: Stage, run: Run) -> JobReport:
    rejected = cut = 0
    for batch in node_texts(queries).batches(rows=run.batch_rows):
        results = done.results(batch)
        rejected += record_rejects(embed, batch, results, run)
        cut += vectors_of(results, embed).cut
    return finished(done, queries.rows - rejected, rejected, {"cut_texts": cut})


def _nodes(scored: _Scored, kept: npt.NDArray[np.bool_], schema: pa.Schema) -> pa.RecordBatch:
    mask = pa.array(kept)
    columns = [
        scored.queries.column("query_id").filter(mask),
        scored.queries.column("chunk_id").filter(mask),
        scored.texts.filter(mask),
        vector_array(scored.vectors[kept]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _best_of_chunks(scored: _Scored, alpha: float) -> npt.NDArray[np.bool_]:
    """The best `alpha` of each chunk's queries, at least one; ties go to the earlier query."""
    order = np.lexsort((np.arange(len(scored.chunk)), -scored.similarity, scored.chunk))
    chunk = scored.chunk[order]
    first = np.searchsorted(chunk, chunk, side="left")
    count = np.searchsorted(chunk, chunk, side="right") - first
    rank = np.arange(len(chunk)) - first
    kept = np.zeros(len(chunk), dtype=np.bool_)
    # The subtraction keeps 0.8 * 5 from becoming 4.000000001 and so 5.
    kept[order] = rank < np.ceil(alpha * count - 1e-9)
    return kept


def _floor(
    done: Memoised, embed: Embed, queries: Stage, chunks: Stage, settings: FilterSettings, run: Run
) -> np.float32:
    """The least similarity of a kept query; -inf where each chunk is judged alone."""
    if settings.scope == "absolute":
        return np.float32(settings.min_similarity)
    if settings.scope == "chunk":
        return np.float32(-np.inf)
    scores = (s.similarity for s in _scored(done, embed, queries, chunks))
    return np.float32(best_share_floor(scores, settings.alpha, run.work / "similarities"))


def _scored(done: Memoised, embed: Embed, queries: Stage, chunks: Stage) -> Iterator[_Scored]:
    source = node_texts(queries)
    for chunk_batch, query_batch in _by_chunks(chunks, queries):
        keys = chunk_batch.column("chunk_id")
        texts = source.of(query_batch)
        found = vectors_of(done.results(texts), embed)
        rows = query_batch.take(pa.array(found.rows))
        chunk = positions_in(keys, rows.column("chunk_id"))
        scores = similarities(found.matrix, vector_matrix(chunk_batch.column("vector"))[chunk])
        yield _Scored(rows, texts.column("text").take(pa.array(found.rows)), found.matrix, scores, chunk)


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
    for batch in queries.batches(QUERIES.without("similarity", "kept").schema.names):
        kept = batch.filter(pc.is_in(batch.column("chunk_id"), value_set=known))
        if kept.num_rows:
            yield kept
