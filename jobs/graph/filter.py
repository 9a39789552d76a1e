"""The tables `queries` and `nodes`: Doc2Query-- keeps the best share of the synthetic queries as nodes.

A pair is scored by the cosine of `question answer` with its chunk. The best alpha are kept, per chunk (QCG-RAG, section
3.3) or over the corpus (Doc2Query--, arXiv 2301.03266). Needs whole chunks. Of a
document at most `filter.most_of_document` are kept, as many of each of its chunks: a register of thousands of lines is
one page among others. Memory: the ids of chunks, some 30 bytes for each chunk and pair, and 4 bytes a pair for the
threshold of the corpus, for which all are scored here first. Beyond `engine.file_rows` pairs workers score and write
those of some documents each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.keys import positions_among
from quern.indexes.stage_writers import StageWriter, WrittenFile, writer_among
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, similarities, vector_array, vector_matrix
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.graph.mentions import document_of
from quern.jobs.vectors.embed import question_and_answer
from quern.schemas.settings import FilterSettings
from quern.schemas.tables import NODES, QUERIES, Table

_PAIR: Final = QUERIES.without("similarity", "kept").schema.names


@dataclass(frozen=True)
class _Scored:
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
    in_files: ClassVar[bool] = True
    tables: ClassVar[tuple[Table, ...]] = (QUERIES, NODES)

    def configuration(self) -> Mapping[str, object]:
        """The settings."""
        return self.settings.model_dump()

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Score the pairs of `embedded_pairs` against `chunks`, and keep the best."""
        pairs, chunks = inputs["embedded_pairs"], inputs["chunks"]
        ids = _column(chunks, "chunk_id").combine_chunks()
        chunk = positions_among(ids, _column(pairs, "chunk_id"))
        rejected, at = int((chunk < 0).sum()), 0
        for batch in pairs.batches(["query_id", "chunk_id"]) if rejected else ():
            orphans = batch.filter(pa.array(chunk[at : at + batch.num_rows] < 0))
            at += batch.num_rows
            rows = zip(*(column.to_pylist() for column in orphans.columns), strict=True)
            run.reject(self.name, [(q, "chunk_missing", f"chunk {c} has no vector") for q, c in rows])
        tables = QUERIES, NODES.with_dimension(pairs.table.schema.field("vector").type.list_size)
        whole = _Part(self.settings, pairs, chunks, (0, pairs.rows), (0, chunks.rows), tables)
        whole = replace(whole, floor=whole.threshold())
        if pairs.rows <= run.file_rows:
            with run.writer(tables[0]) as queries, run.writer(tables[1]) as nodes:
                whole.write(queries, nodes)
            stages = queries.stage(), nodes.stage()
        else:
            with run.folder(tables[0]) as query_files, run.folder(tables[1]) as node_files:
                write = partial(_write, folders=(query_files.open_to_others(), node_files.open_to_others()))
                parts = _parts(whole, ids, chunk, run.file_rows)
                for _, query_file, node_file in sorted(run.engines.spread("cpu").each(write, parts)):
                    query_files.adopt(query_file)
                    node_files.adopt(node_file)
            stages = query_files.stage(), node_files.stage()
        return Made(stages, Counts(pairs.rows, stages[1].rows, 0, pairs.rows, rejected))


@dataclass(frozen=True)
class _Part:
    """The pairs of some chunks, those of whole documents."""

    settings: FilterSettings
    pairs: Stage
    chunks: Stage
    of_pairs: tuple[int, int]  # Number of the first, and how many.
    of_chunks: tuple[int, int]  # The same of the chunks.
    tables: tuple[Table, Table]  # `queries` and `nodes`.
    floor: float = -math.inf  # Least similarity of a kept query.

    def write(self, queries: StageWriter, nodes: StageWriter) -> None:
        # Nodes that a chunk may have, of each document whose chunks could together have more than it may. Each chunk
        # has the same share, and at least one node, so that a long page is found by all of its parts.
        chunks = Counter(doc for b in self._chunks("chunk_id") for doc in document_of(b.column(0)).to_pylist())
        quotas = {doc: max(1, self.settings.most_of_document // n) for doc, n in chunks.items() if n > 1}
        for scored in self._scored():
            # The place of each query among those of its chunk, the best first, ties to the earlier; and their number.
            order = np.lexsort((-scored.similarity, scored.chunk))
            chunk = scored.chunk[order]
            first = np.searchsorted(chunk, chunk, side="left")
            rank, count = np.empty_like(order), np.empty_like(order)
            rank[order] = np.arange(len(chunk)) - first
            count[order] = np.searchsorted(chunk, chunk, side="right") - first
            if self.settings.scope == "chunk":
                # The subtraction keeps 0.8 * 5 from becoming 4.000000001 and so 5.
                kept = rank < np.ceil(self.settings.alpha * count - 1e-9)
            else:
                kept = scored.similarity >= np.float32(self.floor)
            documents = document_of(scored.queries.column("chunk_id")).to_pylist()
            kept &= rank < np.fromiter((quotas.get(doc, len(rank)) for doc in documents), np.int64, len(rank))
            mask = pa.array(kept)
            columns = [*scored.queries.columns, pa.array(scored.similarity), mask]
            queries.write(pa.RecordBatch.from_arrays(columns, schema=QUERIES.schema))
            keys = (scored.queries.column(name).filter(mask) for name in ("query_id", "chunk_id"))
            columns = [*keys, scored.texts.filter(mask), vector_array(scored.vectors[kept])]
            nodes.write(pa.RecordBatch.from_arrays(columns, schema=self.tables[1].schema))

    def threshold(self) -> float:
        """The least similarity of a kept query; -inf where each chunk is judged alone."""
        if self.settings.scope == "chunk":
            return -math.inf
        scores = np.concatenate([np.empty(0, np.float32), *(scored.similarity for scored in self._scored())])
        scores[np.isnan(scores)] = -np.inf
        count = max(1, int(np.ceil(self.settings.alpha * len(scores) - 1e-9)))
        return float(np.partition(scores, -count)[-count]) if len(scores) else -math.inf

    def _chunks(self, *columns: str) -> Iterator[pa.RecordBatch]:
        return self.chunks.slice(*self.of_chunks, columns, rows=256)

    def _scored(self) -> Iterator[_Scored]:
        for chunk_batch, rows in self._by_chunks():
            chunk = positions_among(chunk_batch.column("chunk_id"), rows.column("chunk_id"))
            vectors = vector_matrix(rows.column("vector"))
            scores = similarities(vectors, vector_matrix(chunk_batch.column("vector"))[chunk])
            queries = rows.select(_PAIR)
            yield _Scored(queries, question_and_answer(queries), vectors, scores, chunk)

    def _by_chunks(self) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """Batches of chunks, each with all queries of its chunks.

        Both tables have one order, but a chunk may be missing, because it has no vector; its queries are left out.
        """
        ids = pa.concat_arrays([b.column(0) for b in self._chunks("chunk_id")] or [pa.array([], pa.string())])
        stream = (
            kept
            for batch in self.pairs.slice(*self.of_pairs, [*_PAIR, "vector"])
            if (kept := batch.filter(pa.array(positions_among(ids, batch.column("chunk_id")) >= 0))).num_rows
        )
        rest: pa.RecordBatch | None = None
        for batch in self._chunks("chunk_id", "vector"):
            pieces: list[pa.RecordBatch] = []
            while (piece := rest if rest is not None else next(stream, None)) is not None:
                inside = pc.is_in(piece.column("chunk_id"), value_set=batch.column("chunk_id")).to_numpy(
                    zero_copy_only=False
                )
                cut = len(inside) if inside.all() else int(np.argmin(inside))
                pieces.append(piece.slice(0, cut))
                rest = piece.slice(cut) if cut < len(inside) else None
                if rest is not None:
                    break
            whole = [p for p in pieces if p.num_rows]
            if whole:
                yield batch, pa.Table.from_batches(whole).combine_chunks().to_batches()[0]


def _write(part: _Part, folders: tuple[Path, Path]) -> tuple[int, WrittenFile, WrittenFile]:
    with writer_among(folders[0], part.tables[0]) as queries, writer_among(folders[1], part.tables[1]) as nodes:
        part.write(queries, nodes)
    return part.of_pairs[0], queries.file, nodes.file


def _parts(whole: _Part, ids: pa.Array, chunk: npt.NDArray[np.int64], rows: int) -> list[_Part]:
    """Parts of about `rows` pairs, of whole documents.

    Args:
        whole: All.
        ids: Ids of the chunks.
        chunk: Position of each pair's chunk among them, -1 where it is none; otherwise never less than before.
        rows: Pairs of a part.
    """
    # A pair of no chunk goes with the one before it.
    chunk = np.maximum.accumulate(np.concatenate([chunk, [len(ids)]]))
    document = document_of(ids).dictionary_encode().indices.to_numpy()
    starts = np.concatenate([[0], np.flatnonzero(np.diff(document)) + 1, [len(ids)]])
    targets = np.maximum(chunk[np.arange(0, len(chunk) - 1, rows)], 0)
    begins = np.unique(starts[np.searchsorted(starts, targets, side="right") - 1])
    ends = np.append(begins[1:], len(ids))
    first, last = (np.searchsorted(chunk[:-1], at) for at in (begins, ends))
    first[0], last[-1] = 0, len(chunk) - 1
    return [
        replace(whole, of_pairs=(a, b - a), of_chunks=(c, d - c))
        for a, b, c, d in zip(*(values.tolist() for values in (first, last, begins, ends)), strict=True)
    ]


def _column(stage: Stage, name: str) -> pa.ChunkedArray:
    return pa.chunked_array([batch.column(0) for batch in stage.batches([name])], pa.string())
