"""Entailment against experts' verdicts: each claim judged by a model that was fitted without its question.

ExpertQA's figures come from nested cross-validation by question (the strength of the ridge is chosen within), ClapNQ's
from a model of ExpertQA alone. Intervals are percentile bootstraps over questions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quern.jobs.reasoning.entailment.features import GATES, Features, contradicted, features, with_cosines
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage, is_fragment
from quern.jobs.reasoning.entailment.task import FILE, VERDICT, entailment_task
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings
from quern.schemas.words.sentences import sentences
from tests.benchmarks.claims import Claim, clapnq_claims, expert_claims, made_false
from tests.benchmarks.logistic import Fit, Floats, roc_area

_FOLDS = 10
_INNER_FOLDS = 5
_RIDGES = (1.0, 3.0, 10.0, 30.0)
_RESAMPLES = 1000
_MASS = 300.0  # Of a set's supported claims, and of the others: sets count alike.
_FITTED_KINDS = ("judged", "other text")
_COSINES = ("near", "topic")
_WEIGHED = {
    "vectors": [n for n in Features._fields if n not in GATES or n == "names"],
    "words": [n for n in Features._fields if (n not in GATES or n == "names") and n not in _COSINES],
}
Bools = npt.NDArray[np.bool_]


def benchmark_entailment(datasets: Path, *, fit: bool = False) -> dict[str, float]:
    """All figures; with `fit` the models of all sets are written into the package."""
    encode = Embedder.for_questions(EmbedSettings()).encode
    own = [list(expert_claims(datasets)), list(clapnq_claims(datasets))]
    claims = [claim for of in own for claim in (*of, *made_false(of))]
    seen = [features(given) for given in with_cosines([c.given for c in claims], encode)]
    rows, models, figures = _Rows(claims, seen), {}, {}
    for name, weighed in _WEIGHED.items():
        given = rows.of(weighed)
        figures |= {f"{name}: {figure}": value for figure, value in _figures(given)}
        models[name] = given.fitted(given.weight(("expertqa", "clapnq"))).model(weighed)
    if fit:
        FILE.write_text(json.dumps(models, indent=2) + "\n", encoding="utf-8")
    return figures | _against_people(datasets / "ragchecker_human" / "pairs.jsonl")


class _Rows:
    """Claims with their features as columns."""

    def __init__(self, claims: Sequence[Claim], seen: Sequence[Features], values: Floats | None = None) -> None:
        self.claims, self.seen = claims, seen
        self.values = np.array(seen) if values is None else values
        self.set, self.kind, self.group = (np.array([getattr(c, n) for c in claims]) for n in ("set", "kind", "group"))
        self.truth = np.array([c.entailed for c in claims])
        self.gate = np.where([contradicted(s) for s in seen], 0.5, 1.0)

    def of(self, weighed: Sequence[str]) -> _Rows:
        """The same with the values of these features alone."""
        return _Rows(self.claims, self.seen, np.array(self.seen)[:, [Features._fields.index(n) for n in weighed]])

    def weight(self, sets: Sequence[str]) -> Floats:
        """Supported and other claims count alike in each set, of the others each kind alike."""
        weight = np.zeros(len(self.truth))
        for name in sets:
            mine = (self.set == name) & np.isin(self.kind, _FITTED_KINDS)
            weight[mine & self.truth] = _MASS / (mine & self.truth).sum()
            kinds = np.unique(self.kind[mine & ~self.truth])
            for kind in kinds:
                which = mine & ~self.truth & (self.kind == kind)
                weight[which] = _MASS / len(kinds) / which.sum()
        return weight

    def fitted(self, weight: Floats) -> Fit:
        """The model of the weighed rows, the ridge chosen by cross-validation among them."""
        ridge = max(_RIDGES, key=lambda r: self._worth(weight, r))
        return self._fit(weight, ridge)

    def _fit(self, weight: Floats, ridge: float) -> Fit:
        used = weight > 0
        return Fit.of(self.values[used], self.truth[used], weight[used], ridge, self.kind[used] == "judged")

    def _worth(self, weight: Floats, ridge: float) -> float:
        """Log-likelihood of what is held out, by question."""
        total = 0.0
        for held in folds(self.group, weight > 0, _INNER_FOLDS):
            p = self._fit(np.where(held, 0.0, weight), ridge).probabilities(self.values[held])
            total += float((weight[held] * np.log(np.where(self.truth[held], p, 1.0 - p))).sum())
        return total

    def scores(self, model: Fit) -> Floats:
        """What the rule would say by this model: nothing is entailed by no text, an address alone is the usual case."""
        bare = self.kind == "bare"
        return np.where(bare, 0.0, model.probabilities(self.values)) * self.gate


def folds(group: npt.NDArray[np.str_], among: Bools, count: int) -> Iterator[Bools]:
    """Which of the rows `among` are held out, fold by fold; rows of a group stay together."""
    names = np.unique(group[among])
    np.random.default_rng(0).shuffle(names)
    for n in range(count):
        yield among & np.isin(group, names[n::count])


@dataclass(frozen=True)
class _Contrast:
    """Claims that are set against each other."""

    name: str
    set: str
    kinds: tuple[str, ...]


_CONTRASTS = (
    _Contrast("expertqa, all claims", "expertqa", ("judged", "unread", "bare")),
    _Contrast("expertqa, with evidence or address", "expertqa", ("judged", "unread")),
    _Contrast("expertqa, with evidence", "expertqa", ("judged",)),
    _Contrast("expertqa, text of another question", "expertqa", ("other text",)),
    _Contrast("clapnq, text of another question", "clapnq", ("other text",)),
    *(_Contrast(f"clapnq, other {kind}", "clapnq", (kind,)) for kind in ("number", "name", "denial")),
)


def _figures(rows: _Rows) -> Iterator[tuple[str, float]]:
    """Area under ROC of each contrast, held out, and how often what should be is said to be entailed."""
    both, expert = rows.weight(("expertqa", "clapnq")), rows.weight(("expertqa",))
    scores = rows.scores(rows.fitted(expert))
    for held in folds(rows.group, rows.set == "expertqa", _FOLDS):
        scores[held] = rows.scores(rows.fitted(np.where(held, 0.0, both)))[held]
    for contrast in _CONTRASTS:
        mine = rows.set == contrast.set
        which = mine & (np.isin(rows.kind, contrast.kinds) | ((rows.kind == "judged") & rows.truth))
        yield from _area(contrast.name, scores[which], rows.truth[which], rows.group[which])
    for name in ("expertqa", "clapnq"):
        for kind in ("judged", "other text", "number", "name", "denial"):
            for truth in (True, False):
                which = (rows.set == name) & (rows.kind == kind) & (rows.truth == truth)
                if which.any():
                    said = "supported" if truth else "not" if kind == "judged" else kind
                    yield f"{name}, {said}: said entailed", float((scores[which] >= VERDICT).mean())


def _area(name: str, scores: Floats, truth: Bools, group: npt.NDArray[np.str_]) -> Iterator[tuple[str, float]]:
    """Area under ROC with its interval over questions."""
    _, of = np.unique(group, return_inverse=True)
    places = [np.flatnonzero(of == g) for g in range(of.max() + 1)]
    chance, drawn = np.random.default_rng(0), []
    for _ in range(_RESAMPLES):
        at = np.concatenate([places[g] for g in chance.integers(len(places), size=len(places))])
        if truth[at].any() and not truth[at].all():
            drawn.append(roc_area(scores[at], truth[at]))
    yield f"{name} auroc", roc_area(scores, truth)
    yield f"{name} auroc low", float(np.quantile(drawn, 0.025))
    yield f"{name} auroc high", float(np.quantile(drawn, 0.975))


def _against_people(file: Path) -> dict[str, float]:
    """RAGChecker: how often people prefer the answer that entails more of the gold answer, or more of which it entails.

    By the model that the package carries, without cosines; pairs without preference or difference are left out.
    """
    with file.open(encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    agreed: dict[str, list[bool]] = {"completeness_label": [], "correctness_label": []}
    for pair in pairs:
        answers = [pair[f"model{n}"]["response"] for n in (1, 2)]
        gold, query = pair["gt_answer"], pair["query"]
        worth = {
            "completeness_label": [_entailed(gold, answer, query) for answer in answers],
            "correctness_label": [_entailed(answer, gold, query) for answer in answers],
        }
        for label, (one, other) in worth.items():
            if pair[label] and one != other:
                agreed[label].append((other > one) == (pair[label] > 0))
    return {f"ragchecker, {label[:-6]}: agreement": float(np.mean(rows)) for label, rows in agreed.items()}


def _entailed(said: str, text: str, question: str) -> float:
    """Mean score of the sentences of `said`, given `text`."""
    told = [s for s in sentences(said) if not is_fragment(s)] or [said]
    rule = entailment_task().rule
    return float(np.mean([rule(EntailmentInput(s, [Passage(text)], question)).score for s in told]))
