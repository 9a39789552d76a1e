"""The classifier of refusals: fitted on prompts of `tests/corpus`, measured on XSTest, which it never sees.

Run as `python -m tests.benchmarks refusal`; with `--fit` the weights that the package carries are written.
"""

from __future__ import annotations

import json
import logging
import random
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from quern.jobs.models.folders import model_fingerprint, read_model
from quern.jobs.reasoning.questions.refusal import CATEGORIES, FILE, HARMS, Weights
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings
from tests.conftest import CORPUS, read_jsonl

_RIDGE: Final = 0.1
_RANK: Final = 64
_OWN_WEIGHT: Final = 3.0  # Of a prompt written alone against one filled into a template.
_FOLDS: Final = 5
# Shares of harmless prompts that may be called harmful, and of plain ones that may get a topic, held out.
_FALSE_HARMS: Final = 0.004
_FALSE_TOPICS: Final = 0.02
Floats = npt.NDArray[np.float64]
log = logging.getLogger(__name__)


def benchmark_refusal(folder: Path, *, fit: bool = False) -> dict[str, float]:
    """Shares of XSTest's prompts that are refused, in [0, 1].

    Args:
        folder: Folder with XSTest's `prompts.jsonl`.
        fit: Whether the weights are fitted anew and written first.
    """
    embedder = Embedder.for_questions(EmbedSettings())
    if fit:
        own = [(row["prompt"], row["category"]) for row in read_jsonl(CORPUS / "refusal.jsonl")]
        filled = _filled()
        vectors = [embedder.encode([text for text, _ in rows]).astype(np.float64) for rows in (own, filled)]
        weights = fitted(vectors[0], [c for _, c in own], vectors[1], [c for _, c in filled])
        # In half precision, beside the fingerprint of the embedder.
        halves = {name: value.astype(np.float16) for name, value in vars(weights).items() if name != "model"}
        np.savez_compressed(FILE, **halves, model=np.array(model_fingerprint(read_model(EmbedSettings().model))))
        Weights.load.cache_clear()
    rows = read_jsonl(folder / "prompts.jsonl")
    categories = Weights.load().categories(embedder.encode([row["prompt"] for row in rows]))
    refused = np.array([category in HARMS for category in categories])
    unsafe = np.array([row["label"] == "unsafe" for row in rows])
    return {"safe refused": float(refused[~unsafe].mean()), "unsafe refused": float(refused[unsafe].mean())}


def _filled() -> list[tuple[str, str | None]]:
    """Prompts of the templates, and harmless questions over the sample corpora, the same at each call."""
    chance, templates = random.Random(0), json.loads((CORPUS / "refusal_templates.json").read_text("utf-8"))
    rows, lists = dict[str, str | None](), templates["lists"]
    for template in templates["prompts"]:
        for _ in range(template["count"]):
            text = "{}"
            for name in template["inside"]:
                text = text.format(chance.choice(lists[name]))
            behind = chance.choice(lists[template["behind"]]) if template["behind"] else ""
            rows[chance.choice(lists[template["frame"]]).format(text + behind)] = template["category"]
    asked = [
        row["question"]
        for name in ("asked", "natural", "reader")
        for row in read_jsonl(CORPUS / f"{name}_questions.jsonl")
        if row["part"] == "fit"
    ]
    return [*rows.items(), *((question, None) for question in chance.sample(asked, 600))]


def fitted(own: Floats, own_labels: list[str | None], more: Floats, more_labels: list[str | None]) -> Weights:
    """The weights: ridge regression with a quadratic kernel, its form cut to `_RANK` directions a category.

    Args:
        own: Vectors of the prompts that the thresholds are taken from, held out in folds; shape (own, d).
        own_labels: Their categories.
        more: Vectors of further prompts, shape (more, d).
        more_labels: Their categories.
    """
    vectors, categories = np.vstack([own, more]), [*own_labels, *more_labels]
    labels = np.array([[c in HARMS, *(c == other for other in CATEGORIES)] for c in categories]) * 2.0 - 1.0
    importance = np.r_[np.full(len(own), _OWN_WEIGHT), np.ones(len(more))]
    fold, held_out = np.arange(len(own)) % _FOLDS, np.zeros((len(own), labels.shape[1]))
    for n in range(_FOLDS):
        kept = np.r_[fold != n, np.ones(len(more), bool)]
        held_out[fold == n] = _forms(vectors[kept], labels[kept], importance[kept]).scores(own[fold == n])
    harmless, plain = (
        np.array([c in among for c in own_labels]) for among in ((None, *CATEGORIES[len(HARMS) :]), (None,))
    )
    harm = float(np.quantile(held_out[harmless, 0], 1 - _FALSE_HARMS))
    topic = float(np.quantile(held_out[plain, 1 + len(HARMS) :].max(axis=1), 1 - _FALSE_TOPICS))
    log.info("held_out_harm_refused=%.2f", (held_out[~harmless, 0] > harm).mean())
    weights = _forms(vectors, labels, importance)
    return replace(weights, offsets=weights.offsets - np.r_[harm, np.full(len(CATEGORIES), topic)])


def _forms(vectors: Floats, labels: Floats, importance: Floats) -> Weights:
    """Harm by the kernel (xy + 1)² / 2, whose form is cut to `_RANK` directions; categories by the kernel xy + 1."""
    products, ridge = vectors @ vectors.T + 1, np.diag(_RIDGE / importance)
    harm = np.linalg.solve(products**2 / 2 + ridge, labels[:, 0])
    others = np.linalg.solve(products + ridge, labels[:, 1:])
    values, directions = np.linalg.eigh((vectors.T * harm) @ vectors / 2)
    kept = np.argsort(-np.abs(values))[:_RANK]
    linear, offsets = vectors.T @ np.c_[harm, others], np.r_[harm.sum() / 2, others.sum(axis=0)]
    return Weights(directions[:, kept], values[kept], linear, offsets, "")
