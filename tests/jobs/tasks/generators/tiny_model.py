"""A tiny model of random weights that is held to a JSON schema token by token, as servers of models do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quern.jobs.tasks.generators.decoding import Guide
from tests.tiny_llama import write_tiny_llama


class TinyModel:
    """Chats at random, but in JSON of the schema where one is given (`llguidance` masks the tokens)."""

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        write_tiny_llama(folder)
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModelForCausalLM.from_pretrained(folder).eval()
        vocabulary, ends = self._model.config.vocab_size, frozenset([self._tokenizer.eos_token_id])
        self._guide = Guide(self._tokenizer, vocabulary, ends)
        # A model of few words: what ends a string or a list is likelier than anything else.
        self._terse = torch.zeros(self._model.config.vocab_size)
        for token, number in self._tokenizer.get_vocab().items():
            if '"' in token or "]" in token:
                self._terse[number] = 4.0

    def chat(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None, most: int, seed: int = 0
    ) -> tuple[str, bool, int, int]:
        """(text, whether it was cut off, tokens of the prompt, tokens of the answer)."""
        import torch

        prompt = self._tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=True, return_tensors="pt", return_dict=False
        )
        matcher = self._guide.matcher(schema) if schema else None
        dice = torch.Generator().manual_seed(seed)
        said: list[int] = []
        known, cache = prompt, None
        with torch.inference_mode():
            while len(said) < most:
                out = self._model(input_ids=known, past_key_values=cache, use_cache=True)
                logits, cache = out.logits[:, -1, :] + self._terse, out.past_key_values
                if matcher:
                    logits.masked_fill_(self._guide.forbidden([matcher]), -torch.inf)
                token = int(torch.multinomial(torch.softmax(logits[0], dim=-1), 1, generator=dice))
                if token == self._tokenizer.eos_token_id:
                    return self._tokenizer.decode(said), False, prompt.shape[1], len(said)
                said.append(token)
                if matcher:
                    assert matcher.consume_token(token)
                    if matcher.is_stopped():
                        return self._tokenizer.decode(said), False, prompt.shape[1], len(said)
                known = torch.tensor([[token]])
        return self._tokenizer.decode(said), True, prompt.shape[1], len(said)
