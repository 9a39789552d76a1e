"""The tables `queries` and `nodes`: Doc2Query-- keeps the best share of the synthetic queries as nodes.

A pair is scored by the cosine of `question answer` with its chunk. The best alpha are kept, per chunk (QCG-RAG, section
3.3) or over the corpus (Doc2Query--, arXiv 2301.03266), or all from a given similarity on. Needs whole chunks. Of a
document at most `filter.most_of_document` are kept, as many of each of its chunks: a register of thousands of lines is
one page among others. Memory: the ids of chunks, some 30 bytes for each chunk and pair, and 4 bytes a pair for the
threshold of the corpus, for which all are scored here first. Beyond `engine.file_rows` pairs workers score and write
those of some documents each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
from quern.jobs.vectors.embed import question_and_answer
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
    in_files: ClassVar[bool] = True

    @property
    def tables(self) -> tuple[Table, ...]:
        """`queries` and `nodes`."""
        return QUERIES, NODES

    def configuration(self) -> Mapping[str, object]:
        """The settings."""
        return self.settings.model_dump()

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Score the pairs of `embedded_pairs` against `chunks`, and keep the best."""
        pairs, chunks = inputs["embedded_pairs"], inputs["chunks"]
        known = _column(chunks, "chunk_id").combine_chunks()
        chunk = positions_among(known, _column(pairs, "chunk_id"))
        rejected = _reject_orphans(pairs, chunk < 0, run)
        tables = QUERIES, NODES.with_dimension(pairs.table.schema.field("vector").type.list_size)
        whole = _Part(self.settings, pairs, chunks, (0, pairs.rows), (0, chunks.rows), tables)
        whole = replace(whole, floor=whole.threshold())
        if pairs.rows <= run.file_rows:
            with run.writer(tables[0]) as queries, run.writer(tables[1]) as nodes:
                whole.write(queries, nodes)
            made = queries.stage(), nodes.stage()
        else:
            with run.folder(tables[0]) as query_files, run.folder(tables[1]) as node_files:
                write = partial(_write, folders=(query_files.open_to_others(), node_files.open_to_others()))
                parts = _parts(whole, known, chunk, run.file_rows)
                for _, query_file, node_file in sorted(run.engines.spread("cpu").each(write, parts)):
                    query_files.adopt(query_file)
                    node_files.adopt(node_file)
            made = query_files.stage(), node_files.stage()
        return Made(made, Counts(pairs.rows, made[1].rows, 0, pairs.rows, rejected))


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
        """Write the queries and the nodes."""
        quotas = _quotas((b.column(0) for b in self._chunks("chunk_id")), self.settings.most_of_document)
        for scored in self._scored():
            if self.settings.scope == "chunk":
                kept = _best_of_chunks(scored, self.settings.alpha)
            else:
                kept = scored.similarity >= np.float32(self.floor)
            kept &= _best_within(scored, quotas)
            columns = [*scored.queries.columns, pa.array(scored.similarity), pa.array(kept)]
            queries.write(pa.RecordBatch.from_arrays(columns, schema=QUERIES.schema))
            nodes.write(_nodes(scored, kept, self.tables[1].schema))

    def threshold(self) -> float:
        """The least similarity of a kept query; -inf where each chunk is judged alone."""
        if self.settings.scope == "absolute":
            return self.settings.min_similarity
        if self.settings.scope == "chunk":
            return -math.inf
        scores = np.concatenate([np.empty(0, np.float32), *(scored.similarity for scored in self._scored())])
        scores[np.isnan(scores)] = -np.inf
        wanted = max(1, int(np.ceil(self.settings.alpha * len(scores) - 1e-9)))
        return float(np.partition(scores, -wanted)[-wanted]) if len(scores) else -math.inf

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
        known = pa.concat_arrays([b.column(0) for b in self._chunks("chunk_id")] or [pa.array([], pa.string())])
        stream = (
            kept
            for batch in self.pairs.slice(*self.of_pairs, [*_PAIR, "vector"])
            if (kept := batch.filter(pa.array(positions_among(known, batch.column("chunk_id")) >= 0))).num_rows
        )
        rest: pa.RecordBatch | None = None
        for batch in self._chunks("chunk_id", "vector"):
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


def _write(part: _Part, folders: tuple[Path, Path]) -> tuple[int, WrittenFile, WrittenFile]:
    """Write the files of `part`; with the place of the part."""
    with writer_among(folders[0], part.tables[0]) as queries, writer_among(folders[1], part.tables[1]) as nodes:
        part.write(queries, nodes)
    return part.of_pairs[0], queries.file, nodes.file


def _parts(whole: _Part, known: pa.Array, chunk: npt.NDArray[np.int64], rows: int) -> list[_Part]:
    """Parts of about `rows` pairs, of whole documents.

    Args:
        whole: All.
        known: Ids of the chunks.
        chunk: Position of each pair's chunk among them, -1 where it is none; otherwise never less than before.
        rows: Pairs of a part.
    """
    # A pair of no chunk goes with the one before it.
    chunk = np.maximum.accumulate(np.concatenate([chunk, [len(known)]]))
    document = document_of(known).dictionary_encode().indices.to_numpy()
    starts = np.concatenate([[0], np.flatnonzero(np.diff(document)) + 1, [len(known)]])
    wanted = np.maximum(chunk[np.arange(0, len(chunk) - 1, rows)], 0)
    begins = np.unique(starts[np.searchsorted(starts, wanted, side="right") - 1])
    ends = np.append(begins[1:], len(known))
    first, last = (np.searchsorted(chunk[:-1], at) for at in (begins, ends))
    first[0], last[-1] = 0, len(chunk) - 1
    return [
        replace(whole, of_pairs=(a, b - a), of_chunks=(c, d - c))
        for a, b, c, d in zip(*(values.tolist() for values in (first, last, begins, ends)), strict=True)
    ]


def _column(stage: Stage, name: str) -> pa.ChunkedArray:
    return pa.chunked_array([batch.column(0) for batch in stage.batches([name])], pa.string())


def _reject_orphans(queries: Stage, lost: npt.NDArray[np.bool_], run: Run) -> int:
    """Record the queries whose chunk has no vector; returns how many."""
    at = 0
    for batch in queries.batches(["query_id", "chunk_id"]) if lost.any() else ():
        these = batch.filter(pa.array(lost[at : at + batch.num_rows]))
        at += batch.num_rows
        rows = zip(these.column("query_id").to_pylist(), these.column("chunk_id").to_pylist(), strict=True)
        run.reject(Filter.name, [(q, "chunk_missing", f"chunk {c} has no vector") for q, c in rows])
    return int(lost.sum())


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


def _quotas(chunk_ids: Iterable[pa.Array], most: int) -> dict[str, int]:
    """How many nodes a chunk may have, of each document whose chunks could together have more than `most`.

    Each chunk has the same share, and at least one node, so that a long page is found by all of its parts.
    """
    count = Counter(doc for ids in chunk_ids for doc in document_of(ids).to_pylist())
    return {doc: max(1, most // n) for doc, n in count.items() if n > 1}


def document_of(chunk_ids: pa.Array) -> pa.Array:
    """The document of each chunk: the key of a chunk is its document's, a hyphen and a number."""
    return pc.replace_substring_regex(chunk_ids, r"-\d+$", "")
