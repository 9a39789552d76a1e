"""Training of the reader (`jobs.models.reader`): all weights of the encoder's layers, and the heads.

The loss of a window is the surprise at which line answers, or that none does; half of that at the words that do; a
fifth of that at the kind of answer. In every fourth batch a line is read alone that decides a question of yes or no.
Shared words tell yes from no in part, for writers avoid them; so these questions are drawn equally often at each share
of words (`Decisions`).

Source: Devlin et al., BERT, arXiv 1810.04805, 4.2 and 4.3 (spans, null answer); Loshchilov and Hutter, AdamW, arXiv
1711.05101.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch import nn
from torch.nn import functional
from transformers import BertModel

from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.jobs.models.reader import FORMAT, KINDS, SCALE, Tokens, Window, dequantised, lay_out
from quern.jobs.text.stems import content_words
from quern.jobs.training.pages import Chances, Question, Target, decision, pages_of, read_pages, target
from quern.jobs.training.run import Run, Settings, autocast, training_folder
from quern.schemas.digests import bytes_digest, settings_digest

_INNER: Final = 128  # Width of the hidden layer of a head.
_TOKENS: Final = 4096  # Of a batch, padding included.
_SORTED: Final = 640  # Windows that are sorted by length together.
_PAD: Final = 16
_SPAN, _KIND, _YES = 0.5, 0.2, 0.5  # Weights of the parts of the loss.
_SMOOTH: Final = 0.02  # What a yes or no is short of certainty.
_EVERY: Final = 4  # Batches, of which one is of single lines that decide.
_DECISIONS: Final = 512  # Of which so many are sorted by length together.
_SHARES: Final = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.8)  # Bounds of the shares of words, of about as many.
_RAREST: Final = 5.0  # How much oftener than by chance the rarer of yes and no is drawn, at most.


class _Head(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, _INNER), nn.Linear(_INNER, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of vectors, shape (..., d) to (...)."""
        return self.outer(functional.gelu(self.inner(x)))[..., 0]


@dataclass(frozen=True)
class Scores:
    """What the net makes of a batch: of `none` and each line, of yes, of first and last tokens, and of kinds."""

    lines: torch.Tensor
    yes: torch.Tensor
    marks: torch.Tensor
    kinds: torch.Tensor


class Net(nn.Module):  # type: ignore[misc]
    """The reader as it is trained; the embeddings of tokens stay as they are."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        # Dropout of attention would keep PyTorch from its fused attention: a step takes a fifth of the time without.
        self.encoder = BertModel.from_pretrained(folder, add_pooling_layer=False, attention_probs_dropout_prob=0.0)
        self.encoder.embeddings.requires_grad_(False)
        width = self.encoder.config.hidden_size
        self.line, self.none, self.yes = _Head(width), _Head(width), _Head(width)
        self.span, self.kind = nn.Linear(width, 2), nn.Linear(width, len(KINDS))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, line: torch.Tensor, lines: int) -> Scores:
        """Read windows: `line` is the number of each token's line, `lines` for tokens of none, shape (n, tokens)."""
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        of = functional.one_hot(line, lines + 1)[..., :lines].float()
        count = of.sum(1)
        mean = torch.einsum("btn,btd->bnd", of, hidden) / count.clamp(min=1)[..., None]
        scores = torch.cat([self.none(hidden[:, :1]), self.line(mean).masked_fill(count == 0, -1e4)], 1)
        return Scores(scores, self.yes(mean), self.span(hidden), self.kind(hidden[:, 0]))

    def weights(self) -> dict[str, np.ndarray]:
        """What was trained, by the names that the reader knows; matrices of the encoder in int8 with a scale a row."""
        written: dict[str, np.ndarray] = {FORMAT: np.ones(1, np.int8)}
        for name, parameter in self.named_parameters():
            if not parameter.requires_grad:
                continue
            values, name = parameter.detach().float().numpy(), name.removeprefix("encoder.")
            if name.startswith("encoder.") and values.ndim > 1:
                scale = np.abs(values).max(axis=1, keepdims=True) / 127
                written[name + SCALE] = scale.astype(np.float32)
                values = np.round(values / scale).astype(np.int8)
            written[name] = values
        return written

    def load_weights(self, file: Path) -> None:
        """Go on from the weights of a reader in `file`."""
        known = dequantised(load_file(file))
        for name, parameter in self.named_parameters():
            name = name.removeprefix("encoder.")
            if parameter.requires_grad and name in known:
                parameter.data.copy_(torch.from_numpy(known[name]))


@dataclass(frozen=True)
class Batch:
    """Windows as tensors; `right` and `scores` have `none` first, `span` is -1 where it is not known."""

    ids: torch.Tensor
    mask: torch.Tensor
    line: torch.Tensor
    right: torch.Tensor
    yes: torch.Tensor
    span: torch.Tensor
    kind: torch.Tensor


class Layout:
    """Makes windows and batches of targets; texts are split once."""

    def __init__(self) -> None:
        self._tokenizer = load_tokenizer(read_model(DEFAULT_MODEL))
        self._special = self._tokenizer.encode("").ids
        self._known: dict[str, Tokens] = {}

    def window(self, of: Target) -> Window:
        """The window of a target."""
        return lay_out(of.question, of.passages, self._special, self._tokens)

    def batch(self, of: Sequence[tuple[Window, Target]]) -> Batch:
        """Windows of about the same length as one batch."""
        length = -(-max(len(w.ids) for w, _ in of) // _PAD) * _PAD
        lines = max([1, *(sum(map(len, w.places)) for w, _ in of)])
        shape = (len(of), length)
        ids, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
        line, right = torch.full(shape, lines), torch.zeros(len(of), lines + 1, dtype=torch.bool)
        span = torch.full((len(of), 2), -1)
        for row, (window, one) in enumerate(of):
            ids[row, : len(window.ids)], mask[row, : len(window.ids)] = torch.tensor(window.ids), 1
            flat = [p for places in window.places for p in places]
            for n, (place, answers) in enumerate(zip(flat, (r for rs in one.right for r in rs), strict=True)):
                if place is not None:
                    line[row, place], right[row, n + 1] = n, answers
            right[row, 0] = not right[row, 1:].any()
            span[row] = torch.tensor(self._span(window, one))
        yes = torch.tensor([-1.0 if one.yes is None else float(one.yes) for _, one in of])
        kind = torch.tensor([-1 if one.kind is None else one.kind for _, one in of])
        return Batch(ids, mask, line, right, yes, span, kind)

    def _span(self, window: Window, of: Target) -> tuple[int, int]:
        """First and last token of the words that answer; -1 where they are not known or were cut off."""
        if of.span is None:
            return -1, -1
        passage, line, start, end = of.span
        place = window.places[passage][line]
        offsets = self._tokens(of.passages[passage].lines[line]).offsets
        inside = [n for n, (a, b) in enumerate(offsets) if a < end and b > start]
        if place is None or not inside or inside[-1] >= place.stop - place.start:
            return -1, -1
        return place.start + inside[0], place.start + inside[-1]

    def _tokens(self, text: str) -> Tokens:
        if text not in self._known:
            encoded = self._tokenizer.encode(text, add_special_tokens=False)
            self._known[text] = Tokens(encoded.ids, encoded.offsets)
        return self._known[text]


class Decisions:
    """Questions of yes or no with lines that decide them, drawn so that shared words do not tell yes from no.

    Two thirds of them are about twins of pages.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        asked = [q for q in questions if q.right and q.yes is not None]
        parts = {1 / 3: [q for q in asked if not q.page.has_twin], 2 / 3: [q for q in asked if q.page.has_twin]}
        self._parts = [(part, _evened(part), share) for share, part in parts.items() if part]

    def __bool__(self) -> bool:
        return bool(self._parts)

    def draw(self, count: int, chance: random.Random) -> list[Target]:
        """About `count` of them."""
        drawn = [chance.choices(part, weights, k=round(count * share)) for part, weights, share in self._parts]
        return [decision(q, chance) for questions in drawn for q in questions]


def _evened(questions: Sequence[Question]) -> list[float]:
    """Weights under which yes and no are equally frequent at each share of words of the question in its line."""
    words = [content_words(q.question) for q in questions]
    shared = [
        max(len(w & q.page.words[n]) for n in q.right) / max(1, len(w)) for w, q in zip(words, questions, strict=True)
    ]
    yes, bins = np.array([q.yes for q in questions]), np.digitize(shared, _SHARES)
    weights = np.zeros(len(questions))
    for at in range(len(_SHARES) + 1):
        for says in (False, True):
            these = (bins == at) & (yes == says)
            weights[these] = min(_RAREST, 0.5 * (bins == at).sum() / max(1, these.sum()))
    return [*weights.tolist()]


def loss_of(scores: Scores, batch: Batch) -> torch.Tensor:
    """The surprise at what is right of a batch of windows."""
    # Of a list all lines are to be found, of other questions any one.
    likely = scores.lines.float().log_softmax(1)
    several = (batch.kind == KINDS.index("list"))[:, None] & batch.right
    any_one = -torch.logsumexp(likely.masked_fill(~batch.right, -1e9), 1)
    each = -(likely * several).sum(1) / several.sum(1).clamp(min=1)
    loss = torch.where(several.any(1), each, any_one).mean()
    if (known := batch.span[:, 0] >= 0).any():
        # The surprise at first and last token among those of the line that has them.
        line, span = batch.line[known], batch.span[known]
        own = line == line.gather(1, span[:, :1])
        marks = scores.marks[known].float().masked_fill(~own[..., None], -1e9)
        ends = sum(functional.cross_entropy(marks[..., n], span[:, n]) for n in (0, 1))
        loss = loss + _SPAN * known.float().mean() * ends
    if (known := batch.kind >= 0).any():
        loss = loss + _KIND * functional.cross_entropy(scores.kinds[known].float(), batch.kind[known])
    # The surprise at what the right lines say, where yes or no is asked.
    yes = scores.yes.float()
    right = batch.right[:, 1:] & (batch.yes >= 0)[:, None]
    wanted = batch.yes.clamp(_SMOOTH, 1 - _SMOOTH)[:, None].expand_as(yes)
    said = functional.binary_cross_entropy_with_logits(yes, wanted, reduction="none")
    return loss + _YES * ((said * right).sum(1) / right.sum(1).clamp(min=1)).mean()


@dataclass(frozen=True)
class Training:
    """A run."""

    files: Sequence[Path]  # Pages to train on; questions of a file that is named twice count twice.
    out: Path  # Where the weights go; `OUT.training` beside it holds the checkpoint.
    steps: int  # Batches of the run.
    begin: Path | None = None  # A reader to go on from; None for the embedding model.
    rate: float = 1e-4  # The highest learning rate; it falls evenly to 0 after `warm` steps.
    warm: int = 60
    seed: int = 0  # Of everything that is left to chance.
    device: str = "cpu"  # `cpu` or `cuda`.
    saved: int = 250  # Steps between two checkpoints.

    def run(self) -> dict[str, float]:
        """Train, and write the weights.

        Raises:
            DataError: A file of pages cannot be read.
            TrainingError: As of `Run.train`.
        """
        torch.manual_seed(self.seed)
        questions = read_pages(self.files)
        net = Net(read_model(DEFAULT_MODEL).transformer)
        if self.begin is not None:
            net.load_weights(self.begin)
        inputs = [*self.files, *([self.begin] if self.begin else [])]
        run = Run(
            net,
            _Batches(questions, self.seed, self.saved),
            _loss,
            Settings(self.steps, self.rate, self.warm, self.seed, self.device, every=self.saved),
            training_folder(self.out),
            {"data": settings_digest([bytes_digest(file.read_bytes()) for file in inputs])},
        )
        outcome = run.train()
        save_file(net.cpu().weights(), self.out)
        run.finish()
        return {"questions": len(questions), "steps": outcome.steps, "loss": outcome.loss}


def _loss(net: Net, batch: Batch) -> torch.Tensor:
    device = next(net.parameters()).device
    batch = Batch(*(values.to(device) for values in vars(batch).values()))
    with autocast(device):
        scores = net(batch.ids, batch.mask, batch.line, batch.right.shape[1] - 1)
    return loss_of(scores, batch)


class _Batches:
    """The batch of each step: windows of all questions in random order, and every fourth of lines that decide.

    The order is drawn anew after each checkpoint, so that a run that goes on from one draws the same.
    """

    def __init__(self, questions: Sequence[Question], seed: int, saved: int) -> None:
        self._questions, self._seed, self._saved = questions, seed, saved
        self._layout, self._decisions = Layout(), Decisions(questions)
        self._drawn: Iterator[Batch] = iter(())

    def __call__(self, step: int) -> Batch:
        """The batch of `step`; steps are asked for in order, from a checkpoint on."""
        if step % self._saved == 0:
            self._drawn = self._draw(random.Random(f"{self._seed}/{step}"))
        return next(self._drawn)

    def _draw(self, chance: random.Random) -> Iterator[Batch]:
        windows = _sorted_batches(_targets(self._questions, chance), self._layout, chance)
        alone = windows
        if self._decisions:
            decided = (self._decisions.draw(_DECISIONS, chance) for _ in count())
            alone = _sorted_batches(decided, self._layout, chance)
        for n in count(1):
            yield next(alone if n % _EVERY == 0 else windows)


def _targets(questions: Sequence[Question], chance: random.Random) -> Iterator[list[Target]]:
    # Questions about twins are read line by line alone: pages of one title that contradict each other are no window.
    asked, pages, by = [q for q in questions if not q.page.has_twin], pages_of(questions), Chances()
    while True:
        order = chance.sample(asked, len(asked))
        for start in range(0, len(order), _SORTED):
            yield [target(q, pages, chance, by) for q in order[start : start + _SORTED]]


def _sorted_batches(targets: Iterator[list[Target]], layout: Layout, chance: random.Random) -> Iterator[Batch]:
    for some in targets:
        laid = sorted(((layout.window(one), one) for one in some), key=lambda pair: len(pair[0].ids))
        batches: list[list[tuple[Window, Target]]] = [[]]
        for pair in laid:
            if (len(batches[-1]) + 1) * -(-len(pair[0].ids) // _PAD) * _PAD > _TOKENS:
                batches.append([])
            batches[-1].append(pair)
        chance.shuffle(batches)
        yield from (layout.batch(batch) for batch in batches if batch)
