"""The reader: an encoder that reads a question beside lines of its evidence.

Of each line it says how much likelier the line answers than no line does, which words of it are the answer, and whether
it says yes. Of the question it says what kind of answer it asks for. All lines of a window are read together, so that
pronouns have their antecedents and lines are weighed against each other; odds of several windows are comparable, for
the reader is trained on windows without an answer too. `jobs.training.reader` trains it; `reader.md` beside this file
is its model card.

Source: span prediction, Devlin et al., BERT, arXiv 1810.04805, 4.2; a null answer, the same, 4.3.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load
from scipy.special import erf, log_softmax, softmax
from tokenizers import Tokenizer

from quern.jobs.models.batches import Batching
from quern.jobs.models.bert import token_graph
from quern.jobs.models.folders import DEFAULT_MODEL, ModelError, find_folder, load_tokenizer, read_model
from quern.jobs.models.machine import available_cores, has_bf16, import_openvino, in_background
from quern.schemas.digests import FINGERPRINT_BYTES

ReaderPrecision = Literal["f32", "bf16"]

FILE: Final = Path(__file__).with_name("reader.safetensors")
FORMAT: Final = "quern-reader-1"
# Tokens of a question, a title with its date, a line, and a window; the reader is trained by the same ones.
QUESTION, TITLE, LINE, WINDOW = 60, 32, 96, 400
_TITLE_WORTH: Final = 8  # Tokens that a page must have room for beside its title.
_SPAN: Final = 40  # Tokens of the longest span.
KINDS: Final = ("span", "verdict", "list")
Kind = Literal["span", "verdict", "list"]
# Names of weights in the file: an encoder's matrix in int8 has the scale of each row beside it.
SCALE: Final = ".scale"

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Passage:
    """Lines of a page, in its order; `title` is its title with its date."""

    title: str
    lines: Sequence[str]


@dataclass(frozen=True)
class LineReading:
    """What the reader makes of a line."""

    odds: float  # Log odds that it answers against that no line does.
    yes: float  # Log odds that it answers by yes.
    start: int  # First character of the words that answer.
    end: int  # Character behind them.
    sure: float  # Probability of that span among the spans of the line, in [0, 1].


@dataclass(frozen=True)
class Reading:
    """What the reader makes of a window: of each passage and line, None where it had no room; and of the question."""

    lines: Sequence[Sequence[LineReading | None]]
    kinds: Mapping[str, float]


@dataclass(frozen=True)
class Tokens:
    """Ids of a text without special ones, and the first and last character of each."""

    ids: list[int]
    offsets: list[tuple[int, int]]


@dataclass(frozen=True)
class Window:
    """Token ids of a question and lines, and of each passage and line the place of its tokens; None without room."""

    ids: list[int]
    places: list[list[slice | None]]


def lay_out(
    question: str, passages: Sequence[Passage], special: Sequence[int], tokens: Callable[[str], Tokens]
) -> Window:
    """A question and passages as a window, in training as in use; passages that come first have room first.

    `special` are the ids of the tokens that begin and separate.
    """
    cls, sep = special
    ids = [cls, *tokens(question).ids[:QUESTION], sep]
    places: list[list[slice | None]] = []
    for passage in passages:
        title = tokens(passage.title).ids[:TITLE]
        if len(ids) + len(title) + _TITLE_WORTH > WINDOW:
            places.append([None for _ in passage.lines])
            continue
        ids += [*title, sep]
        places.append([])
        for line in passage.lines:
            own = tokens(line).ids[:LINE]
            room = bool(own) and len(ids) + len(own) < WINDOW
            places[-1].append(slice(len(ids), len(ids) + len(own)) if room else None)
            ids += own if room else []
        ids.append(sep)
    return Window(ids, places)


class Reader:
    """The reader in this process, loaded when it first reads.

    Attributes:
        fingerprint: Digest of its weights.
    """

    def __init__(self, file: Path = FILE, precision: ReaderPrecision = "f32") -> None:
        """Find the weights in `file`.

        Raises:
            ModelError: The file is missing, the model that it is trained from is not on this machine, or the processor
                lacks the precision.
        """
        find_folder(DEFAULT_MODEL, "answer.windows")
        if precision == "bf16" and not has_bf16():
            raise ModelError("answer.precision bf16: this processor has no bf16 arithmetic; set it to f32")
        self._file, self._precision = file, precision
        try:
            self._written = file.read_bytes()
        except OSError as error:
            raise ModelError(f"reader {file} cannot be read: {error.strerror}") from error
        own = b"" if precision == "f32" else precision.encode()
        self.fingerprint = blake2b(self._written + own, digest_size=FINGERPRINT_BYTES).hexdigest()
        self._tokens = lru_cache(maxsize=50_000)(self._split)
        self._own = threading.local()
        self._compiled: Future[Any] | None = None

    @staticmethod
    def load(precision: ReaderPrecision = "f32") -> Reader:
        """The packaged reader, one for each process and precision.

        Raises:
            ModelError: As of `Reader`.
        """
        return _load(precision)

    def prepare(self) -> Future[Any]:
        """Begin to load the model in the background; the result is the model."""
        if self._compiled is None:
            self._compiled = in_background(self._compile)
        return self._compiled

    def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Reading]:
        """Start to read a window in the background; the result waits for it."""
        window = lay_out(question, passages, self._tokenizer.encode("").ids, self._tokens)
        return self._threads.submit(self._read, window, [[*p.lines] for p in passages]).result

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """What the reader makes of the `passages` beside the question; `lay_out` tells which lines have room."""
        return self.begin(question, passages)()

    def _read(self, window: Window, lines: Sequence[Sequence[str]]) -> Reading:
        # A vector for each token, shape (tokens, d).
        (call,) = Batching(texts=1, tokens=WINDOW, positions=None, pad_id=0).calls([window.ids])
        result: Floats = self._own.request.infer({"input_ids": call.ids, "attention_mask": call.mask})[0][0]
        hidden = result.astype(np.float32)
        kinds = softmax(self._linear("kind", hidden[:1])[0])
        none = float(self._score("none", hidden[:1])[0])
        marks = self._linear("span", hidden)
        readings: list[list[LineReading | None]] = []
        for places, texts in zip(window.places, lines, strict=True):
            readings.append([])
            for at, text in zip(places, texts, strict=True):
                if at is None:
                    readings[-1].append(None)
                    continue
                mean, offsets = hidden[at].mean(axis=0, keepdims=True), self._tokens(text).offsets
                first, last, sure = best_span(marks[at])
                odds, yes = float(self._score("line", mean)[0]) - none, float(self._score("yes", mean)[0])
                readings[-1].append(LineReading(odds, yes, offsets[first][0], offsets[last][1], sure))
        return Reading(readings, dict(zip(KINDS, kinds.tolist(), strict=True)))

    def _score(self, head: str, vectors: Floats) -> npt.NDArray[np.float64]:
        """A score of each of `vectors`, shape (n, d), by a net with one hidden layer."""
        x = self._linear(f"{head}.inner", vectors)
        gelu = 0.5 * x * (1.0 + erf(x / np.sqrt(2.0)))
        scores: npt.NDArray[np.float64] = (gelu @ self._weights[f"{head}.outer.weight"].T)[:, 0]
        scores += self._weights[f"{head}.outer.bias"][0]
        return scores

    def _linear(self, name: str, vectors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        # In f64: in f32 the last bits of a product depend on the number of threads.
        product: npt.NDArray[np.float64] = vectors @ self._weights[f"{name}.weight"].T
        product += self._weights[f"{name}.bias"]
        return product

    def _split(self, text: str) -> Tokens:
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        return Tokens(encoded.ids, encoded.offsets)

    @cached_property
    def _weights(self) -> Mapping[str, npt.NDArray[np.float64]]:
        """The weights of the heads."""
        return {n: v.astype(np.float64) for n, v in self._read_file().items() if not n.startswith("encoder.")}

    def _read_file(self) -> Mapping[str, npt.NDArray[Any]]:
        """What the file holds, by name.

        Raises:
            ModelError: The file is damaged or of another format.
        """
        try:
            written = load(self._written)
        except SafetensorError as error:
            raise ModelError(f"reader {self._file} is damaged: {error}") from error
        if FORMAT not in written:
            raise ModelError(f"reader {self._file} is not of the format {FORMAT}: train it again with this version")
        return written

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer(read_model(DEFAULT_MODEL))

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """The threads that read, each with a request of its own."""
        compiled = self.prepare().result()

        def start() -> None:
            self._own.request = compiled.create_infer_request()

        return ThreadPoolExecutor(available_cores(), "reader", start)

    def _compile(self) -> Any:
        written = self._read_file()
        encoder = {n: values for n, values in dequantised(written).items() if n.startswith("encoder.")}
        graph = token_graph(read_model(DEFAULT_MODEL), encoder)
        # A window has one core, whatever the machine has: its sums are then made in one order.
        properties = {
            "INFERENCE_PRECISION_HINT": self._precision,
            "INFERENCE_NUM_THREADS": available_cores(),
            "NUM_STREAMS": available_cores(),
            "ENABLE_CPU_PINNING": False,
        }
        return import_openvino().Core().compile_model(graph, "CPU", properties)


def dequantised(written: Mapping[str, npt.NDArray[Any]]) -> dict[str, Floats]:
    """The weights of a reader's file in f32; a product of an integer of 8 bits and its scale is rounded once."""
    one = np.float32(1.0)
    return {
        name: values.astype(np.float32, copy=False) * written.get(name + SCALE, one)
        for name, values in written.items()
        if not name.endswith(SCALE)
    }


def best_span(marks: npt.NDArray[Any]) -> tuple[int, int, float]:
    """The likeliest first and last token of an answer by scores of both, (tokens, 2), and the probability of both."""
    first, last = log_softmax(marks[:, 0]), log_softmax(marks[:, 1])
    together = first[:, None] + last[None]
    n = np.arange(len(first))
    together[(n[None] < n[:, None]) | (n[None] - n[:, None] >= _SPAN)] = -np.inf
    at = int(np.argmax(together))
    start, end = divmod(at, len(last))
    return start, end, float(np.exp(together[start, end]))


@cache
def _load(precision: ReaderPrecision) -> Reader:
    return Reader(precision=precision)
