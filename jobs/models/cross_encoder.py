"""Cross-encoders: models that read a question and a passage together and give one score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from quern.jobs.models.batches import PAD_TO
from quern.jobs.models.folders import ModelError, find_folder, forbid_network
from quern.jobs.models.torch_runtime import find_device
from quern.schemas.extras import require
from quern.schemas.settings import RerankSettings

_CPU_PAIRS, _GPU_PAIRS = 16, 256


class CrossEncoder:
    """A cross-encoder in this process: `AutoModelForSequenceClassification` with one score, or two classes."""

    def __init__(self, settings: RerankSettings) -> None:
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
        folder = find_folder(settings.model, "rerank.model")
        self._torch, self._device = torch, find_device(settings.device, "rerank.device")
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
            model = AutoModelForSequenceClassification.from_pretrained(folder)
        # The library raises errors of its own for weights that are broken or of another kind.
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"rerank.model {settings.model}: {' '.join(str(error).split())[:300]}") from error
        if model.config.num_labels > 2:
            labels = model.config.num_labels
            raise ModelError(
                f"rerank.model {settings.model} tells {labels} classes apart; a cross-encoder has one score"
            )
        on_gpu = self._device.type != "cpu"
        self._model: Any = model.to(self._device, torch.float16 if on_gpu else torch.float32).eval()
        self._most = settings.batch or (_GPU_PAIRS if on_gpu else _CPU_PAIRS)
        self._max_tokens = settings.max_tokens

    @staticmethod
    def load(settings: RerankSettings) -> CrossEncoder:
        """The model of `settings`, loaded once per process.

        Raises:
            ModelError: It is not on this machine, or is not a cross-encoder.
        """
        return _load(settings)

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> npt.NDArray[np.float32]:
        """How well each passage answers the question beside it, in [0, 1], shape (pairs,)."""
        torch, found = self._torch, np.zeros(len(questions), dtype=np.float32)
        if not questions:
            return found
        pairs = self._tokenizer(list(questions), list(passages), truncation="only_second", max_length=self._max_tokens)
        with torch.inference_mode():
            for rows in self._calls([len(ids) for ids in pairs["input_ids"]]):
                # Of one padded length, so that a score does not depend on what it is computed beside.
                call = {name: [values[row] for row in rows] for name, values in pairs.items()}
                inputs = self._tokenizer.pad(call, pad_to_multiple_of=PAD_TO, return_tensors="pt").to(self._device)
                logits = self._model(**inputs).logits.float()
                margin = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
                found[rows] = torch.sigmoid(margin).cpu().numpy()
        return found

    def _calls(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Rows that share a call: of one padded length, the longest first."""
        padded = [-(-length // PAD_TO) for length in lengths]
        order = sorted(range(len(padded)), key=lambda row: -padded[row])
        for _, group in groupby(order, key=padded.__getitem__):
            rows = list(group)
            yield from (rows[at : at + self._most] for at in range(0, len(rows), self._most))


@lru_cache(maxsize=2)
def _load(settings: RerankSettings) -> CrossEncoder:
    return CrossEncoder(settings)
