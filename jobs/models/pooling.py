"""A transformer and its pooling as one torch module; to import this takes seconds, for torch and transformers.

A plain BERT on a processor is written for OpenVINO from its weights instead (`.bert`).
"""

from __future__ import annotations

from quern.jobs.models.folders import Model, forbid_network

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
