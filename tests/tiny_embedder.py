"""An embedding model of random weights with the tokenizer of the packaged model: as fast as tests of many builds need.

Its vectors mean nothing, but equal texts have equal ones, and texts that share words are near each other.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from quern.jobs.models.folders import DEFAULT_MODEL, find_folder


def write_tiny_embedder(folder: Path, layers: int = 1, size: int = 32) -> Path:
    """Write a BERT and its tokenizer to `folder`, as sentence-transformers does; the same weights every time."""
    packaged = find_folder(DEFAULT_MODEL)
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "modules.json", "sentence_bert_config.json"):
        shutil.copy(packaged / name, folder)
    config = json.loads((packaged / "config.json").read_text())
    config |= {
        "hidden_size": size,
        "num_hidden_layers": layers,
        "num_attention_heads": 2,
        "intermediate_size": 2 * size,
    }
    (folder / "config.json").write_text(json.dumps(config))
    pooling = {"word_embedding_dimension": size, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    draw = np.random.default_rng(7)
    weights: dict[str, np.ndarray] = {}

    def dense(name: str, inputs: int, outputs: int) -> None:
        weights[f"{name}.weight"] = draw.normal(0, 0.5, (outputs, inputs)).astype(np.float32)
        weights[f"{name}.bias"] = np.zeros(outputs, np.float32)

    def norm(name: str) -> None:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = np.ones(size, np.float32), np.zeros(size, np.float32)

    rows = {"word": "vocab_size", "position": "max_position_embeddings", "token_type": "type_vocab_size"}
    for name, count in rows.items():
        weights[f"embeddings.{name}_embeddings.weight"] = draw.normal(0, 0.5, (config[count], size)).astype(np.float32)
    norm("embeddings.LayerNorm")
    for layer in (f"encoder.layer.{n}" for n in range(layers)):
        for part in ("query", "key", "value"):
            dense(f"{layer}.attention.self.{part}", size, size)
        dense(f"{layer}.attention.output.dense", size, size)
        dense(f"{layer}.intermediate.dense", size, 2 * size)
        dense(f"{layer}.output.dense", 2 * size, size)
        norm(f"{layer}.attention.output.LayerNorm")
        norm(f"{layer}.output.LayerNorm")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
