"""Training of the reader of lines (`jobs.models.line_reader`): changes of low rank to the default embedding model.

`python -m tests.benchmarks reading --fit` writes its weights anew. The loss is the surprise that one of the right lines
answers, among all lines and `none of them`, and, where yes or no is asked, half of that of what the right lines say.
Rank 32 in the six products of each layer, AdamW at a rate that falls evenly. At 2e-3 the loss stayed at that of knowing
nothing; at 7e-4 it fell as fast as with all weights free at 1.5e-4.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from transformers import BertModel

from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.jobs.models.line_reader import FILE, lay
from tests.benchmarks.reading_pages import Asked, Choice, choice, pages_of, read_pages

_RANK: Final = 32
_RATE: Final = 7e-4
_WARM: Final = 60  # Steps in which the rate rises.
_TOKENS: Final = 4096  # Of a step, padding included.
_DRAWN: Final = 640  # Questions whose choices are sorted by length together.
_INNER: Final = 128  # Width of the nets that score.
_PAD: Final = 16
_OF_YES: Final = 0.5  # What the surprise of yes and no counts beside that of the lines.
_TOLD: Final = 50  # Steps after which it says how far it is.

log = logging.getLogger(__name__)


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


class Net(nn.Module):
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
        self.line, self.none, self.yes = _Score(width), _Score(width), _Score(width)

    def forward(
        self, ids: torch.Tensor, mask: torch.Tensor, line: torch.Tensor, lines: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        of = functional.one_hot(line, lines + 1)[..., :lines].float()
        count = of.sum(1)
        mean = torch.einsum("btn,btd->bnd", of, hidden) / count.clamp(min=1)[..., None]
        likely = torch.cat([self.none(hidden[:, :1]), self.line(mean).masked_fill(count == 0, -1e4)], 1)
        return likely, self.yes(mean)

    def weights(self) -> dict[str, np.ndarray]:
        """What was learnt, by the names that the reader knows."""
        learnt = {name: p for name, p in self.named_parameters() if p.requires_grad}
        return {n.removeprefix("encoder."): p.detach().float().numpy().astype(np.float16) for n, p in learnt.items()}

    def go_on_from(self, file: Path) -> None:
        """Let it know what was learnt before."""
        known = {n: torch.from_numpy(w.astype(np.float32)) for n, w in load_file(file).items()}
        heads = ("line.", "none.", "yes.")
        names = {n: n if n.startswith(heads) else f"encoder.{n}" for n in known}
        found = self.load_state_dict({names[n]: w for n, w in known.items()}, strict=False)
        if found.unexpected_keys:
            raise ValueError(f"{file} has weights that the reader has not: {found.unexpected_keys}")


def train(
    minutes: float,
    *,
    begin: Path | None = None,
    file: Path = FILE,
    rates: tuple[float, float] = (_RATE, 0.0),
    seed: int = 0,
) -> dict[str, float]:
    """Train for so many minutes, and write the weights to `file`.

    Args:
        minutes: How long.
        begin: The weights to go on from; None to begin with those of the embedding model.
        file: Where they go.
        rates: At the beginning and at the end; it falls evenly.
        seed: Of what is left to chance.
    """
    torch.manual_seed(seed)
    chance, model = random.Random(seed), read_model(DEFAULT_MODEL)
    asked, net = read_pages(kept=False), Net(model.transformer)
    if begin is not None:
        net.go_on_from(begin)
    learnt = [p for p in net.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(learnt, lr=rates[0])
    tokenizer, started, losses, seen = load_tokenizer(model), time.monotonic(), [], 0
    tokens = remembered(tokenizer)

    for batch in _batches(asked, chance, tokenizer, tokens):
        gone = (time.monotonic() - started) / 60 / minutes
        if gone >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = min(1.0, (len(losses) + 1) / _WARM) * (rates[0] + (rates[1] - rates[0]) * gone)
        with torch.autocast("cpu", torch.bfloat16):
            likely, yes = net(batch.ids, batch.mask, batch.line, batch.right.shape[1] - 1)
        loss = _surprise(likely.float(), yes.float(), batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learnt, 1.0)
        optimiser.step()
        losses.append(loss.item())
        seen += len(batch.ids)
        if len(losses) % _TOLD == 0:
            log.info("minutes=%.1f seen=%d loss=%.3f", gone * minutes, seen, np.mean(losses[-_TOLD:]))
    save_file(net.weights(), file)
    return {"questions": len(asked), "seen": seen, "loss": float(np.mean(losses[-100:]))}


def remembered(tokenizer: Tokenizer) -> Callable[[str], list[int]]:
    """Ids of a text by it, without special ones, which are made once of each text."""

    @cache
    def tokens(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return tokens


def _surprise(likely: torch.Tensor, yes: torch.Tensor, batch: _Batch) -> torch.Tensor:
    """That a right line answers, or none; and of those that answer by yes or no, half of that they say so."""
    answers = -torch.logsumexp(likely.log_softmax(1).masked_fill(~batch.right, -1e9), 1).mean()
    right = batch.right[:, 1:] & (batch.yes >= 0)[:, None]
    said = functional.binary_cross_entropy_with_logits(
        yes, batch.yes.clamp(min=0)[:, None].expand_as(yes), reduction="none"
    )
    of_each = (said * right).sum(1) / right.sum(1).clamp(min=1)
    return answers + _OF_YES * of_each.sum() / len(likely)


@dataclass(frozen=True)
class _Batch:
    """A step: token ids, mask, the number of each token's line, which lines answer (first: none), and if by yes.

    Attributes:
        yes: 1, 0, or -1 where that is not asked.
    """

    ids: torch.Tensor
    mask: torch.Tensor
    line: torch.Tensor
    right: torch.Tensor
    yes: torch.Tensor


def _batches(asked: Sequence[Asked], chance: random.Random, tokenizer: Any, tokens: Any) -> Iterator[_Batch]:
    """Steps without end: all questions in an order by chance, again and again, their lines chosen anew."""
    pages = pages_of(asked)
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
    yes = torch.empty(len(step))
    for row, (laid, of) in enumerate(step):
        ids[row, : len(laid.ids)], mask[row, : len(laid.ids)] = torch.tensor(laid.ids), 1
        flat = [*zip(*((p for ps in laid.places for p in ps), (r for rs in of.right for r in rs)), strict=True)]
        for n, (place, answers) in enumerate(flat):
            if place is not None:
                line[row, place] = n
                right[row, n + 1] = answers
        right[row, 0] = not right[row, 1:].any()
        yes[row] = -1.0 if of.yes is None else float(of.yes)
    return _Batch(ids, mask, line, right, yes)
