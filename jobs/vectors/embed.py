"""The vectors of chunks, nodes and events, and tables with them: rows joined with the embeddings of their texts.

The memo keeps vectors per text; see `.embedder`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import ClassVar, Final, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.memo import unnest
from quern.indexes.stages import Stage
from quern.jobs.core.contract import Computed, Job, Made, Outcome, Reject, Source, View
from quern.jobs.core.run import Run, TableJob, memoise, record_rejects, write_table
from quern.jobs.core.table_writing import Numbers
from quern.jobs.models.folders import Model, load_tokenizer, read_model, resolve_max_tokens
from quern.jobs.text.search_form import SearchForm
from quern.jobs.vectors.embedder import Embedder, configuration, prepare
from quern.schemas.settings import EmbedSettings, NormaliseSettings
from quern.schemas.tables import CHUNKS, QUERIES, TABLES, VECTOR, Table


@lru_cache(maxsize=4)
def _special_tokens(model: Model) -> int:
    """Special tokens around a text. Each batch of a night asks, and a tokenizer takes a tenth of a second to load."""
    return int(load_tokenizer(model).num_special_tokens_to_add(False))


@dataclass(frozen=True)
class Embed(Job):
    """Vectors of texts, with the number of tokens of each so that texts too long for the model can be counted."""

    name: ClassVar[str] = "embed"
    version: ClassVar[int] = 2
    engine: ClassVar[Literal["cpu", "model"]] = "model"
    reads: ClassVar[tuple[str, ...]] = ("text",)
    key: ClassVar[str] = "text"
    # Model and how to run it. A worker whose processor lacks the precision fails rather than take another.
    settings: EmbedSettings

    @property
    def makes(self) -> Table:
        """One row per text: `vector` and `tokens`. It has no key of its own; `Outcome.parents` names the text."""
        fields = [
            pa.field("vector", VECTOR, False, {"doc": "L2-normalised embedding of the text."}),
            pa.field("tokens", pa.int32(), False, {"doc": "Tokens of the whole text, special tokens excluded."}),
        ]
        dimension = read_model(self.settings.model).dimension
        return Table("vectors", (), pa.schema(fields)).with_dimension(dimension)

    @property
    def task_rows(self) -> int:
        """Enough texts of each length to fill calls: half a minute of work on two cores, some seconds on a GPU."""
        return 512 if self.settings.device == "cpu" else 16_384

    @property
    def gpus(self) -> int:
        """A GPU where the model is to run on one."""
        return int(self.settings.device.startswith("cuda"))

    @property
    def capacity(self) -> int:
        """Most tokens of a text that the model reads; of a text with more `tokens` the end is not in its vector."""
        model = read_model(self.settings.model)
        return resolve_max_tokens(self.settings, model) - _special_tokens(model)

    def configuration(self) -> Mapping[str, object]:
        """Model, engine, precision and length."""
        return configuration(self.settings)

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """Vectors of the texts; a text whose vector is not finite is rejected."""
        texts = cast(list[str], batch.column("text").to_pylist())
        vectors, tokens = Embedder.load(self.settings).encode_counted(texts)
        finite = np.isfinite(vectors).all(axis=1)
        kept = np.flatnonzero(finite)
        flat = pa.array(np.ascontiguousarray(vectors[kept]).reshape(-1), pa.float32())
        columns = [pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]), pa.array(tokens[kept], pa.int32())]
        rejects = tuple(
            Reject(int(row), "not_finite", f"the model gave no finite vector for this text of {tokens[row]} tokens")
            for row in np.flatnonzero(~finite)
        )
        return Outcome(pa.RecordBatch.from_arrays(columns, schema=self.makes.schema), kept.astype(np.int64), rejects)


def _texts(stage: Stage, reads: tuple[str, ...], text: Callable[[pa.RecordBatch], pa.Array]) -> View:
    """The view of a table with the one column `text`: what is embedded of each row."""
    return View(stage, ("text",), stage.rows, {"text": Computed(reads, text)})


def chunk_texts(chunks: Stage, form: SearchForm) -> View:
    """Title, line break and text of each chunk, as they are searched; the text alone where there is no title.

    The title costs few tokens and says what a chunk from the middle of a document is about.
    """
    return _texts(chunks, ("title", "text"), partial(_searched, form=form, text=_titled))


def node_texts(queries: Stage, form: SearchForm) -> View:
    """The `question answer` of each query (QCG-RAG, section 3.3) in the form that is searched."""
    return _texts(queries, ("question", "answer"), partial(_searched, form=form, text=question_and_answer))


def _searched(rows: pa.RecordBatch, form: SearchForm, text: Callable[[pa.RecordBatch], pa.Array]) -> pa.Array:
    return form.column(text(rows))


def _titled(chunks: pa.RecordBatch) -> pa.Array:
    titled = pc.binary_join_element_wise(chunks.column("title"), chunks.column("text"), "\n")
    return pc.coalesce(titled, chunks.column("text"))


def question_and_answer(queries: pa.RecordBatch) -> pa.Array:
    """The text of each node."""
    return pc.binary_join_element_wise(queries.column("question"), queries.column("answer"), " ")


def dimension(job: Embed) -> int:
    """Width of the job's vectors."""
    return int(job.makes.schema.field("vector").type.list_size)


@dataclass(frozen=True)
class _WithVectors:
    """Rows with the vectors of their texts; marked are those whose text is longer than the model reads."""

    made: Table  # The table.
    capacity: int  # Tokens that the model reads.

    def rows(self, results: pa.RecordBatch, inputs: pa.RecordBatch) -> tuple[pa.RecordBatch, Numbers, Numbers]:
        """The rows of `inputs` whose text has a vector."""
        found, parents = unnest(results, "rows")
        kept = inputs.take(pa.array(parents))
        columns = [(found if name == "vector" else kept).column(name) for name in self.made.schema.names]
        cut = found.column("tokens").to_numpy() > self.capacity
        return pa.RecordBatch.from_arrays(columns, schema=self.made.schema), parents, cut.astype(np.int64)


@dataclass(frozen=True)
class AddVectors(TableJob):
    """The rows of a table, each with the vector of its text; the memo keeps vectors by their texts."""

    settings: EmbedSettings  # The model, and how to run it.
    table: Table  # The table made; its columns but for `vector` are those of the rows.
    text: Callable[[Stage, SearchForm], View]  # What is embedded of each row, in a form.
    normalise: NormaliseSettings  # That form: the one in which texts are searched.

    name: ClassVar[str] = Embed.name
    version: ClassVar[int] = 2  # Raised whenever what is embedded of a row changes.
    in_files: ClassVar[bool] = True

    @property
    def engine(self) -> Literal["none", "cpu", "model"]:
        """What runs models."""
        return "model"

    @cached_property
    def embed(self) -> Embed:
        """What embeds the texts."""
        return Embed(self.settings)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The table, with vectors as wide as the model's."""
        return (self.table.with_dimension(dimension(self.embed)),)

    def configuration(self) -> Mapping[str, object]:
        """That of the embedding, and the form of what is embedded."""
        form = self._form.configuration()
        return {"embed": self.embed.version, **self.embed.configuration(), "form": form}

    @property
    def _form(self) -> SearchForm:
        return SearchForm(self.normalise)

    def prepare(self) -> None:
        """Convert the model, if that is needed."""
        prepare(self.settings)

    def parts(self, inputs: Mapping[str, Stage]) -> Sequence[tuple[Job, Source]]:
        """The embedding of the texts."""
        (rows,) = inputs.values()
        return [(self.embed, self.text(rows, self._form))]

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Embed the texts, and write the rows that got a vector."""
        (rows,) = inputs.values()
        (table,) = self.tables
        source = self.text(rows, self._form)
        done = memoise(self.embed, source, run)
        path = run.path(table) if table.name in TABLES else run.scratch_path(table.name)
        made, known = write_table(_WithVectors(table, self.embed.capacity), done, path, run, rows)
        # Only a text without a vector is told, in the form in which it was read.
        rejected = record_rejects(self.embed, source, known.rejects, run)
        notes = {"cut_texts": int(known.keys["mark"].to_numpy().sum())}
        return Made((made,), done.counts(made.rows, rejected, notes), final=rejected == 0)


EMBEDDED_PAIRS: Final = Table(
    "embedded_pairs",
    QUERIES.key,
    pa.schema(
        [
            *QUERIES.without("similarity", "kept").schema,
            pa.field("vector", VECTOR, False, {"doc": "L2-normalised embedding of `question answer`."}),
        ]
    ),
)


def embedded_chunks(settings: EmbedSettings, normalise: NormaliseSettings) -> AddVectors:
    """The table `chunks`: each chunk with the vector of its title and text."""
    return AddVectors(settings, CHUNKS, chunk_texts, normalise)


def embedded_pairs(settings: EmbedSettings, normalise: NormaliseSettings) -> AddVectors:
    """The table `embedded_pairs`: each pair with the vector of question and answer."""
    return AddVectors(settings, EMBEDDED_PAIRS, node_texts, normalise)
