"""A reader of our own: the default embedding model with changes of low rank, which reads a question beside some lines.

It says of each line how likely it is to answer, and how likely none of them does. All lines are read at once, in the
order of their pages, so that `she` and `the ship` are known and one line is weighed against another. What it was
trained on, and how, is told in `docs/explanation/reader.md`; its weights lie beside this file.

Source: changes of low rank, Hu et al., LoRA, arXiv 2106.09685, section 4.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load
from scipy.special import erf
from tokenizers import Tokenizer

from quern.jobs.models.batches import Batching
from quern.jobs.models.bert import token_graph
from quern.jobs.models.cores import available_cores
from quern.jobs.models.folders import DEFAULT_MODEL, find_folder, load_tokenizer, read_model
from quern.jobs.models.precision import import_openvino, resolve_precision
from quern.schemas.digests import FINGERPRINT_BYTES
from quern.schemas.settings import EmbedSettings

FILE: Final = Path(__file__).with_name("line_reader.safetensors")
# As it was trained: tokens of a question, a title, a line, and of all together.
_QUESTION, _TITLE, _LINE, _MOST = 60, 24, 80, 224
_ONE: Final = Batching(texts=1, tokens=_MOST, positions=None, pad_id=0)
_LEFT: Final = 8  # Tokens that a page needs beside its title to be worth its place.

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Passage:
    """Lines of a page, in its order."""

    title: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Reading:
    """What was read of the lines of some passages.

    Attributes:
        lines: Of each passage and line, the logarithm of the probability that it answers if one of all does; None
            where there was no room for it.
        none: The logarithm of the odds that none of them answers.
    """

    lines: Sequence[Sequence[float | None]]
    none: float


@dataclass(frozen=True)
class Laid:
    """Token ids of a question and of lines, and for each passage and line where its tokens are; None without room."""

    ids: list[int]
    places: list[list[slice | None]]


def lay(question: str, passages: Sequence[Passage], tokenizer: Tokenizer, tokens: Callable[[str], list[int]]) -> Laid:
    """A question and passages as the reader is given them, in training as later; those that come first have room first.

    Args:
        question: What is asked.
        passages: The lines to read.
        tokenizer: Of the model.
        tokens: Ids of a text by it, without special ones.
    """
    cls, sep = tokenizer.encode("").ids
    ids = [cls, *tokens(question)[:_QUESTION], sep]
    places: list[list[slice | None]] = []
    for passage in passages:
        title = tokens(passage.title)[:_TITLE]
        if len(ids) + len(title) + _LEFT > _MOST:
            places.append([None for _ in passage.lines])
            continue
        ids += [*title, sep]
        mine: list[slice | None] = []
        for line in passage.lines:
            own = tokens(line)[:_LINE]
            room = bool(own) and len(ids) + len(own) < _MOST
            mine.append(slice(len(ids), len(ids) + len(own)) if room else None)
            ids += own if room else []
        places.append(mine)
        ids.append(sep)
    return Laid(ids, places)


@dataclass(frozen=True)
class _Loaded:
    """What reads: the tokenizer, a request of the encoder, and the weights of the nets behind it."""

    tokenizer: Tokenizer
    request: Any
    weights: Mapping[str, Floats]


class LineReader:
    """The reader in this process, loaded when it first reads. Not for use by several threads at once.

    Attributes:
        fingerprint: Digest of its weights.
    """

    def __init__(self) -> None:
        """Find it.

        Raises:
            ModelError: The model that it changes is not on this machine.
        """
        find_folder(DEFAULT_MODEL, "answer.reading")
        self._written = FILE.read_bytes()
        self.fingerprint = blake2b(self._written, digest_size=FINGERPRINT_BYTES).hexdigest()
        self._tokens = lru_cache(maxsize=50_000)(self._encoded)

    @staticmethod
    def load() -> LineReader:
        """The reader, one for each process.

        Raises:
            ModelError: The model that it changes is not on this machine.
        """
        return _load()

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """What each line of the `passages` has to say to the question; see `lay` for which are read."""
        laid = lay(question, passages, self._model.tokenizer, self._tokens)
        (call,) = _ONE.calls([laid.ids])
        hidden = self._model.request.infer({"input_ids": call.ids, "attention_mask": call.mask})[0][0].astype(
            np.float32
        )
        at = [place for places in laid.places for place in places if place is not None]
        if not at:
            return Reading([[None for _ in p.lines] for p in passages], math.inf)
        odds = self._score("line", np.stack([hidden[place].mean(axis=0) for place in at]))
        every = float(np.logaddexp.reduce(odds))
        none = float(self._score("none", hidden[:1])[0])
        likely = iter((odds - every).tolist())
        told = [[None if place is None else next(likely) for place in places] for places in laid.places]
        return Reading(told, none - every)

    def _score(self, head: str, vectors: Floats) -> Floats:
        """A score for each of `vectors`, shape (n, d): a net of one layer between."""
        w = self._model.weights
        x = vectors @ w[f"{head}.inner.weight"].T + w[f"{head}.inner.bias"]
        gelu = 0.5 * x * (1.0 + erf(x / np.float32(math.sqrt(2))))
        found: Floats = gelu @ w[f"{head}.outer.weight"][0] + w[f"{head}.outer.bias"][0]
        return found

    def _encoded(self, text: str) -> list[int]:
        ids: list[int] = self._model.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    @cached_property
    def _model(self) -> _Loaded:
        """The model in memory.

        Raises:
            ModelError: The model that it changes is another.
        """
        weights = {name: values.astype(np.float32) for name, values in load(self._written).items()}
        model = read_model(DEFAULT_MODEL)
        changed = [name.removesuffix(".a") for name in weights if name.endswith(".a")]
        changes = {f"{name}.weight": weights[f"{name}.b"] @ weights[f"{name}.a"] for name in changed}
        properties = {
            "INFERENCE_PRECISION_HINT": "bf16" if resolve_precision(EmbedSettings()) == "bf16" else "f32",
            "INFERENCE_NUM_THREADS": available_cores(),
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        compiled = import_openvino().Core().compile_model(token_graph(model, changes), "CPU", properties)
        return _Loaded(load_tokenizer(model), compiled.create_infer_request(), weights)


@cache
def _load() -> LineReader:
    return LineReader()
