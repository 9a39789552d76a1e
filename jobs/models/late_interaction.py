"""Late interaction: how well each line of a chunk matches a question, token by token, without an encoder.

A token has a vector made of the embedding model's token embeddings of itself and its two neighbours, by one trained
projection for questions and another for lines. A token of the question counts by a trained weight, and matches the
nearest token of the line, or less of the line before it. Chunks are cheap to score (30 µs), so every line of the
evidence is scored before the reader reads the likeliest. `jobs.training.late_interaction` trains it;
`late_interaction.md` beside this file is its model card.

Source: MaxSim, Khattab and Zaharia, ColBERT, arXiv 2004.12832, 3.3; here over static vectors instead of an encoder's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load
from tokenizers import Tokenizer

from quern.jobs.models.bert import token_embeddings
from quern.jobs.models.folders import DEFAULT_MODEL, ModelError, find_folder, load_tokenizer, read_model
from quern.schemas.digests import FINGERPRINT_BYTES

FILE: Final = Path(__file__).with_name("late_interaction.safetensors")
FORMAT: Final = "quern-late-interaction-1"
QUESTION, LINE = 40, 48  # Tokens that are read of a question and of a line, in training as in use.
WEIGHT: Final = 14.0  # Log odds of a match of 1, in training as in use; where it was free it came to 14 to 16.
TAPS: Final = 3  # The token before, the token itself, and the one behind it.

Vectors = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Lines:
    """Lines of a chunk, whatever is asked."""

    vectors: npt.NDArray[np.float32]  # Unit vectors of their tokens, shape (tokens, d).
    starts: npt.NDArray[np.intp]  # Where each line's tokens begin.
    before: npt.NDArray[np.intp]  # Of each line the number of the line that it is read behind, from 0; -1 for none.


class LateInteraction:
    """Scores lines against questions in this process.

    Attributes:
        fingerprint: Digest of its weights.
    """

    def __init__(self, file: Path = FILE) -> None:
        """Find the weights in `file`.

        Raises:
            ModelError: The file is missing, damaged or of another format, or the embedding model is not installed.
        """
        find_folder(DEFAULT_MODEL, "answer.windows")
        try:
            written = file.read_bytes()
            self._weights = {name: values.astype(np.float64) for name, values in load(written).items()}
        except OSError as error:
            raise ModelError(f"weights {file} cannot be read: {error.strerror}") from error
        except SafetensorError as error:
            raise ModelError(f"weights {file} are damaged: {error}") from error
        if FORMAT not in self._weights:
            raise ModelError(f"weights {file} are not of the format {FORMAT}: train them again with this version")
        self.fingerprint = blake2b(written, digest_size=FINGERPRINT_BYTES).hexdigest()
        self._question = lru_cache(maxsize=4096)(self._read_question)

    @staticmethod
    @cache
    def load() -> LateInteraction:
        """The packaged weights, one object for each process."""
        return LateInteraction()

    def lines(self, texts: Sequence[str], before: Sequence[int]) -> Lines:
        """The token vectors of lines, `before` as in `Lines`; a line without a token has that of the padding."""
        ids = [self._ids(text, LINE) or [0] for text in texts]
        vectors = [_unit(self._taps("line", row)) for row in ids]
        starts = np.cumsum([0, *map(len, ids)])[:-1]
        return Lines(np.concatenate(vectors).astype(np.float32), starts, np.asarray(before, np.intp))

    def scores(self, question: str, lines: Lines) -> list[float]:
        """How well each line matches: the weighted mean of what the question's tokens match, in [-1, 1]."""
        asked, weight = self._question(question)
        similarities = lines.vectors.astype(np.float64) @ asked.T
        own = np.maximum.reduceat(similarities, lines.starts, axis=0)
        above = np.where(lines.before[:, None] >= 0, own[lines.before], -1.0)
        matched = own + float(self._weights["before"][0]) * np.maximum(0.0, above - own)
        return [float(score) for score in matched @ weight]

    def _read_question(self, question: str) -> tuple[Vectors, Vectors]:
        """The vectors of a question's tokens, and their weights, which sum to 1."""
        ids = self._ids(question, QUESTION) or [0]
        weight = np.logaddexp(0.0, self._taps("weight", ids)[:, 0] + self._weights["bias"][0])
        return _unit(self._taps("question", ids)), weight / weight.sum()

    def _taps(self, name: str, ids: Sequence[int]) -> Vectors:
        """Projections of tokens with their neighbours, shape (tokens, width)."""
        projection = self._weights[name]
        rows = self._embeddings[ids].astype(np.float64) - self._weights["mean"]
        # The padding has no vector, so nothing stands beside the first and the last token.
        rows = _unit(rows) * (np.asarray(ids) > 0)[:, None]
        taps: Vectors = rows @ projection[1]
        taps[1:] += rows[:-1] @ projection[0]
        taps[:-1] += rows[1:] @ projection[2]
        return taps

    def _ids(self, text: str, most: int) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids[:most]
        return ids

    @cached_property
    def _embeddings(self) -> npt.NDArray[Any]:
        return token_embeddings(read_model(DEFAULT_MODEL))

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer(read_model(DEFAULT_MODEL))


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return unit
