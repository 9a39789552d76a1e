"""A transformer and its pooling as one torch module, and that module converted to OpenVINO.

A plain BERT is written from its weights instead, without torch (`.bert`), and gives the same vectors to the last bit.
Torch and transformers take half a gigabyte and seconds to import, so a model is converted once, in a process of
its own (`python -m quern.jobs.models.pooling MODEL FILE`), and workers load the result with the OpenVINO runtime alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

from quern.jobs.models.folders import Model, forbid_network, read_model
from quern.jobs.models.machine import import_openvino

forbid_network()

import torch  # noqa: E402
from transformers import AutoModel  # noqa: E402


class Pooled(torch.nn.Module):  # type: ignore[misc]
    """Token ids and attention mask, int64 (n, tokens), to one float vector per text, (n, d), not normalised."""

    def __init__(self, model: Model, dtype: torch.dtype) -> None:
        super().__init__()
        self.transformer = AutoModel.from_pretrained(str(model.transformer), dtype=dtype, local_files_only=True).eval()
        self.pooling = model.pooling

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """One vector per text, of the token vectors of shape (n, tokens, d)."""
        hidden = self.transformer(input_ids=input_ids, attention_mask=attention_mask)[0]
        if self.pooling == "cls":
            return hidden[:, 0]
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        return (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)


def convert(model: Model, file: Path) -> None:
    """Write `model` in float32 as OpenVINO's `file` (.xml) and the .bin beside it."""
    openvino = import_openvino()
    tokens = min(16, model.positions or 16)
    ids = torch.ones((2, tokens), dtype=torch.int64)
    mask = torch.ones_like(ids)
    # An example without padding would let the trace leave the mask out.
    mask[0, tokens // 2 :] = 0
    with torch.no_grad():
        converted = openvino.convert_model(
            Pooled(model, torch.float32), example_input={"input_ids": ids, "attention_mask": mask}
        )
    openvino.save_model(converted, file, compress_to_fp16=False)


if __name__ == "__main__":
    convert(read_model(sys.argv[1]), Path(sys.argv[2]))
