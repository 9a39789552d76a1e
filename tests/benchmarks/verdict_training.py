"""Training of the reader of verdicts: whether the line that decides a question says yes or no.

`python -m tests.benchmarks reading --fit-verdicts FILE` writes its weights. Half of what it sees are questions over
twins of pages, which each answers otherwise; a quarter are other questions of yes or no that were written, and a
quarter are sentences turned round. Shared words tell yes from no in part, which a reader would learn: both are drawn
equally often at each share of words. What is packaged was trained so for 33 minutes; `docs/explanation/reader.md` tells
what it is worth.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import save_file
from torch import nn
from torch.nn import functional

from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.jobs.models.line_reader import FILE, Laid, lay
from tests.benchmarks.reading_pages import (
    Decided,
    by_twins,
    decided,
    evened,
    read_pages,
    turned_round,
    verdicts_on_pages_kept,
)
from tests.benchmarks.reading_training import Net, remembered

_RATE: Final = 7e-4  # As of the reader of lines; none other was tried.
_DECAY: Final = 0.05
_WARM: Final = 100  # Steps.
_STEP: Final = 32
_DRAWN: Final = (512, 1024, 512)  # Of those written, of twins, and of those turned round, sorted by length together.
_SURE: Final = 0.98  # What it is taught for a yes, and one less that for a no.
_TOLD: Final = 50

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Parts:
    """Questions that were written, those over twins and those turned round, and the chances of each to be drawn."""

    of: Sequence[Sequence[Decided]]
    chances: Sequence[npt.NDArray[np.float64]]

    def drawn(self, chance: np.random.Generator) -> Iterator[Decided]:
        for questions, by, drawn in zip(self.of, self.chances, _DRAWN, strict=True):
            yield from (questions[n] for n in chance.choice(len(questions), drawn, p=by))


def train_verdicts(minutes: float, *, file: Path, begin: Path = FILE, seed: int = 1) -> dict[str, float]:
    """Train for so many minutes, going on from the weights in `begin`, and write them to `file`."""
    torch.manual_seed(seed)
    chance, drawing, model = random.Random(seed), np.random.default_rng(seed), read_model(DEFAULT_MODEL)
    net, tokenizer = Net(model.transformer), load_tokenizer(model)
    net.go_on_from(begin)
    for part in net.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.1
    net.train()
    asked = read_pages(kept=False)
    questions = [*by_twins(decided(asked)), turned_round(asked)]
    parts = _Parts(questions, [_chances(of) for of in questions])
    learnt = [p for p in net.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(learnt, lr=_RATE, weight_decay=_DECAY)
    tokens = remembered(tokenizer)
    started, losses = time.monotonic(), list[float]()
    while (time.monotonic() - started) / 60 < minutes:
        laid = [(lay(o.question, [o.passage(chance)], tokenizer, tokens), o.yes) for o in parts.drawn(drawing)]
        laid.sort(key=lambda pair: len(pair[0].ids))
        steps = [laid[n : n + _STEP] for n in range(0, len(laid), _STEP)]
        for step in chance.sample(steps, len(steps)):
            gone = min(1.0, (time.monotonic() - started) / 60 / minutes)
            for group in optimiser.param_groups:
                group["lr"] = _RATE * min(1.0, (len(losses) + 1) / _WARM) * (1.0 - gone)
            with torch.autocast("cpu", torch.bfloat16):
                says = net(*_tensors([one for one, _ in step]), 1)[1].float()[:, 0]
            right = torch.tensor([_SURE if yes else 1.0 - _SURE for _, yes in step])
            loss = functional.binary_cross_entropy_with_logits(says, right)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learnt, 1.0)
            optimiser.step()
            losses.append(loss.item())
            if len(losses) % _TOLD == 0:
                log.info("minutes=%.1f steps=%d loss=%.3f", gone * minutes, len(losses), np.mean(losses[-_TOLD:]))
    save_file(net.weights(), file)
    net.eval()

    def say_yes(questions: Sequence[Decided]) -> list[float]:
        laid = [lay(one.question, [one.passage()], tokenizer, tokens) for one in questions]
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            steps = [net(*_tensors(laid[n : n + _STEP]), 1)[1] for n in range(0, len(laid), _STEP)]
        found: list[float] = torch.cat(steps)[:, 0].float().tolist()
        return found

    seen = {"questions": sum(map(len, questions)), "seen": len(losses) * _STEP, "loss": float(np.mean(losses[-100:]))}
    return seen | verdicts_on_pages_kept(say_yes)


def _chances(questions: Sequence[Decided]) -> npt.NDArray[np.float64]:
    weights = evened(questions)
    return weights / weights.sum()


def _tensors(laid: Sequence[Laid]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Token ids, mask, and 0 for the tokens of the last line, 1 for the others."""
    length = max(len(one.ids) for one in laid)
    ids, mask = torch.zeros(len(laid), length, dtype=torch.long), torch.zeros(len(laid), length, dtype=torch.long)
    line = torch.ones(len(laid), length, dtype=torch.long)
    for row, one in enumerate(laid):
        ids[row, : len(one.ids)], mask[row, : len(one.ids)] = torch.tensor(one.ids), 1
        line[row, one.places[0][-1] or slice(0, 1)] = 0
    return ids, mask, line
