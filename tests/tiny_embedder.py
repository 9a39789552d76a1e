"""An embedding model of random weights with the tokenizer of the packaged model: as fast as tests of many nights need.

Its vectors mean nothing, but equal texts have equal ones, and texts that share words are near each other.
"""

from __future__ import annotations

import json
from pathlib import Path

from quern.jobs.models.folders import DEFAULT_MODEL, find_folder

_SIZE = 32


def write_tiny_embedder(folder: Path, layers: int = 1) -> Path:
    """Write a model and its tokenizer to `folder`, as sentence-transformers does; the same weights every time."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    tokenizer = AutoTokenizer.from_pretrained(find_folder(DEFAULT_MODEL))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=_SIZE,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * _SIZE,
        initializer_range=0.5,
    )
    BertModel(config).save_pretrained(folder)
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 512}))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    pooling = {"word_embedding_dimension": _SIZE, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder
