"""Tables with vectors: rows joined with the embeddings of their texts, which the memo keeps per text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.memo import unnest
from quern.indexes.stages import BATCH_ROWS, Stage
from quern.indexes.vectors import Floats, vector_array, vector_matrix
from quern.jobs.core.run import Run, finished, memoise, record_rejects
from quern.jobs.vectors.embed import Embed
from quern.schemas.tables import CHUNKS


@dataclass(frozen=True)
class Texts:
    """A view of a staged table with the one column `text`: what is embedded of each row.

    Attributes:
        stage: The table.
        columns: Columns that the text is made of.
        text: Makes it.
    """

    stage: Stage
    columns: tuple[str, ...]
    text: Callable[[pa.RecordBatch], pa.Array]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.stage.rows

    def batches(self, columns: object = None, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Batches of the one column `text`."""
        for batch in self.stage.batches(self.columns, rows):
            yield self.of(batch)

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The texts of `batch`, which has at least `columns`."""
        return pa.RecordBatch.from_arrays([self.text(batch)], ["text"])


def chunk_texts(chunks: Stage) -> Texts:
    """Title, line break and text of each chunk; the text alone where there is no title.

    The title costs few tokens and says what a chunk from the middle of a document is about.
    """
    return Texts(chunks, ("title", "text"), _titled)


def node_texts(queries: Stage) -> Texts:
    """`question answer` of each query (QCG-RAG, section 3.3)."""
    return Texts(queries, ("question", "answer"), _question_and_answer)


def _titled(chunks: pa.RecordBatch) -> pa.Array:
    titled = pc.binary_join_element_wise(chunks.column("title"), chunks.column("text"), "\n")
    return pc.coalesce(titled, chunks.column("text"))


def _question_and_answer(queries: pa.RecordBatch) -> pa.Array:
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


def vectors_of(results: pa.RecordBatch, job: Embed) -> Vectors:
    """The vectors among the memo's `results` of `job`; a text whose embedding was rejected has none."""
    made, parents = unnest(results, "rows")
    cut = int((made.column("tokens").to_numpy() > job.capacity).sum())
    return Vectors(parents, vector_matrix(made.column("vector")), cut)


def embed_chunks(job: Embed, chunks: Stage, run: Run) -> Stage:
    """The table `chunks`: each chunk with the vector of its title and text."""
    source = chunk_texts(chunks)
    done = memoise(job, source, run)
    table = CHUNKS.with_dimension(dimension(job))
    rejected = cut = 0
    with run.writer(table) as writer:
        for batch in chunks.batches(rows=run.batch_rows):
            texts = source.of(batch)
            results = done.results(texts)
            found = vectors_of(results, job)
            kept = batch.take(pa.array(found.rows))
            vectors = vector_array(found.matrix)
            columns = [vectors if n == "vector" else kept.column(n) for n in table.schema.names]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=table.schema))
            rejected += record_rejects(job, texts, results, run)
            cut += found.cut
    made = writer.stage()
    run.report(finished(done, made.rows, rejected, {"cut_texts": cut}))
    return made
