"""A cross-encoder of random weights with the tokenizer of the packaged model: small, and real enough to run."""

from __future__ import annotations

from pathlib import Path

from quern.jobs.models.folders import DEFAULT_MODEL, find_folder


def write_tiny_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Write a model and its tokenizer to `folder`; the same weights every time."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(find_folder(DEFAULT_MODEL))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        num_labels=labels,
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder
