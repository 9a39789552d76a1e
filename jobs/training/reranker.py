"""Training of a reranker: a cross-encoder by InfoNCE, with hard negatives and those of its batch.

The base is by default the packaged embedding model with the layers of the packaged reader, which has learnt what
answers a question. Embeddings of words stay as they are, so a corpus changes no word that it does not have.

Source: Xinyu AI Search, section 3.5 (InfoNCE over a cross-encoder's scores); van den Oord et al., arXiv 1807.03748.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
from safetensors.numpy import load_file
from torch import nn

from quern.jobs.models.folders import DEFAULT_MODEL, find_folder, forbid_network
from quern.jobs.models.reader import FILE, dequantised
from quern.jobs.training.pairs import Group, normalised
from quern.jobs.training.run import (
    Card,
    Outcome,
    Run,
    Settings,
    TrainingError,
    autocast,
    check_out,
    training_folder,
    weights_digest,
    write_result,
)
from quern.schemas.digests import bytes_digest, settings_digest, text_digest

READER: Final = "reader"
# A tenth is measured with; fewer than 20 questions do not tell one model from another.
MINIMUM: Final = 200
_MEASURED: Final = 10  # Of so many questions one is measured with.
_MOST_MEASURED: Final = 50  # Questions.
_MOST_NEGATIVES: Final = 4  # Of a question that is measured with.


@dataclass(frozen=True)
class Shape:
    """What a step reads."""

    questions: int = 8  # Of a batch.
    hard: int = 4  # Negatives of its own that a question is read with, at most.
    shared: int = 1  # Positives of other questions that it is read with; more where it has too few of its own.
    max_tokens: int = 128  # Of a pair.
    layers: int = 6  # Layers of the base that are kept, the lowest; a half of them reads twice as fast.


@dataclass(frozen=True)
class Lists:
    """Questions, each with as many texts; the first answers."""

    questions: Sequence[str]
    texts: Sequence[Sequence[str]]


def info_nce(scores: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """Mean of -log e^h(x,x+) / (e^h(x,x+) + sum of e^h(x,x_i-)) over questions.

    Args:
        scores: h of each question with its texts, the positive first, shape (questions, texts).
        present: Which of them there are; the others count as nothing.
    """
    return -scores.masked_fill(~present, -torch.inf).log_softmax(1)[:, 0].mean()


class Reranker(nn.Module):  # type: ignore[misc]
    """A cross-encoder with its tokenizer."""

    head: ClassVar[str] = "AutoModelForSequenceClassification"

    def __init__(self, base: str, shape: Shape) -> None:
        """Load the base.

        Raises:
            ModelError: There is no such model.
            TrainingError: It is no encoder.
        """
        super().__init__()
        forbid_network()
        import transformers
        from transformers.utils.logging import disable_progress_bar, set_verbosity_error

        disable_progress_bar()
        set_verbosity_error()  # That the base has no head yet is no news.
        folder = find_folder(DEFAULT_MODEL if base == READER else base, "--base")
        try:
            there = transformers.AutoConfig.from_pretrained(folder).num_hidden_layers
            self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
            self.model: Any = getattr(transformers, self.head).from_pretrained(
                folder, num_labels=1, attention_probs_dropout_prob=0.0, num_hidden_layers=shape.layers, dtype="float32"
            )
        # Libraries raise errors of their own for files that are missing, damaged or of another kind.
        except (OSError, ValueError, RuntimeError, KeyError, TypeError, AttributeError) as error:
            raise TrainingError(f"--base {base} is no encoder: {' '.join(str(error).split())[:200]}") from error
        if self.tokenizer.cls_token_id is None or getattr(self.model.config, "is_decoder", False):
            raise TrainingError(f"--base {base} is no encoder: name a model such as BERT or XLM-RoBERTa")
        if shape.layers > there:  # Those that it lacks would be random.
            raise TrainingError(f"--layers {shape.layers}: --base {base} has {there}")
        if base == READER:
            # Take the layers of the packaged reader.
            known = dequantised(load_file(FILE))
            for name, parameter in self.model.bert.named_parameters():
                if name.startswith("encoder.") and name in known:
                    parameter.data.copy_(torch.from_numpy(known[name]))
        self.model.get_input_embeddings().requires_grad_(False)
        self.max_tokens = shape.max_tokens

    def forward(self, questions: Sequence[str], texts: Sequence[str]) -> torch.Tensor:
        """The score h of each pair, shape (pairs,)."""
        device = next(self.model.parameters()).device
        inputs = self.tokenizer(
            list(questions),
            list(texts),
            truncation="longest_first",
            max_length=self.max_tokens,
            padding=True,
            pad_to_multiple_of=8,
            return_tensors="pt",
        ).to(device)
        with autocast(device):
            return self.model(**inputs).logits[:, 0].float()

    def save(self, folder: Path) -> None:
        """Write a folder that transformers loads; the tokenizer cuts at the length that was trained."""
        self.model.save_pretrained(folder)
        self.tokenizer.model_max_length = self.max_tokens
        self.tokenizer.save_pretrained(folder)


def split(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """Questions to train on, and a tenth to measure with; questions about one text stay together.

    Raises:
        TrainingError: There are too few.
    """
    if len(groups) < MINIMUM:
        raise TrainingError(
            f"{len(groups)} questions with an answering text are too few to train a reranker: at least {MINIMUM} are "
            "needed; add a labelled set with --pairs, or use a warehouse with more documents"
        )
    measured = [int(text_digest(normalised(g.positives[0]))[:8], 16) % _MEASURED == 0 for g in groups]
    parts = [[g for g, m in zip(groups, measured, strict=True) if m is wanted] for wanted in (False, True)]
    if not parts[0] or not parts[1]:
        raise TrainingError("all questions are about one text: several are needed")
    return parts[0], sorted(parts[1], key=lambda g: text_digest(g.question))[:_MOST_MEASURED]


class Batches:
    """The batch of each step: every question once in an order of chance, then again in another."""

    def __init__(self, groups: Sequence[Group], shape: Shape, seed: int) -> None:
        self._groups, self._shape, self._seed = groups, shape, seed
        every = range(len(groups))
        self._order = lru_cache(maxsize=2)(
            lambda epoch: random.Random(f"{seed}/epoch/{epoch}").sample(every, len(every))
        )

    def __call__(self, step: int) -> Lists:
        """The questions of a step, each with a positive, its own negatives and positives of the others."""
        chance, shape, count = random.Random(f"{self._seed}/{step}"), self._shape, len(self._groups)
        at = range(step * shape.questions, (step + 1) * shape.questions)
        groups = [self._groups[self._order(n // count)[n % count]] for n in at]
        positives = [chance.choice(group.positives) for group in groups]
        texts = []
        for group, positive in zip(groups, positives, strict=True):
            own = chance.sample(group.negatives, min(shape.hard, len(group.negatives)))
            others = [p for p in dict.fromkeys(positives) if p not in group.positives and p not in own]
            wanted = shape.hard + shape.shared - len(own)
            texts.append([positive, *own, *chance.sample(others, min(wanted, len(others)))])
        return Lists([group.question for group in groups], texts)


def scored(net: Reranker, lists: Lists) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores of a batch, and which of them there are; as of `info_nce`."""
    width = max(map(len, lists.texts))
    present = torch.tensor([[n < len(texts) for n in range(width)] for texts in lists.texts])
    flat = [(q, text) for q, texts in zip(lists.questions, lists.texts, strict=True) for text in texts]
    scores = net([q for q, _ in flat], [text for _, text in flat])
    table = torch.zeros(present.shape, device=scores.device).masked_scatter(present.to(scores.device), scores)
    return table, present.to(scores.device)


def loss_of(net: Reranker, lists: Lists) -> torch.Tensor:
    """InfoNCE of a batch."""
    return info_nce(*scored(net, lists))


def reciprocal_rank(net: Reranker, groups: Sequence[Group]) -> float:
    """Mean reciprocal rank of a positive among the negatives of its question, over those that have some."""
    ranks = []
    for group in groups:
        texts = [group.positives[0], *group.negatives[:_MOST_NEGATIVES]]
        if len(texts) > 1:
            scores = net([group.question] * len(texts), texts)
            ranks.append(1.0 / (1.0 + float((scores[1:] >= scores[0]).sum())))
    return float(np.mean(ranks or [0.0]))


def train(
    groups: Sequence[Group],
    out: Path,
    settings: Settings,
    shape: Shape,
    base: str,
    data: Sequence[tuple[str, str, int]],
    command: str,
    beside: Sequence[Path] = (),
) -> dict[str, float]:
    """Train a cross-encoder and write its folder `out`, which `rerank.model` takes.

    `OUT.training` holds the checkpoint until the result is written. `base` is a model, or `reader`; `data` and
    `command` are those of `Card`; the folder also gets the files `beside`.

    Returns:
        `questions`, `steps`, `loss`, and the mean reciprocal rank on the development tenth, which chooses the weights,
            before and after.

    Raises:
        TrainingError: There are too few pairs, the base is no encoder, or as `Run.train`.
    """
    check_out(out)
    trained, measured = split(groups)
    torch.manual_seed(settings.seed)
    net = Reranker(base, shape)
    held = {
        "goal": "Reranker",
        "base": base,
        "base_digest": digest_of(base),
        "data": settings_digest([vars(g) for g in groups]),
    }
    run = Run(
        net,
        Batches(trained, shape, settings.seed),
        loss_of,
        settings,
        training_folder(out),
        {**vars(shape), **held},
        evaluate=lambda of: reciprocal_rank(of, measured),
        describe=lambda lists: " | ".join(lists.questions),
    )
    net.eval()
    with torch.no_grad():
        before = reciprocal_rank(net.to(settings.device), measured)
    outcome: Outcome = run.train()
    figures: dict[str, float] = {
        "questions": min(len(trained), outcome.steps * shape.questions),
        "development questions": len(measured),
        "steps": outcome.steps,
        "loss": outcome.loss,
        "MRR of development questions before": before,
        "MRR of development questions": outcome.best or 0.0,
    }
    card = Card(
        title=f"Reranker {out.name}",
        task="Scores how well a passage answers a question: a cross-encoder for `rerank.model`, FlagReranker and "
        "sentence-transformers' CrossEncoder.",
        base=described(base),
        data=data,
        figures=figures,
        settings=run.described,
        command=command,
        tags={"library_name": "transformers", "pipeline_tag": "text-ranking"},
    )

    def save(folder: Path) -> None:
        net.cpu().save(folder)
        for file in beside:
            shutil.copy2(file, folder)

    write_result(out, save, card)
    run.finish()
    return figures


def described(base: str) -> str:
    """A base with its licence, for a model card."""
    return f"{DEFAULT_MODEL} (Apache-2.0) with the layers of Quern's reader (Apache-2.0)" if base == READER else base


def digest_of(base: str) -> str:
    """Digest of a base's weights."""
    return bytes_digest(FILE.read_bytes()) if base == READER else weights_digest(find_folder(base, "--base"))
