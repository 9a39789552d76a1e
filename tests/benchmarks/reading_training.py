"""Training of the reader of lines (`jobs.models.line_reader`): changes of low rank to the default embedding model.

`python -m tests.benchmarks reading --fit` writes its weights anew. The loss is the surprise that one of the right lines
answers, among all lines and `none of them`. Rank 32 in the six products of each layer, AdamW at a rate that falls to
nothing. At 2e-3 the loss stayed at that of knowing nothing; at 7e-4 it fell as fast as with all weights free at 1.5e-4.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn
from torch.nn import functional
from transformers import BertModel

from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.jobs.models.line_reader import FILE, lay
from tests.benchmarks.reading_pages import Asked, Choice, choice, read_pages

_RANK: Final = 32
_RATE: Final = 7e-4
_WARM: Final = 60  # Steps in which the rate rises.
_TOKENS: Final = 4096  # Of a step, padding included.
_DRAWN: Final = 640  # Questions whose choices are sorted by length together.
_INNER: Final = 128  # Width of the nets that score.
_PAD: Final = 16


class _Changed(nn.Module):
    """A product with a change of low rank beside it."""

    def __init__(self, product: nn.Linear) -> None:
        super().__init__()
        self.product = product
        self.a = nn.Parameter(torch.randn(_RANK, product.in_features) / math.sqrt(product.in_features))
        self.b = nn.Parameter(torch.zeros(product.out_features, _RANK))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.product(x) + functional.linear(functional.linear(x, self.a), self.b)


class _Score(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, _INNER), nn.Linear(_INNER, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outer(functional.gelu(self.inner(x)))[..., 0]


class _Net(nn.Module):
    """Token ids, mask and the number of each token's line, `lines` for none, to scores of `none` and of each line."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.encoder = BertModel.from_pretrained(folder, add_pooling_layer=False).requires_grad_(False)
        for layer in self.encoder.encoder.layer:
            own = layer.attention.self
            for holder, names in (
                (own, ("query", "key", "value")),
                *((part, ("dense",)) for part in (layer.attention.output, layer.intermediate, layer.output)),
            ):
                for name in names:
                    setattr(holder, name, _Changed(getattr(holder, name)))
        width = self.encoder.config.hidden_size
        self.line, self.none = _Score(width), _Score(width)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, line: torch.Tensor, lines: int) -> torch.Tensor:
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        of = functional.one_hot(line, lines + 1)[..., :lines].float()
        count = of.sum(1)
        mean = torch.einsum("btn,btd->bnd", of, hidden) / count.clamp(min=1)[..., None]
        return torch.cat([self.none(hidden[:, :1]), self.line(mean).masked_fill(count == 0, -1e4)], 1)

    def weights(self) -> dict[str, np.ndarray]:
        """What was learnt, by the names that the reader knows."""
        learnt = {name: p for name, p in self.named_parameters() if p.requires_grad}
        return {n.removeprefix("encoder."): p.detach().float().numpy().astype(np.float16) for n, p in learnt.items()}


def train(minutes: float, seed: int = 0, file: Path = FILE) -> dict[str, float]:
    """Train for so many minutes, and write the weights to `file`."""
    torch.manual_seed(seed)
    chance, model = random.Random(seed), read_model(DEFAULT_MODEL)
    asked, net = read_pages(kept=False), _Net(model.transformer)
    pages = list({id(one.page): one.page for one in asked}.values())
    learnt = [p for p in net.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(learnt, lr=_RATE)
    tokenizer, started, losses, seen = load_tokenizer(model), time.monotonic(), [], 0
    known: dict[str, list[int]] = {}

    def tokens(text: str) -> list[int]:
        if text not in known:
            known[text] = tokenizer.encode(text, add_special_tokens=False).ids
        return known[text]

    for batch in _batches(asked, pages, chance, tokenizer, tokens):
        gone = (time.monotonic() - started) / 60 / minutes
        if gone >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = _RATE * min(1.0, (len(losses) + 1) / _WARM) * (1 - gone)
        with torch.autocast("cpu", torch.bfloat16):
            odds = net(*batch[:4]).float()
        loss = -torch.logsumexp(odds.log_softmax(1).masked_fill(~batch[4], -1e9), 1).mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learnt, 1.0)
        optimiser.step()
        losses.append(loss.item())
        seen += len(batch[4])
    save_file(net.weights(), file)
    return {"questions": len(asked), "pages": len(pages), "seen": seen, "loss": float(np.mean(losses[-100:]))}


_Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor, int, torch.Tensor]


def _batches(
    asked: Sequence[Asked], pages: Sequence[Any], chance: random.Random, tokenizer: Any, tokens: Any
) -> Iterator[_Batch]:
    """Steps without end: all questions in an order by chance, again and again, their lines chosen anew."""
    while True:
        order = chance.sample(range(len(asked)), len(asked))
        for start in range(0, len(order), _DRAWN):
            drawn = [choice(asked[n], pages, chance) for n in order[start : start + _DRAWN]]
            laid = [(lay(c.question, c.passages, tokenizer, tokens), c) for c in drawn]
            steps: list[list[Any]] = [[]]
            for one in sorted(laid, key=lambda pair: len(pair[0].ids)):
                if (len(steps[-1]) + 1) * -(-len(one[0].ids) // _PAD) * _PAD > _TOKENS:
                    steps.append([])
                steps[-1].append(one)
            chance.shuffle(steps)
            yield from (_tensors(step) for step in steps if step)


def _tensors(step: Sequence[tuple[Any, Choice]]) -> _Batch:
    length = -(-max(len(laid.ids) for laid, _ in step) // _PAD) * _PAD
    lines = max(1, *(sum(len(places) for places in laid.places) for laid, _ in step))
    ids, mask = torch.zeros(len(step), length, dtype=torch.long), torch.zeros(len(step), length, dtype=torch.long)
    line, right = torch.full((len(step), length), lines), torch.zeros(len(step), lines + 1, dtype=torch.bool)
    for row, (laid, of) in enumerate(step):
        ids[row, : len(laid.ids)], mask[row, : len(laid.ids)] = torch.tensor(laid.ids), 1
        flat = [*zip(*((p for ps in laid.places for p in ps), (r for rs in of.right for r in rs)), strict=True)]
        for n, (place, answers) in enumerate(flat):
            if place is not None:
                line[row, place] = n
                right[row, n + 1] = answers
        right[row, 0] = not right[row, 1:].any()
    return ids, mask, line, lines, right
