"""Tables with vectors: rows joined with the embeddings of their texts, which the memo keeps per text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from indexes.memo import unnest
from indexes.stages import BATCH_ROWS, Stage
from indexes.vectors import Floats
from jobs.embed import Embed
from jobs.runner import Memoised, Run, finished, memoise, record_rejects
from schemas.tables import CHUNKS


@dataclass(frozen=True)
class ChunkTexts:
    """A view of `chunks` with the text that is embedded: title, line break, text.

    The title costs few tokens and says what a chunk from the middle of a document is about.
    """

    chunks: Stage

    @property
    def rows(self) -> int:
        """Number of chunks."""
        return self.chunks.rows

    def batches(self, columns: object = None, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Batches of the one column `text`."""
        for batch in self.chunks.batches(["title", "text"], rows):
            yield pa.RecordBatch.from_arrays([chunk_texts(batch)], ["text"])


def chunk_texts(chunks: pa.RecordBatch) -> pa.Array:
    """Title, line break and text of each chunk; the text alone where there is no title."""
    return pc.coalesce(
        pc.binary_join_element_wise(chunks.column("title"), chunks.column("text"), "\n"), chunks.column("text")
    )


@dataclass(frozen=True)
class NodeTexts:
    """A view of `queries` with the text that is embedded: `question answer` (QCG-RAG, section 3.3)."""

    queries: Stage

    @property
    def rows(self) -> int:
        """Number of queries."""
        return self.queries.rows

    def batches(self, columns: object = None, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Batches of the one column `text`."""
        for batch in self.queries.batches(["question", "answer"], rows):
            yield pa.RecordBatch.from_arrays([node_texts(batch)], ["text"])


def node_texts(queries: pa.RecordBatch) -> pa.Array:
    """`question answer` of each query."""
    return pc.binary_join_element_wise(queries.column("question"), queries.column("answer"), " ")


@dataclass(frozen=True)
class Vectors:
    """Embeddings of some of a batch's texts.

    Attributes:
        rows: Which rows of the batch have one, shape (n,).
        matrix: Their vectors, shape (n, d).
        cut: How many of the texts were longer than the model reads.
    """

    rows: npt.NDArray[np.int64]
    matrix: Floats
    cut: int


def dimension(job: Embed) -> int:
    """Width of the job's vectors."""
    return int(job.makes.schema.field("vector").type.list_size)


def vectors_of(done: Memoised, job: Embed, texts: pa.RecordBatch) -> Vectors:
    """The vectors of `texts`; a text whose embedding was rejected has none."""
    made, parents = unnest(done.results(texts), "rows")
    matrix = made.column("vector").flatten().to_numpy(zero_copy_only=False).reshape(len(parents), dimension(job))
    cut = int((made.column("tokens").to_numpy() > job.capacity).sum())
    return Vectors(parents, matrix, cut)


def vector_array(matrix: Floats) -> pa.Array:
    """`matrix`, shape (n, d), as a column of vectors."""
    flat = pa.array(np.ascontiguousarray(matrix, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1])


def embed_chunks(job: Embed, chunks: Stage, run: Run) -> Stage:
    """The table `chunks`: each chunk with the vector of its title and text."""
    done = memoise(job, ChunkTexts(chunks), run)
    table = CHUNKS.with_dimension(dimension(job))
    rejected = cut = 0
    with run.writer(table) as writer:
        for batch in chunks.batches(rows=run.batch_rows):
            texts = pa.RecordBatch.from_arrays([chunk_texts(batch)], ["text"])
            found = vectors_of(done, job, texts)
            kept = batch.take(pa.array(found.rows))
            vectors = vector_array(found.matrix)
            columns = [vectors if n == "vector" else kept.column(n) for n in table.schema.names]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=table.schema))
            rejected += record_rejects(job, texts, done.results(texts), run)
            cut += found.cut
    made = writer.stage()
    run.report(finished(done, made.rows, rejected, {"cut_texts": cut}))
    return made
