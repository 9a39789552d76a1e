"""The job that makes the vectors of chunks, nodes and events; see `.embedder`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, cast

import numpy as np
import pyarrow as pa

from quern.jobs.core.contract import Job, Outcome, Reject
from quern.jobs.models.folders import Model, load_tokenizer, read_model, resolve_max_tokens
from quern.jobs.vectors.embedder import Embedder, configuration
from quern.schemas.settings import EmbedSettings
from quern.schemas.tables import VECTOR, Table


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
        return Table("vectors", (), pa.schema(fields), served=False).with_dimension(dimension)

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
