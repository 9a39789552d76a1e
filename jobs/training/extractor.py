"""Training of the extractor of key information (`jobs.models.extractor`): which words of a sentence its sources have.

Binary cross-entropy over the tokens of the words that carry content.

Source: Xinyu AI Search, section 3.6.1; Devlin et al., BERT, arXiv 1810.04805, 5.3 (a score for each token).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from scipy.stats import mannwhitneyu
from torch.nn import functional

from quern.jobs.models.extractor import TOKENS, tokens_of
from quern.jobs.training.citations import Case, Word, data_of, key_words
from quern.jobs.training.graphs import is_held_out
from quern.jobs.training.language_model import batch_at
from quern.jobs.training.reranker import MINIMUM, Reranker, Shape, described, digest_of
from quern.jobs.training.run import (
    Card,
    Run,
    Settings,
    TrainingError,
    autocast,
    check_out,
    training_folder,
    write_result,
)
from quern.schemas.digests import settings_digest

_MOST_MEASURED: Final = 200  # Sentences.


@dataclass(frozen=True)
class Marked:
    """A sentence with its words."""

    sentence: str
    words: Sequence[Word]


class Extractor(Reranker):
    """An encoder with a score for each token."""

    head = "AutoModelForTokenClassification"

    def read(self, sentences: Sequence[str]) -> tuple[torch.Tensor, Any]:
        """The score of each token, shape (sentences, tokens), and the characters of each."""
        device = next(self.model.parameters()).device
        inputs = self.tokenizer(
            list(sentences),
            truncation=True,
            max_length=self.max_tokens,
            padding=True,
            pad_to_multiple_of=8,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = inputs.pop("offset_mapping").tolist()
        with autocast(device):
            return self.model(**inputs.to(device)).logits[..., 0].float(), offsets


def word_scores(net: Extractor, marked: Sequence[Marked]) -> tuple[torch.Tensor, torch.Tensor]:
    """The score of each word of the sentences, and whether it is key information, 1 or 0; shape (words,)."""
    scores, offsets = net.read([m.sentence for m in marked])
    rows = [
        (scores[n, inside].mean(), float(key))
        for n, of in enumerate(marked)
        for start, end, key in of.words
        if (inside := tokens_of(offsets[n], start, end))
    ]
    return torch.stack([score for score, _ in rows]), torch.tensor([key for _, key in rows], device=scores.device)


def extraction_loss(net: Extractor, marked: Sequence[Marked]) -> torch.Tensor:
    """Binary cross-entropy, the mean over words."""
    return functional.binary_cross_entropy_with_logits(*word_scores(net, marked))


def area(net: Extractor, marked: Sequence[Marked]) -> float:
    """Area under ROC of words that are key information against others; .5 where one of the kinds lacks."""
    parts = [word_scores(net, [one]) for one in marked]
    scores, key = (torch.cat(some).cpu().numpy() for some in zip(*parts, strict=True))
    right, wrong = scores[key > 0], scores[key == 0]
    return float(mannwhitneyu(right, wrong).statistic) / (len(right) * len(wrong)) if len(right) and len(wrong) else 0.5


def train_extractor(
    cases: Sequence[Case], out: Path, settings: Settings, size: int, layers: int, base: str, licence: str, command: str
) -> dict[str, float]:
    """Train an extractor by batches of `size` sentences and write its folder, which `cite.extractor` takes.

    `OUT.training` holds the checkpoint until the result is written. `base` is a model, or `reader`.

    Raises:
        TrainingError: There are too few sentences, the base is no encoder, or as `Run.train`.
    """
    check_out(out)
    # A short answer is key information as a whole: it would teach that every word is.
    known = [case for case in cases if case.key or (case.supports and not case.given.alone)]
    parts: dict[bool, list[Marked]] = {False: [], True: []}
    for case in known:
        if words := key_words(case):
            # Sentences that rest on one text are held out together.
            text = case.given.sources[(case.supports or (1,))[0] - 1].text
            parts[is_held_out(text)].append(Marked(case.given.sentence, words))
    trained, measured = parts[False], parts[True][:_MOST_MEASURED]
    if len(trained) < MINIMUM or not measured:
        raise TrainingError(
            f"{len(trained)} sentences with a source that supports them are too few to train an extractor: at least "
            f"{MINIMUM} are needed; add cases"
        )
    torch.manual_seed(settings.seed)
    net = Extractor(base, Shape(max_tokens=TOKENS, layers=layers))
    data = settings_digest([[m.sentence, [list(w) for w in m.words]] for m in [*trained, *measured]])
    run = Run(
        net,
        lambda step: [trained[n] for n in batch_at(step, len(trained), min(size, len(trained)), settings.seed)],
        extraction_loss,
        settings,
        training_folder(out),
        {"size": size, "layers": layers, "base": base, "base_digest": digest_of(base), "data": data},
        evaluate=lambda of: area(of, measured),
        describe=lambda marked: " | ".join(m.sentence for m in marked),
    )
    outcome = run.train()
    figures = {
        "questions": min(len(trained), outcome.steps * size),
        "steps": outcome.steps,
        "loss": outcome.loss,
        "share of words that are key": float(np.mean([key for m in trained for _, _, key in m.words])),
        "development sentences": len(measured),
        "area under ROC of development words": outcome.best or 0.0,
    }
    card = Card(
        title=f"Extractor of key information {out.name}",
        task="Scores which words of a sentence of an answer its sources must have: for `cite.extractor`.",
        base=described(base),
        data=data_of(known, licence),
        figures=figures,
        settings=run.described,
        command=command,
        tags={"library_name": "transformers", "pipeline_tag": "token-classification"},
    )
    write_result(out, lambda folder: net.cpu().save(folder), card)
    run.finish()
    return figures
