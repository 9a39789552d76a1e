"""Training of late interaction (`jobs.models.late_interaction`): which lines of many the reader is to read.

A question is seen beside all lines of its own page and of pages that are easily confused with it. The loss is the
surprise at a right line under the score that is used: shared words at their fixed weights, and the match at `WEIGHT`.

Source: conditional logit over candidates, as the contrastive loss of Khattab and Zaharia, ColBERT, arXiv 2004.12832.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn
from torch.nn import functional

from quern.jobs.models.bert import token_embeddings
from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.jobs.models.late_interaction import FORMAT, LINE, QUESTION, TAPS, WEIGHT
from quern.jobs.text.stems import QUESTION_WEIGHT, content_words, weighted, word_shares
from quern.jobs.training.pages import Page, Question, confusable, pages_of, read_pages

_WIDTH: Final = 64  # Of a token's vector; 32 and 128 were not tried.
_SHARP: Final = 10.0  # By which the weights of tokens learn faster than the projections.
_QUESTIONS: Final = 16  # Of a batch.
_LOGGED: Final = 100  # Batches between two lines of the log.

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Example:
    """A question and the lines of several pages."""

    question: list[int]  # Its token ids.
    lines: list[list[int]]  # Those of each line.
    before: torch.Tensor  # Of each line the number of the line before it; -1 at the beginning of a page.
    right: torch.Tensor  # Of each line, whether it answers.
    score: torch.Tensor  # Of each line the log odds by shared words.


class Net(nn.Module):  # type: ignore[misc]
    """Late interaction as it is trained; the embeddings of tokens stay as they are."""

    def __init__(self, embeddings: np.ndarray) -> None:
        super().__init__()
        self.mean = torch.from_numpy(embeddings.mean(axis=0))
        self.embeddings = functional.normalize(torch.from_numpy(embeddings) - self.mean, dim=1)
        projection = torch.zeros(TAPS, embeddings.shape[1], _WIDTH)
        projection[1] = torch.pca_lowrank(self.embeddings, q=_WIDTH, niter=4)[2]
        self.question, self.line = nn.Parameter(projection.clone()), nn.Parameter(projection.clone())
        self.weight = nn.Parameter(torch.zeros(TAPS, embeddings.shape[1], 1))
        self.bias, self.before = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))

    def forward(self, examples: Sequence[Example]) -> list[torch.Tensor]:
        """The log odds of the lines of each example."""
        questions, lines = _padded([e.question for e in examples]), _padded([r for e in examples for r in e.lines])
        asked = functional.normalize(self._taps(questions, self.question), dim=-1)
        weight = functional.softplus(_SHARP * self._taps(questions, self.weight)[..., 0] + self.bias) * (questions > 0)
        vectors = functional.normalize(self._taps(lines, self.line), dim=-1)
        of = torch.split(vectors, [len(e.lines) for e in examples])
        tokens = torch.split(lines > 0, [len(e.lines) for e in examples])
        shares, scores = weight / weight.sum(1, keepdim=True), []
        for example, words, share, own_lines, there in zip(examples, asked, shares, of, tokens, strict=True):
            own = torch.einsum("qd,ntd->nqt", words, own_lines).masked_fill(~there[:, None], -1.0).amax(-1)
            above = torch.where(example.before[:, None] >= 0, own[example.before], -1.0)
            matched = own + torch.sigmoid(self.before) * functional.relu(above - own)
            scores.append(example.score + WEIGHT * matched @ share)
        return scores

    def _taps(self, ids: torch.Tensor, projection: torch.Tensor) -> torch.Tensor:
        """Projections of tokens with their neighbours, shape (n, tokens, width); those of equal tokens once."""
        unique, at = torch.unique(ids, return_inverse=True)
        rows = self.embeddings[unique] * (unique > 0)[:, None]
        before, own, behind = (functional.embedding(at, rows @ tap) for tap in projection)
        none = torch.zeros_like(own[:, :1])
        return torch.cat([none, before[:, :-1]], 1) + own + torch.cat([behind[:, 1:], none], 1)

    def weights(self) -> dict[str, np.ndarray]:
        """What was trained, by the names that `LateInteraction` knows, in half precision."""
        trained = {
            "question": self.question,
            "line": self.line,
            "weight": _SHARP * self.weight,
            "bias": self.bias,
            "before": torch.sigmoid(self.before),
            "mean": self.mean,
        }
        halves = {name: values.detach().numpy().astype(np.float16) for name, values in trained.items()}
        return {FORMAT: np.ones(1, np.int8), **halves}


def _padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row or [0]) for row in rows], batch_first=True)


class Examples:
    """Draws examples of questions; texts are split once."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = pages
        self._tokenizer = load_tokenizer(read_model(DEFAULT_MODEL))
        self._known: dict[str, list[int]] = {}

    def draw(self, question: Question, chance: random.Random) -> Example:
        """A question beside its page and pages that are easily confused with it."""
        every = confusable(question, self._pages, chance)
        shares = word_shares(content_words(question.question), [(p.title_words, p.words) for p in every])
        lines: list[list[int]] = []
        before: list[int] = []
        right: list[bool] = []
        score: list[float] = []
        for p, of in zip(every, shares, strict=True):
            for n, (text, share) in enumerate(zip(p.lines, of, strict=True)):
                before.append(len(lines) - 1 if n else -1)
                lines.append(self._ids(text)[:LINE])
                right.append(p is question.page and n in question.right)
                score.append(weighted(share) + QUESTION_WEIGHT * text.endswith("?"))
        ids = self._ids(question.question)[:QUESTION]
        return Example(ids, lines, torch.tensor(before), torch.tensor(right), torch.tensor(score))

    def _ids(self, text: str) -> list[int]:
        if text not in self._known:
            self._known[text] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return self._known[text]


@dataclass(frozen=True)
class Training:
    """A run."""

    files: Sequence[Path]  # Pages to train on; questions of a file that is named twice count twice.
    out: Path  # Where the weights go.
    steps: int  # Batches of 16 questions.
    rate: float = 2e-3  # The learning rate; it falls evenly to a hundredth.
    seed: int = 0  # Of everything that is left to chance.

    def run(self) -> dict[str, float]:
        """Train, and write the weights; a run takes minutes, so none is gone on with.

        Raises:
            DataError: A file of pages cannot be read.
        """
        torch.manual_seed(self.seed)
        chance = random.Random(self.seed)
        # Twins contradict a page of the same title, so they are no lines to choose from.
        questions = [q for q in read_pages(self.files) if q.right and not q.page.has_twin]
        examples = Examples(pages_of(questions))
        net = Net(token_embeddings(read_model(DEFAULT_MODEL)))
        optimiser = torch.optim.Adam(net.parameters(), lr=self.rate)
        losses: list[float] = []
        started = time.monotonic()
        for step in range(self.steps):
            for group in optimiser.param_groups:
                group["lr"] = self.rate * max(0.01, 1 - step / self.steps)
            drawn = [examples.draw(q, chance) for q in chance.choices(questions, k=_QUESTIONS)]
            loss = torch.stack([surprise(s, e.right) for s, e in zip(net(drawn), drawn, strict=True)]).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            if (step + 1) % _LOGGED == 0:
                rate = (step + 1) / (time.monotonic() - started)
                recent = np.mean(losses[-_LOGGED:])
                log.info("step=%d of=%d loss=%.3f steps_a_second=%.2f", step + 1, self.steps, recent, rate)
        save_file(net.weights(), self.out)
        return {"questions": len(questions), "steps": self.steps, "loss": float(np.mean(losses[-_LOGGED:]))}


def surprise(scores: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The negative log probability that one of the right lines is chosen."""
    return torch.logsumexp(scores, 0) - torch.logsumexp(scores.masked_fill(~right, -1e9), 0)
