"""Embeddings of texts: the vectors of chunks, nodes, events and questions.

A vector does not depend on what it is batched with (`jobs.models.batches`). On a GPU that holds only up to last digits:
there the first vector that is committed to the memo is the vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from functools import cached_property, lru_cache
from importlib.metadata import version

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from quern.jobs.models.batches import Batching
from quern.jobs.models.folders import (
    Model,
    ModelError,
    known_scripts,
    load_tokenizer,
    model_fingerprint,
    read_model,
    readable,
    resolve_max_tokens,
)
from quern.jobs.models.machine import Precision, available_cores, check_precision, in_background
from quern.jobs.models.openvino_runtime import OpenVinoRunner, openvino_file, openvino_version
from quern.jobs.models.torch_runtime import TorchRunner
from quern.schemas.extras import require
from quern.schemas.settings import EmbedSettings

Vectors = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int32]
Runner = OpenVinoRunner | TorchRunner

# Texts and tokens of a call by default. On a processor the number of texts makes no difference to speed (8 to 128 of 30
# tokens, 1 to 16 of 330: within 5%), so calls are small enough to share out and to need little memory.
_CPU_CALL = (32, 4096)
_GPU_CALL = (1024, 131_072)


def _threads(settings: EmbedSettings) -> int:
    return settings.threads or available_cores()


def _runner(model: Model, settings: EmbedSettings) -> Runner:
    check_precision(settings)
    return _loaded(model, settings.engine, settings.device, settings.precision, _threads(settings))


@lru_cache(maxsize=4)
def _loaded(model: Model, engine: str, device: str, precision: Precision, threads: int) -> Runner:
    """The model in memory, once for documents and questions where both have the same precision."""
    if engine == "openvino":
        return OpenVinoRunner(model, precision, threads)
    _require_torch()
    return TorchRunner(model, precision, threads, device)


def _require_torch() -> None:
    require("torch", "embed.engine torch", "set embed.engine to openvino")


class Embedder:
    """An embedding model in this process. Not for use by several threads at once.

    Attributes:
        dimension: Numbers of a vector.
        capacity: Most tokens of a text that the model reads, special tokens excluded.
        batching: How texts share calls of the model.
    """

    def __init__(self, settings: EmbedSettings, model: Model, tokenizer: Tokenizer) -> None:
        special, max_tokens = tokenizer.num_special_tokens_to_add(False), resolve_max_tokens(settings, model)
        if max_tokens <= special:
            raise ModelError(f"embed.max_tokens {max_tokens}: leaves no room beside {special} special tokens; raise it")
        self.dimension = model.dimension
        self.capacity = max_tokens - special
        texts, tokens = _CPU_CALL if settings.device == "cpu" else _GPU_CALL
        self.batching = Batching(settings.batch or texts, tokens, model.positions, model.pad_id)
        self._tokenizer, self._max_tokens = tokenizer, max_tokens
        self._model, self._settings = model, settings
        self._loading: Future[Runner] | None = None

    @staticmethod
    def load(settings: EmbedSettings) -> Embedder:
        """The model of `settings`, loaded once per process.

        Raises:
            ModelError: The model is not on this machine or cannot be used.
        """
        embedder = _load(settings)
        _ = embedder._runner
        return embedder

    @staticmethod
    def for_questions(settings: EmbedSettings) -> Embedder:
        """What embeds the questions that search vectors made under `settings`; see `for_questions`.

        That the model cannot be used is told only when it embeds: questions whose vectors are known need it not.
        """
        return _load(for_questions(settings))

    def readable(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Share of each text's letters that are of scripts which the model knows, shape (texts,)."""
        return readable(texts, self._scripts)

    def prepare(self) -> None:
        """Begin to load the model in the background."""
        if self._loading is None:
            self._loading = in_background(lambda: _runner(self._model, self._settings))

    @cached_property
    def _runner(self) -> Runner:
        """The model, ready to run: it takes a second, and who finds all vectors remembered needs none."""
        return self._loading.result() if self._loading else _runner(self._model, self._settings)

    @cached_property
    def _scripts(self) -> frozenset[str]:
        return known_scripts(self._tokenizer)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """L2-normalised vectors of `texts`, float32 of shape (n, d); NaN where the model gave no direction."""
        return self.encode_counted(texts)[0]

    def encode_counted(self, texts: Sequence[str]) -> tuple[Vectors, Counts]:
        """The vectors as by `encode`, and each text's tokens before any was cut off, int32 of shape (n,)."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors, np.empty(0, dtype=np.int32)
        encodings: list[Encoding] = self._tokenizer.encode_batch(list(texts))
        lengths = np.fromiter(map(len, encodings), dtype=np.int32, count=len(texts))
        ids = [encoding.ids for encoding in encodings]
        for row in np.flatnonzero(lengths > self._max_tokens).tolist():
            # Encoded again, because the closing special token must stay when the text is cut off.
            plain = self._tokenizer.encode(texts[row], add_special_tokens=False)
            plain.truncate(self.capacity)
            ids[row] = self._tokenizer.post_process(plain).ids
        self._runner.run(self.batching.calls(ids), vectors)
        # Rows of length 1; a row of zeros or of numbers that are not finite becomes NaN.
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            norms = np.sqrt(np.add.reduce(vectors * vectors, axis=1, keepdims=True))
            norms = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)
            unit = np.asarray(vectors / norms, dtype=np.float32)
        return unit, np.asarray(lengths - (self._max_tokens - self.capacity), dtype=np.int32)


def for_questions(settings: EmbedSettings) -> EmbedSettings:
    """How the questions are embedded that search vectors made under `settings`: on a processor in f32.

    Questions are few. bf16 moves a cosine by up to .002, half of that by the question, and documents whose
    cosines are that near change places.
    """
    if settings.device != "cpu" or settings.precision == "f32":
        return settings
    return settings.model_copy(update={"precision": "f32"})


@lru_cache(maxsize=4)
def _load(settings: EmbedSettings) -> Embedder:
    model = read_model(settings.model)
    return Embedder(settings, model, load_tokenizer(model))


@lru_cache(maxsize=4)
def prepare(settings: EmbedSettings) -> None:
    """Do what is done once per machine, before workers start: convert the model if OpenVINO shall run it.

    Raises:
        ModelError: The model is not on this machine or cannot be used.
    """
    check_precision(settings)
    model = read_model(settings.model)
    load_tokenizer(model)
    if settings.engine == "openvino":
        openvino_file(model)
    else:
        _require_torch()


def configuration(settings: EmbedSettings) -> dict[str, object]:
    """Everything that a vector depends on beside its text; not `batch`, nor with OpenVINO `threads`."""
    model = read_model(settings.model)
    depends_on: dict[str, object] = {
        "model": model_fingerprint(model),
        "pooling": model.pooling,
        "engine": settings.engine,
        # Release of what computes the vectors.
        "runtime": (openvino_version() if settings.engine == "openvino" else ".".join(version("torch").split(".")[:2])),
        "precision": settings.precision,
        "tokenizers": version("tokenizers"),
        "max_tokens": resolve_max_tokens(settings, model),
    }
    if settings.device != "cpu":
        return {**depends_on, "device": settings.device.partition(":")[0]}
    return depends_on if settings.engine == "openvino" else {**depends_on, "threads": _threads(settings)}
