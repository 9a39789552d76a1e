"""A Llama of random weights and a tokenizer trained on the spot: small enough to load anywhere, real enough to run."""

from __future__ import annotations

from pathlib import Path

_CHAT = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_TEXTS = (
    'The mill grinds rye. {"pairs": [{"question": "What does it grind?", "answer": "rye"}]}',
    "You write the questions under which readers will later find a passage, in JSON, from the words of the passage.",
)


def write_tiny_llama(folder: Path, *, chat_template: bool = True, positions: int = 4096) -> Path:
    """Write a model and its tokenizer to `folder`; the same weights every time."""
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
