"""The extractor of key information: which words of a sentence of an answer its sources must have.

A BERT that scores each token, trained by `jobs.training.extractor` and run by OpenVINO from its weights alone.

Source: Xinyu AI Search, section 3.6.1 (key information of a sentence); Devlin et al., BERT, arXiv 1810.04805, 5.3.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from scipy.special import expit

from quern.jobs.models.bert import is_plain_bert, token_graph
from quern.jobs.models.folders import ModelError, find_folder, load_tokenizer, read_model
from quern.jobs.models.machine import available_cores, import_openvino
from quern.jobs.models.openvino_runtime import properties

TOKENS: Final = 128  # Of a sentence; the rest is cut.
_KIND: Final = "BertForTokenClassification"


class KeyExtractor:
    """A trained extractor in this process."""

    def __init__(self, folder: str) -> None:
        """Load the model.

        Raises:
            ModelError: It is not on this machine, or is no extractor.
        """
        model = read_model(str(find_folder(folder, "cite.extractor")))
        kind = json.loads((model.transformer / "config.json").read_text("utf-8")).get("architectures")
        if kind != [_KIND] or not is_plain_bert(model):
            raise ModelError(f"cite.extractor {folder} is no extractor: name a folder of `quern train extractor`")
        weights = load_file(next(model.transformer.glob("*.safetensors")))
        self._weight, self._bias = (weights[f"classifier.{name}"].astype(np.float32) for name in ("weight", "bias"))
        chosen = properties("f32", available_cores())
        self._net = import_openvino().Core().compile_model(token_graph(model, {}), "CPU", chosen)
        self._tokenizer = load_tokenizer(model)
        self._tokenizer.enable_truncation(TOKENS)

    def chances(self, text: str, words: Sequence[tuple[int, int]]) -> list[float]:
        """The probability that sources of `text` have each of its words, by start and end; 1 of what is cut off."""
        encoded = self._tokenizer.encode(text)
        ids = np.array([encoded.ids], dtype=np.int64)
        hidden = self._net({"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        scores: npt.NDArray[np.float32] = (hidden[0] @ self._weight.T + self._bias)[:, 0]
        return [
            float(expit(scores[inside].mean())) if inside else 1.0
            for inside in (tokens_of(encoded.offsets, start, end) for start, end in words)
        ]


def tokens_of(offsets: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """The tokens of a word, by the characters of each; tokens without characters are special ones."""
    return [n for n, (a, b) in enumerate(offsets) if a < b and a < end and b > start]


@lru_cache(maxsize=2)
def load_extractor(folder: str) -> KeyExtractor:
    """The extractor of a folder, loaded once per process.

    Raises:
        ModelError: It is not on this machine, or is no extractor.
    """
    return KeyExtractor(folder)
