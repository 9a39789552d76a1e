"""Batches of prompts continued by a causal language model, each held to a grammar token by token (llguidance)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

SHARED: Final = 32  # Fewest tokens that all prompts of a batch begin with which are worth a pass of their own.

# JSON as models have read it most: one blank after colon and comma, none elsewhere. Free blanks let a small model
# write nothing else until it is cut off.
_JSON_STYLE: Final[Any] = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen."""

    temperature: float = 0.0  # 0 for the likeliest.
    top_p: float = 1.0  # Nucleus that is sampled from, 1 for all tokens.
    seed: int | None = 0  # Seed of every prompt's own dice; None for other ones each time.


@dataclass
class Continuation:
    """A prompt and what the model wrote after it."""

    key: int  # What the caller knows it by.
    prompt: Sequence[int]  # Its token ids.
    most: int  # Most tokens that may be written.
    tokens: list[int] = field(default_factory=list)  # Those that were, without the one that ends.
    chances: list[float] = field(default_factory=list)  # Their log-probabilities, among what the grammar allowed.
    ended: bool = False  # Whether the model came to an end, rather than to `most`.
    matcher: Any = None
    dice: Any = None

    def add(self, token: int, chance: float, ends: frozenset[int]) -> bool:
        """Take the next token and its log-probability; whether more may follow."""
        if token in ends:
            self.ended = True
            return False
        self.tokens.append(token)
        self.chances.append(chance)
        self.matcher.consume_token(token)
        self.ended = bool(self.matcher.is_stopped())
        return not self.ended and len(self.tokens) < self.most


def shared_length(prompts: Sequence[Sequence[int]]) -> int:
    """How many tokens all prompts begin with, short of the whole of the shortest."""
    # Whatever the first and the last share, those between them in order share too.
    first, last = min(map(list, prompts)), max(map(list, prompts))
    most = min(map(len, prompts)) - 1
    return next((n for n in range(most) if first[n] != last[n]), max(0, most))


class Guide:
    """The grammar of a JSON schema over a model's tokens."""

    def __init__(self, tokenizer: Any, vocabulary: int, ends: frozenset[int]) -> None:
        """`tokenizer` is one of transformers' fast ones; `vocabulary` counts the model's logits."""
        import llguidance.hf

        self._tokens = llguidance.hf.from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=sorted(ends))
        self._threads = llguidance.LLExecutor()
        self._vocabulary = vocabulary

    def matcher(self, schema: Mapping[str, object]) -> Any:
        """What follows one reply.

        Raises:
            ValueError: The schema has what the library cannot hold a reply to.
        """
        from llguidance import LLMatcher

        matcher = LLMatcher(self._tokens, LLMatcher.grammar_from_json_schema(json.dumps(schema), _JSON_STYLE))
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def forbidden(self, matchers: Sequence[Any]) -> Any:
        """Which tokens may not come next, a bool tensor of shape (matchers, vocabulary)."""
        import torch
        from llguidance.torch import allocate_token_bitmask, fill_next_token_bitmask_par

        bits = allocate_token_bitmask(len(matchers), self._vocabulary)
        fill_next_token_bitmask_par(self._threads, [(m, n) for n, m in enumerate(matchers)], bits)
        # The library applies the bits by a kernel that torch compiles, which takes a C++ compiler and 20 seconds.
        mask = np.unpackbits(bits.numpy().view(np.uint8), axis=1, bitorder="little", count=self._vocabulary)
        return torch.from_numpy(mask == 0)


class Decoder:
    """A causal language model of transformers, and how it is sampled."""

    def __init__(self, model: Any, pad: int, ends: frozenset[int], sampling: Sampling, guide: Guide) -> None:
        """`pad` is any token: it is never seen; `ends` are those that end a reply."""
        self._model, self._pad, self._ends, self._sampling, self._guide = model, pad, ends, sampling, guide

    def decode(self, rows: Sequence[Continuation]) -> Iterator[Continuation]:
        """The rows as they end; those that have leave the batch to the others."""
        import torch

        for row in rows:
            if self._sampling.temperature and row.dice is None:
                # Dice of its own, so that what a row says depends on no other one.
                row.dice = torch.Generator()
                if self._sampling.seed is None:
                    row.dice.seed()
                else:
                    row.dice.manual_seed(self._sampling.seed)
        active, device = list(rows), self._model.device
        shared, cache = shared_length([row.prompt for row in active]), None
        if shared >= SHARED and len(active) > 1:
            # What all prompts begin with is read once: instructions, and examples with their answers.
            prefix = torch.tensor([active[0].prompt[:shared]], device=device)
            with torch.inference_mode():
                cache = self._model(input_ids=prefix, use_cache=True, logits_to_keep=1).past_key_values
                cache.batch_repeat_interleave(len(active))
        else:
            shared = 0
        longest = max(len(row.prompt) for row in active) - shared
        step = torch.full((len(active), longest), self._pad, device=device)
        mask = torch.zeros_like(step)
        for n, row in enumerate(active):
            own = row.prompt[shared:]
            step[n, longest - len(own) :] = torch.tensor(own, device=device)
            mask[n, longest - len(own) :] = 1
        mask = torch.cat([torch.ones(len(active), shared, dtype=mask.dtype, device=device), mask], dim=1)
        while active:
            positions = (mask.cumsum(1) - 1).clamp(min=0)[:, -step.shape[1] :]
            with torch.inference_mode():
                out = self._model(
                    input_ids=step,
                    attention_mask=mask,
                    position_ids=positions,
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                cache, logits = out.past_key_values, out.logits[:, -1].float()  # Of shape (rows, vocabulary).
                forbidden = self._guide.forbidden([row.matcher for row in active])
                logits = logits.masked_fill_(forbidden.to(logits.device), -np.inf)
                tokens = self._choose(logits, active)
                chances = torch.log_softmax(logits, -1)[range(len(tokens)), tokens].tolist()
                choices = zip(active, tokens, chances, strict=True)
                goes_on = [row.add(token, chance, self._ends) for row, token, chance in choices]
                indices = torch.tensor([n for n, on in enumerate(goes_on) if on], device=device, dtype=torch.long)
                if len(indices) < len(active) and len(indices):
                    cache.batch_select_indices(indices)
                step = torch.tensor(tokens, device=device)[indices, None]
                mask = torch.cat([mask[indices], torch.ones_like(step)], dim=1)
            yield from (row for row, on in zip(active, goes_on, strict=True) if not on)
            active = [row for row, on in zip(active, goes_on, strict=True) if on]

    def _choose(self, logits: Any, rows: Sequence[Continuation]) -> list[int]:
        """The next token of each row, of logits of shape (rows, vocabulary)."""
        import torch

        if self._sampling.temperature == 0:
            best: list[int] = logits.argmax(-1).tolist()
            return best
        shares, order = torch.softmax(logits / self._sampling.temperature, -1).cpu().sort(-1, descending=True)
        # The nucleus: tokens until those before them hold `top_p`; the first always.
        shares[shares.cumsum(-1) - shares >= self._sampling.top_p] = 0.0
        places = [torch.multinomial(share, 1, generator=row.dice) for share, row in zip(shares, rows, strict=True)]
        return [int(order[n, place]) for n, place in enumerate(places)]
