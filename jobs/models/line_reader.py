"""A reader of our own: the default embedding model with changes of low rank, which reads a question beside some lines.

It says of each line how likely it is to answer, and how likely none of them does. All lines are read at once, in the
order of their pages, so that `she` and `the ship` are known and one line is weighed against another. Other weights of
the same shape say of a line alone whether it answers by yes or by no. What both were trained on, and how, is told in
`docs/explanation/reader.md`; they lie beside this file.

Source: changes of low rank, Hu et al., LoRA, arXiv 2106.09685, section 4.1.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load
from scipy.special import erf, logsumexp
from tokenizers import Tokenizer

from quern.jobs.models.batches import Batching
from quern.jobs.models.bert import token_graph
from quern.jobs.models.cores import available_cores
from quern.jobs.models.folders import DEFAULT_MODEL, find_folder, load_tokenizer, read_model
from quern.jobs.models.precision import import_openvino
from quern.schemas.digests import FINGERPRINT_BYTES

FILE: Final = Path(__file__).with_name("line_reader.safetensors")
OF_VERDICTS: Final = Path(__file__).with_name("verdict_reader.safetensors")
# As it was trained: tokens of a question, a title, a line, and of all together.
_QUESTION, _TITLE, _LINE, _MOST = 60, 24, 80, 400
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


class LineReader:
    """The reader in this process, loaded when it first reads. Not for use by several threads at once.

    Attributes:
        fingerprint: Digest of its weights.
    """

    def __init__(self, file: Path = FILE) -> None:
        """Find it, or what is told by the weights in another `file`.

        Raises:
            ModelError: The model that it changes is not on this machine.
        """
        find_folder(DEFAULT_MODEL, "answer.reading")
        self._written = file.read_bytes()
        self.fingerprint = blake2b(self._written, digest_size=FINGERPRINT_BYTES).hexdigest()
        self._tokens = lru_cache(maxsize=50_000)(self._encoded)
        self._own = threading.local()

    @staticmethod
    def load(file: Path = FILE) -> LineReader:
        """The reader by the weights in `file`, one for each process.

        Raises:
            ModelError: The model that it changes is not on this machine.
        """
        return _load(file)

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """What each line of the `passages` has to say to the question; see `lay` for which are read."""
        return self.begin(question, passages)()

    def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Reading]:
        """Begin to read beside what else is done; what is returned waits for what was read."""
        laid = lay(question, passages, self._tokenizer, self._tokens)
        at = [place for places in laid.places for place in places if place is not None]
        if not at:
            nothing = Reading([[None for _ in p.lines] for p in passages], math.inf)
            return lambda: nothing
        reading = self._threads.submit(self._read, laid, at)
        return reading.result

    def says_yes(self, question: str, passage: Passage) -> float:
        """The log odds that the last line of a `passage` answers by yes, by the weights of `OF_VERDICTS`.

        0 where the line has no words, or no room.
        """
        laid = lay(question, [passage], self._tokenizer, self._tokens)
        last = laid.places[0][-1]
        return 0.0 if last is None else self._threads.submit(self._yes, laid, last).result()

    def _yes(self, laid: Laid, line: slice) -> float:
        return float(self._score("yes", self._hidden(laid)[line].mean(axis=0, keepdims=True))[0])

    def _hidden(self, laid: Laid) -> Floats:
        """A vector for each token, shape (n, d)."""
        (call,) = _ONE.calls([laid.ids])
        inputs = {"input_ids": call.ids, "attention_mask": call.mask}
        found: Floats = self._own.request.infer(inputs)[0][0].astype(np.float32)
        return found

    def _read(self, laid: Laid, at: Sequence[slice]) -> Reading:
        hidden = self._hidden(laid)
        means = np.stack([hidden[place].mean(axis=0) for place in at])
        odds = self._score("line", means).astype(np.float64)
        every = float(logsumexp(odds))
        none = float(self._score("none", hidden[:1])[0])
        likely = iter((odds - every).tolist())
        told = [[None if place is None else next(likely) for place in places] for places in laid.places]
        return Reading(told, none - every)

    def _score(self, head: str, vectors: Floats) -> Floats:
        """A score for each of `vectors`, shape (n, d): a net of one layer between."""
        w = self._weights
        x = vectors @ w[f"{head}.inner.weight"].T + w[f"{head}.inner.bias"]
        gelu = 0.5 * x * (1.0 + erf(x / math.sqrt(2)))
        found: Floats = (gelu @ w[f"{head}.outer.weight"][0] + w[f"{head}.outer.bias"][0]).astype(np.float32)
        return found

    def _encoded(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    @cached_property
    def _weights(self) -> Mapping[str, npt.NDArray[np.float64]]:
        # Products of them are rounded to f32 from f64: in f32 their last bits depend on the number of threads.
        return {name: values.astype(np.float64) for name, values in load(self._written).items()}

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer(read_model(DEFAULT_MODEL))

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """What reads, each thread by a request of its own.

        Raises:
            ModelError: The model that it changes is another.
        """
        compiled = self._compiled()

        def begin() -> None:
            self._own.request = compiled.create_infer_request()

        return ThreadPoolExecutor(available_cores(), "reader", begin)

    def _compiled(self) -> Any:
        """The model in memory."""
        weights, model = self._weights, read_model(DEFAULT_MODEL)
        changed = [name.removesuffix(".a") for name in weights if name.endswith(".a")]
        changes = {f"{n}.weight": (weights[f"{n}.b"] @ weights[f"{n}.a"]).astype(np.float32) for n in changed}
        # A reading has one core, whatever the machine has: its sums are then made in one order.
        properties = {
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": available_cores(),
            "NUM_STREAMS": available_cores(),
            "ENABLE_CPU_PINNING": False,
        }
        return import_openvino().Core().compile_model(token_graph(model, changes), "CPU", properties)


@cache
def _load(file: Path) -> LineReader:
    return LineReader(file)
