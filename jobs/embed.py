"""Embeddings of texts: the vectors of chunks, nodes, events and questions.

A vector does not depend on what it is batched with: a text is padded to its own length rounded up to a multiple
of 16, never to the longest text of its batch, and only texts of one padded length share a call of the model.
Padding to the longest would change last digits, and a last digit can flip an edge of the graph.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tokenizers import Encoding, Tokenizer

from jobs.contract import Job, Outcome, Reject
from jobs.models import (
    Model,
    ModelError,
    forbid_network,
    import_openvino,
    load_tokenizer,
    model_fingerprint,
    read_model,
    resolve_max_tokens,
    resolve_precision,
)
from schemas.groups import EmbedSettings
from schemas.tables import VECTOR, Table

Vectors = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
Run = Callable[[Ids, Ids], Vectors]

PAD_TO = 16
# Raised when the converted graph changes, so that a graph of an older release is not taken from the cache.
_CONVERSION = 1


def cache_folder() -> Path:
    """Where converted models are kept: `QUERN_CACHE`, else `quern` in the user's cache folder."""
    if own := os.environ.get("QUERN_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quern"


def _runtime_version(engine: str) -> str:
    return ".".join(version(engine).split(".")[:2])


def _convert(model: Model, target: Path) -> None:
    """Make the folder `target` whole or not at all, in a process that gives its memory back."""
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=".converting-"))
    command = [sys.executable, "-m", "jobs.pooling", str(model.folder), str(scratch / "model.xml")]
    path = os.pathsep.join(p or str(Path.cwd()) for p in sys.path)
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise ModelError(
                f"model {model.folder} cannot be converted for OpenVINO ({last}); set embed.engine to torch"
            )
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def openvino_file(model: Model) -> Path:
    """The model as an OpenVINO file, converted on first use of this model and OpenVINO version.

    Workers that start together wait for one of them to convert it.

    Raises:
        ModelError: The model cannot be converted.
    """
    key = f"{model_fingerprint(model)}-{_runtime_version('openvino')}-{_CONVERSION}"
    target = cache_folder() / "openvino" / key
    file = target / "model.xml"
    if not file.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.with_suffix(target.suffix + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.is_file():
                _convert(model, target)
    return file


def _threads(settings: EmbedSettings) -> int:
    if settings.threads:
        return settings.threads
    # What this process may use, not what the machine has: a container may hold it to a few cores.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _openvino_run(model: Model, settings: EmbedSettings, precision: str) -> Run:
    openvino = import_openvino()
    properties = {
        "INFERENCE_PRECISION_HINT": precision,
        "INFERENCE_NUM_THREADS": _threads(settings),
        "NUM_STREAMS": 1,
        "ENABLE_HYPER_THREADING": True,
        # Pinned threads of several workers would all sit on the same first cores.
        "ENABLE_CPU_PINNING": False,
    }
    file = openvino_file(model)
    try:
        request = openvino.Core().compile_model(str(file), "CPU", properties).create_infer_request()
    except RuntimeError as error:
        raise ModelError(
            f"converted model {file} cannot be loaded; delete its folder to convert it anew: {error}"
        ) from error

    def run(ids: Ids, mask: Ids) -> Vectors:
        result = request.infer({"input_ids": ids, "attention_mask": mask}, share_inputs=True)
        # The request's memory is written over by the next call.
        return np.array(result[0], dtype=np.float32)

    return run


def _torch_run(model: Model, settings: EmbedSettings, precision: str) -> Run:
    forbid_network()
    import torch

    from jobs.pooling import Pooled

    torch.set_num_threads(_threads(settings))
    module = Pooled(model, torch.bfloat16 if precision == "bf16" else torch.float32)

    def run(ids: Ids, mask: Ids) -> Vectors:
        with torch.inference_mode():
            vectors = module(torch.from_numpy(ids), torch.from_numpy(mask))
        return np.asarray(vectors.float().numpy(), dtype=np.float32)

    return run


class Embedder:
    """An embedding model in this process. Not for use by several threads at once.

    Attributes:
        dimension: Numbers of a vector.
        capacity: Most tokens of a text that the model reads, special tokens excluded.
    """

    def __init__(self, model: Model, tokenizer: Tokenizer, run: Run, max_tokens: int, batch: int) -> None:
        special = tokenizer.num_special_tokens_to_add(False)
        if max_tokens <= special:
            raise ModelError(f"embed.max_tokens {max_tokens}: leaves no room beside {special} special tokens; raise it")
        self.dimension = model.dimension
        self.capacity = max_tokens - special
        self._model, self._tokenizer, self._run = model, tokenizer, run
        self._max_tokens, self._batch = max_tokens, batch

    @staticmethod
    def load(settings: EmbedSettings) -> Embedder:
        """The model of `settings`, loaded once per process.

        Raises:
            ModelError: The model is not on this machine or cannot be used.
        """
        return _load(settings)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """L2-normalised vectors of `texts`, float32 of shape (n, d); NaN where the model gave no direction."""
        return self.encode_counted(texts)[0]

    def encode_counted(self, texts: Sequence[str]) -> tuple[Vectors, Counts]:
        """The vectors as by `encode`, and each text's tokens before any was cut off, int32 of shape (n,)."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors, np.empty(0, dtype=np.int32)
        ids, counts = self._token_ids(texts)
        for rows, length in _same_length_batches(ids, self._batch, self._model.positions):
            vectors[rows] = self._run(*_pad([ids[row] for row in rows], length, self._model.pad_id))
        return _normalise(vectors), counts

    def _token_ids(self, texts: Sequence[str]) -> tuple[list[list[int]], Counts]:
        """Token ids with special tokens, at most `max_tokens` a text; and the counts without special tokens."""
        encodings: list[Encoding] = self._tokenizer.encode_batch(list(texts))
        lengths = np.fromiter(map(len, encodings), dtype=np.int32, count=len(texts))
        ids = [encoding.ids for encoding in encodings]
        for row in np.flatnonzero(lengths > self._max_tokens).tolist():
            # Encoded again, because the closing special token must stay when the text is cut off.
            plain = self._tokenizer.encode(texts[row], add_special_tokens=False)
            plain.truncate(self.capacity)
            ids[row] = self._tokenizer.post_process(plain).ids
        return ids, np.asarray(lengths - (self._max_tokens - self.capacity), dtype=np.int32)


def _same_length_batches(
    ids: Sequence[Sequence[int]], batch: int, positions: int | None
) -> Iterator[tuple[npt.NDArray[np.intp], int]]:
    """Rows of at most `batch` texts of one padded length, with that length; shortest texts first."""
    lengths = np.maximum(1, np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)))
    padded = -(-lengths // PAD_TO) * PAD_TO
    if positions is not None:
        padded = np.minimum(padded, positions)
    for length in np.unique(padded):
        rows = np.flatnonzero(padded == length)
        for first in range(0, len(rows), batch):
            yield rows[first : first + batch], int(length)


def _pad(ids: Sequence[Sequence[int]], length: int, pad_id: int) -> tuple[Ids, Ids]:
    """Token ids and attention mask, each int64 of shape (n, length)."""
    padded = np.full((len(ids), length), pad_id, dtype=np.int64)
    mask = np.zeros((len(ids), length), dtype=np.int64)
    for row, tokens in enumerate(ids):
        padded[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return padded, mask


def _normalise(vectors: Vectors) -> Vectors:
    """Rows of length 1; a row of zeros or of numbers that are not finite becomes NaN."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        norms = np.sqrt(np.add.reduce(vectors * vectors, axis=1, keepdims=True))
        return np.asarray(vectors / np.where(np.isfinite(norms) & (norms > 0), norms, np.nan), dtype=np.float32)


@lru_cache(maxsize=2)
def _load(settings: EmbedSettings) -> Embedder:
    model = read_model(settings.model)
    start = _openvino_run if settings.engine == "openvino" else _torch_run
    run = start(model, settings, resolve_precision(settings))
    return Embedder(model, load_tokenizer(model), run, resolve_max_tokens(settings, model), settings.batch)


def prepare(settings: EmbedSettings) -> None:
    """Do what is done once per machine, before workers start: convert the model if OpenVINO shall run it.

    Raises:
        ModelError: The model is not on this machine or cannot be used.
    """
    if settings.engine == "openvino":
        openvino_file(read_model(settings.model))


@dataclass(frozen=True)
class Embed(Job):
    """Vectors of texts, with the number of tokens of each so that texts too long for the model can be counted.

    Attributes:
        settings: Model and how to run it; `auto` precision is resolved when the job is made, so that a worker
            on another processor fails rather than mix precisions.
    """

    name: ClassVar[str] = "embed"
    version: ClassVar[int] = 1
    engine: ClassVar[Literal["cpu", "model"]] = "model"
    reads: ClassVar[tuple[str, ...]] = ("text",)
    key: ClassVar[str] = "text"

    settings: EmbedSettings

    def __post_init__(self) -> None:
        """Resolve `auto` precision."""
        settings = self.settings.model_copy(update={"precision": resolve_precision(self.settings)})
        object.__setattr__(self, "settings", settings)

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
    def capacity(self) -> int:
        """Most tokens of a text that the model reads; of a text with more `tokens` the end is not in its vector."""
        model = read_model(self.settings.model)
        return resolve_max_tokens(self.settings, model) - load_tokenizer(model).num_special_tokens_to_add(False)

    def configuration(self) -> Mapping[str, object]:
        """Model, engine, precision and length; not `batch`, which changes no vector, nor with OpenVINO `threads`."""
        model = read_model(self.settings.model)
        engine = self.settings.engine
        configuration: dict[str, object] = {
            "model": model_fingerprint(model),
            "pooling": model.pooling,
            "engine": engine,
            "runtime": _runtime_version(engine),
            "precision": self.settings.precision,
            "tokenizers": version("tokenizers"),
            "max_tokens": resolve_max_tokens(self.settings, model),
        }
        return configuration if engine == "openvino" else {**configuration, "threads": _threads(self.settings)}

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
