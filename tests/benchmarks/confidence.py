"""The model of confidence: fitted on all sets, and measured on each with that set left out of the fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from quern.jobs.models.reader import Reader
from quern.jobs.reasoning.answering.reading import reading_ahead
from quern.jobs.reasoning.confidence.judge import FILE, Features, features
from quern.schemas.settings import AnswerSettings
from tests.benchmarks.answerable import Case, cases
from tests.benchmarks.logistic import Fit, Floats, calibration_error, roc_area

FALSE_REFUSALS = 0.08
_REAL = 4.0  # What a question that nothing answers counts against one whose evidence was struck out.
_PRIOR = 0.8  # Share of answered questions among those that are asked: between the sample corpus (.9) and chance.


def benchmark_confidence(datasets: Path, warehouses: Sequence[Path], *, fit: bool = False) -> dict[str, float]:
    """Figures of each set held out; with `fit` the model of all sets is written into the package."""
    reader = Reader.load()
    given = [
        replace(c, given=replace(c.given, reader=reader, windows=AnswerSettings().windows))
        for c in cases(datasets, warehouses)
    ]
    seen = [features(one) for one in reading_ahead([c.given for c in given])]
    values = np.array([[getattr(f, name) for name in Features._fields] for f in seen])
    answered = np.array([c.answered for c in given])
    sets = np.array([c.set.split()[0] for c in given])
    weight = _weights(given)
    held_out = np.zeros(len(given))
    for name in np.unique(sets):
        others = sets != name
        held_out[~others] = Fit.of(values[others], answered[others], weight[others]).probabilities(values[~others])
    if fit:
        Fit.of(values, answered, weight).write(FILE, Features._fields)
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
