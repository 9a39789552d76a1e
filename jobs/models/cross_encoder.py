"""Cross-encoders: models that read a question and a passage together and give one score.

On the processor a plain BERT is run by OpenVINO from its weights alone, without torch; other models, and all models on
a GPU, by torch.

Source: Nogueira and Cho, Passage Re-ranking with BERT, arXiv 1901.04085.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from quern.jobs.models.batches import PAD_TO, Batching
from quern.jobs.models.bert import is_plain_bert, pair_graph
from quern.jobs.models.folders import Model, ModelError, find_folder, forbid_network, load_tokenizer, read_model
from quern.jobs.models.machine import available_cores, import_openvino
from quern.jobs.models.openvino_runtime import properties
from quern.jobs.models.torch_runtime import find_device
from quern.schemas.extras import require
from quern.schemas.settings import RerankSettings

_CPU_PAIRS, _GPU_PAIRS = 16, 256
_TOKENS: Final = 4096  # Of a call, padding included.
# Cuts the passage, and the question only where it is the longer one.
_CUT: Final = "longest_first"

Floats = npt.NDArray[np.float32]


class CrossEncoder(ABC):
    """A cross-encoder in this process: `AutoModelForSequenceClassification` with one score, or two classes."""

    @staticmethod
    @lru_cache(maxsize=2)
    def load(settings: RerankSettings) -> CrossEncoder:
        """The model of `settings`, loaded once per process.

        Raises:
            ModelError: It is not on this machine, or is not a cross-encoder.
        """
        folder = find_folder(settings.model, "rerank.model")
        # A cross-encoder has no list of modules where it is a transformer alone.
        if settings.device == "cpu" and (folder / "config.json").exists() and not (folder / "modules.json").exists():
            model = read_model(str(folder))
            if is_plain_bert(model) and (folder / "tokenizer.json").exists():
                return OpenVinoCrossEncoder(model, settings)
        return TorchCrossEncoder(folder, settings)

    @abstractmethod
    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Floats:
        """How well each passage answers the question beside it, in [0, 1], shape (pairs,)."""


class OpenVinoCrossEncoder(CrossEncoder):
    """A plain BERT, run by OpenVINO; a score does not depend on what it is computed beside."""

    def __init__(self, model: Model, settings: RerankSettings) -> None:
        """Load the model.

        Raises:
            ModelError: Its weights cannot be read, or it is not a cross-encoder.
        """
        graph = pair_graph(model)
        _check_classes(graph.outputs[0].get_partial_shape()[1].get_length(), settings)
        openvino = import_openvino()
        chosen = properties("f32", available_cores())
        self._queue = openvino.AsyncInferQueue(openvino.Core().compile_model(graph, "CPU", chosen))
        self._tokenizer = load_tokenizer(model)
        most = min(settings.max_tokens, model.positions or settings.max_tokens)
        self._tokenizer.enable_truncation(most, strategy=_CUT)
        self._batching = Batching(settings.batch or _CPU_PAIRS, _TOKENS, model.positions, model.pad_id)

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Floats:
        """How well each passage answers the question beside it, in [0, 1], shape (pairs,)."""
        pairs = self._tokenizer.encode_batch(list(zip(questions, passages, strict=True)))
        margins = np.zeros(len(pairs), dtype=np.float32)

        def keep(request: Any, rows: npt.NDArray[np.intp]) -> None:
            margins[rows] = _margin(request.get_output_tensor(0).data)

        self._queue.set_callback(keep)
        try:
            for call in self._batching.calls([pair.ids for pair in pairs]):
                segments = np.zeros_like(call.ids)
                for at, row in enumerate(call.rows.tolist()):
                    segments[at, : len(pairs[row].type_ids)] = pairs[row].type_ids
                inputs = {"input_ids": call.ids, "attention_mask": call.mask, "token_type_ids": segments}
                self._queue.start_async(inputs, call.rows)
        finally:
            self._queue.wait_all()
        return np.asarray(expit(margins), dtype=np.float32)


class TorchCrossEncoder(CrossEncoder):
    """Any model, run by torch."""

    def __init__(self, folder: Path, settings: RerankSettings) -> None:
        """Load the model.

        Raises:
            ModelError: It is not on this machine, or is not a cross-encoder.
        """
        forbid_network()
        for module in ("torch", "transformers"):
            require(module, f"rerank.model {settings.model}")
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        self._torch, self._device = torch, find_device(settings.device, "rerank.device")
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
            model = AutoModelForSequenceClassification.from_pretrained(folder)
        # The library raises errors of its own for weights that are broken or of another kind.
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"rerank.model {settings.model}: {' '.join(str(error).split())[:300]}") from error
        _check_classes(model.config.num_labels, settings)
        on_gpu = self._device.type != "cpu"
        self._model: Any = model.to(self._device, torch.float16 if on_gpu else torch.float32).eval()
        self._most = settings.batch or (_GPU_PAIRS if on_gpu else _CPU_PAIRS)
        self._max_tokens = settings.max_tokens

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Floats:
        """How well each passage answers the question beside it, in [0, 1], shape (pairs,)."""
        torch, found = self._torch, np.zeros(len(questions), dtype=np.float32)
        if not questions:
            return found
        pairs = self._tokenizer(list(questions), list(passages), truncation=_CUT, max_length=self._max_tokens)
        # Pairs of one padded length share a call, so that a score does not depend on what it is computed beside.
        padded = [-(-len(ids) // PAD_TO) for ids in pairs["input_ids"]]
        order = sorted(range(len(padded)), key=lambda row: -padded[row])
        groups = [[*group] for _, group in groupby(order, key=padded.__getitem__)]
        with torch.inference_mode():
            for rows in (group[at : at + self._most] for group in groups for at in range(0, len(group), self._most)):
                call = {name: [values[row] for row in rows] for name, values in pairs.items()}
                inputs = self._tokenizer.pad(call, pad_to_multiple_of=PAD_TO, return_tensors="pt").to(self._device)
                found[rows] = expit(_margin(self._model(**inputs).logits.float().cpu().numpy()))
        return found


def _margin(logits: Floats) -> Floats:
    """The one score of each pair, or by how much the second class exceeds the first; shapes (n, classes) and (n,)."""
    return logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]


def _check_classes(classes: int, settings: RerankSettings) -> None:
    if classes > 2:
        raise ModelError(f"rerank.model {settings.model} tells {classes} classes apart; a cross-encoder has one score")
