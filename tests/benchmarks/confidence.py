"""The model of confidence: fitted on all sets, and measured on each with that set left out of the fitting."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import rankdata

from quern.jobs.reasoning.confidence.features import Features, features, sentence_similarities
from quern.jobs.reasoning.confidence.model import FILE
from quern.jobs.vectors.embed import Embedder
from quern.schemas.settings import AnswerSettings, EmbedSettings
from tests.benchmarks.answerable import Case, cases

Floats = npt.NDArray[np.float64]
FALSE_REFUSALS = 0.08
_L2 = 3.0  # Of weights of standardised features; between 1 and 10 no held-out area under ROC moves by .01.
_REAL = 4.0  # What a question that nothing answers counts against one whose evidence was struck out.
_PRIOR = 0.8  # Share of answered questions among those that are asked: between the sample corpus (.9) and chance.
_BINS = 10
_COMPARED = AnswerSettings().compared


def benchmark_confidence(datasets: Path, warehouses: Sequence[Path], *, fit: bool = False) -> dict[str, float]:
    """Figures of each set held out; with `fit` the model of all sets is written into the package."""
    given = cases(datasets, warehouses)
    encode = Embedder.for_questions(EmbedSettings()).encode
    near = sentence_similarities([c.given for c in given], encode, _COMPARED)
    seen = [features(c.given, cosine) for c, cosine in zip(given, near, strict=True)]
    values = np.array([[getattr(f, name) for name in Features._fields] for f in seen])
    answered = np.array([c.answered for c in given])
    sets = np.array([c.set.split()[0] for c in given])
    weight = _weights(given)
    held_out = np.zeros(len(given))
    for name in np.unique(sets):
        others = sets != name
        held_out[~others] = _Fit.of(values[others], answered[others], weight[others]).probabilities(values[~others])
    if fit:
        _Fit.of(values, answered, weight).write(FILE)
    return _figures(given, held_out)


def _weights(given: Sequence[Case]) -> Floats:
    """Each set counts alike, its answered questions `_PRIOR` of it; real ones count more than struck out.

    Questions of several hops are measured and not fitted to: they are answered from those of their parts.
    """
    weight = np.array([_REAL if c.real and not c.answered else 1.0 for c in given])
    keys = np.array([f"{c.set} {c.answered}" for c in given])
    for key in np.unique(keys):
        weight[keys == key] *= 300 * (_PRIOR if key.endswith("True") else 1 - _PRIOR) / weight[keys == key].sum()
    weight[[c.set == "musique" for c in given]] = 0.0
    return weight


class _Fit:
    """A logistic model whose weights are not negative; unknown values are taken as the usual ones."""

    def __init__(self, usual: Floats, intercept: float, weights: Floats) -> None:
        self.usual, self.intercept, self.weights = usual, intercept, weights

    @classmethod
    def of(cls, values: Floats, answered: npt.NDArray[np.bool_], weight: Floats) -> _Fit:
        usual, scale = np.nanmean(values, axis=0), np.nanstd(values, axis=0) + 1e-9
        x = np.nan_to_num((values - usual) / scale)
        x = np.column_stack([np.ones(len(x)), x])

        def loss(b: Floats) -> tuple[float, Floats]:
            odds, ridge = x @ b, _L2 * np.r_[0.0, b[1:]]
            value = float((weight * (np.logaddexp(0, odds) - answered * odds)).sum() + 0.5 * ridge @ b)
            return value, x.T @ (weight * (1 / (1 + np.exp(-odds)) - answered)) + ridge

        bounds = [(None, None)] + [(0, None)] * len(usual)
        b = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x
        return cls(usual, float(b[0]), b[1:] / scale)

    def probabilities(self, values: Floats) -> Floats:
        odds = self.intercept + np.nan_to_num(values - self.usual) @ self.weights
        return np.asarray(1 / (1 + np.exp(-odds)))

    def write(self, file: Path) -> None:
        kept = [n for n, w in enumerate(self.weights) if w > 1e-4]
        model = {
            "intercept": round(self.intercept, 4),
            "weights": {Features._fields[n]: round(float(self.weights[n]), 4) for n in kept},
            "usual": {Features._fields[n]: round(float(self.usual[n]), 4) for n in kept},
        }
        file.write_text(json.dumps(model, indent=2) + "\n", encoding="utf-8")


def _figures(given: Sequence[Case], probabilities: Floats) -> dict[str, float]:
    figures: dict[str, float] = {}
    names = np.array([c.set for c in given])
    answered, real = np.array([c.answered for c in given]), np.array([c.real for c in given])
    for name in np.unique(names):
        for kind, negatives in (("", real & ~answered), (" struck", ~real & ~answered)):
            mine = (names == name) & (answered | negatives)
            if not (mine & negatives).any():
                continue
            p, truth = probabilities[mine], answered[mine]
            threshold = np.quantile(p[truth], FALSE_REFUSALS)
            figures |= {
                f"{name}{kind} auroc": roc_area(p, truth),
                f"{name}{kind} refused": float((p[~truth] < threshold).mean()),
                f"{name}{kind} threshold": float(threshold),
                f"{name}{kind} ece": calibration_error(p, truth),
            }
    return figures


def roc_area(scores: Floats, truth: npt.NDArray[np.bool_]) -> float:
    """Area under ROC: how often a true one scores above a false one."""
    ranks, positive = rankdata(scores), int(truth.sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))


def calibration_error(probabilities: Floats, truth: npt.NDArray[np.bool_]) -> float:
    """Expected calibration error over ten bins of equal width (Guo et al. 2017)."""
    of_bin = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    gaps = [(of_bin == b, probabilities) for b in range(_BINS) if (of_bin == b).any()]
    return float(sum(abs(p[mine].mean() - truth[mine].mean()) * mine.mean() for mine, p in gaps))
