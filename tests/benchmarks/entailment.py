"""Entailment against experts' verdicts: each claim judged by a model that was fitted without its question.

ExpertQA's figures come from nested cross-validation by question (the strength of the ridge is chosen within), ClapNQ's
from a model of ExpertQA alone. Intervals are percentile bootstraps over questions. Experts' verdicts are few and lean
to "supported"; so that a model learns what no expert's claim shows, statements that are supported are set beside the
texts nearest to them that speak of something else, and are made false: another number or name, a denial more or less.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Positions
from quern.jobs.reasoning.entailment.features import GATES, Features, contradicted, denies, features, with_cosines
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage, is_fragment
from quern.jobs.reasoning.entailment.task import FILE, VERDICT
from quern.jobs.text.stems import content_words
from quern.jobs.vectors.embedder import Embedder
from quern.pipelines.evaluation.bootstrap import area_under_roc, statistic_intervals
from quern.schemas.settings import EmbedSettings
from quern.schemas.words.sentences import sentences
from tests.benchmarks.logistic import Fit, Floats
from tests.conftest import read_jsonl

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
_NUMBER = re.compile(r"(?<![\w.,-])\d{1,4}(?:\.\d+)?(?![\w,-]|\.\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}(?: [A-Z][a-z]+)*")
_VERB = re.compile(r"\b(is|are|was|were|can|could|will|would|should|has|have|had|does|did|must)\b(?! not)")
_NOT = re.compile(r"\b(is|are|was|were|can|could|will|would|should|does|did|must) not\b")
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Claim:
    """A statement with texts."""

    set: str  # The set that it is of.
    # `judged` by people, or how the pair was made: `other text`, `number`, `name`, `denial`; `unread` where only the
    # address of its text is known, `bare` where it has none.
    kind: str
    group: str  # Claims of one question stay together when claims are held out.
    given: EntailmentInput
    entailed: bool  # Whether the texts entail it.


def expert_claims(folder: Path) -> Iterator[Claim]:
    """ExpertQA: `Complete` against `Incomplete` and `Missing`; the other verdicts say neither."""
    for row in read_jsonl(folder / "expertqa_claims" / "claims.jsonl"):
        if row["support"] not in ("Complete", "Incomplete", "Missing"):
            continue
        passages = [Passage.read(e) for e in dict.fromkeys(row["evidence"])]
        given = EntailmentInput(row["claim"], passages, row["question"])
        kind = "judged" if given.read else "unread" if passages else "bare"
        yield Claim("expertqa", kind, row["question"], given, row["support"] == "Complete")


def clapnq_claims(folder: Path) -> Iterator[Claim]:
    """Sentences of people's answers with the passage that they were written from."""
    for row in read_jsonl(folder / "clapnq" / "answerable.jsonl"):
        (passage,) = row["passages"]
        for sentence in sentences(row["output"][0]["answer"]):
            if not is_fragment(sentence):
                text = Passage(passage["text"], passage["title"])
                yield Claim("clapnq", "judged", row["id"], EntailmentInput(sentence, [text], row["input"]), True)


def made_false(claims: Sequence[Claim]) -> Iterator[Claim]:
    """What is supported, with the nearest text of another question, and made false in each way that it can be."""
    true = [c for c in claims if c.entailed and c.kind == "judged"]
    chance = random.Random(0)
    texts = [
        (c.group, c.given.passages, frozenset().union(*(content_words(p.text) for p in c.given.read))) for c in true
    ]

    def other_number(match: re.Match[str]) -> str:
        value = float(match[0])
        if value.is_integer():
            return str(int(value) + chance.choice([1, 2, 3, 7, 11]))
        return f"{value * chance.choice([0.5, 1.5, 2.0]):g}"

    names = sorted({name for c in true for name in _NAME.findall(c.given.plain)})
    changes: dict[str, Callable[[str], str]] = {
        "number": lambda said: _NUMBER.sub(other_number, said, count=1),
        "name": lambda said: _NAME.sub(lambda m: chance.choice(names), said, count=1),
        "denial": lambda said: _NOT.sub(r"\1", said, count=1) if denies(said) else _VERB.sub(r"\1 not", said, count=1),
    }
    for claim in true:
        words = content_words(claim.given.plain)
        others = [t for t in texts if t[0] != claim.group]
        nearest = max(others, key=lambda t, w=words: len(w & t[2]))
        yield replace(claim, kind="other text", given=replace(claim.given, passages=nearest[1]), entailed=False)
        for kind, change in changes.items():
            if (said := change(claim.given.plain)) != claim.given.plain:
                yield replace(claim, kind=kind, given=replace(claim.given, statement=said), entailed=False)


def benchmark_entailment(datasets: Path, *, fit: bool = False) -> dict[str, float]:
    """All figures; with `fit` the models of all sets are written into the package."""
    encode = Embedder.for_questions(EmbedSettings()).encode
    own = [list(expert_claims(datasets)), list(clapnq_claims(datasets))]
    claims = [claim for of in own for claim in (*of, *made_false(of))]
    seen = [features(given) for given in with_cosines([c.given for c in claims], encode)]
    models, figures = {}, {}
    for name, weighed in _WEIGHED.items():
        rows = _Rows(claims, seen, weighed)
        figures |= {f"{name}: {figure}": value for figure, value in _figures(rows)}
        models[name] = rows.fitted(rows.weight(("expertqa", "clapnq"))).model(weighed)
    if fit:
        FILE.write_text(json.dumps(models, indent=2) + "\n", encoding="utf-8")
    return figures


class _Rows:
    """Claims with the `weighed` of their features as columns."""

    def __init__(self, claims: Sequence[Claim], seen: Sequence[Features], weighed: Sequence[str]) -> None:
        self.values = np.array(seen)[:, [Features._fields.index(n) for n in weighed]]
        self.set, self.kind, self.group = (np.array([getattr(c, n) for c in claims]) for n in ("set", "kind", "group"))
        self.truth = np.array([c.entailed for c in claims])
        self.gate = np.where([contradicted(s) for s in seen], 0.5, 1.0)

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
        """The model of the weighed rows, the ridge chosen by what is held out among them, by question."""

        def worth(ridge: float) -> float:
            """Log-likelihood of what is held out."""
            total = 0.0
            for held in folds(self.group, weight > 0, _INNER_FOLDS):
                p = self._fit(np.where(held, 0.0, weight), ridge).probabilities(self.values[held])
                total += float((weight[held] * np.log(np.where(self.truth[held], p, 1.0 - p))).sum())
            return total

        return self._fit(weight, max(_RIDGES, key=worth))

    def _fit(self, weight: Floats, ridge: float) -> Fit:
        used = weight > 0
        return Fit.of(self.values[used], self.truth[used], weight[used], ridge, self.kind[used] == "judged")

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


# Claims that are set against those that are supported: name, set, kinds.
_CONTRASTS = (
    ("expertqa, all claims", "expertqa", ("judged", "unread", "bare")),
    ("expertqa, with evidence or address", "expertqa", ("judged", "unread")),
    ("expertqa, with evidence", "expertqa", ("judged",)),
    ("expertqa, text of another question", "expertqa", ("other text",)),
    ("clapnq, text of another question", "clapnq", ("other text",)),
    *((f"clapnq, other {kind}", "clapnq", (kind,)) for kind in ("number", "name", "denial")),
)


def _figures(rows: _Rows) -> Iterator[tuple[str, float]]:
    """Area under ROC of each contrast, held out, and how often what should be is said to be entailed."""
    both, expert = rows.weight(("expertqa", "clapnq")), rows.weight(("expertqa",))
    scores = rows.scores(rows.fitted(expert))
    for held in folds(rows.group, rows.set == "expertqa", _FOLDS):
        scores[held] = rows.scores(rows.fitted(np.where(held, 0.0, both)))[held]
    for name, of, kinds in _CONTRASTS:
        which = (rows.set == of) & (np.isin(rows.kind, kinds) | ((rows.kind == "judged") & rows.truth))
        given, truth = scores[which], rows.truth[which].astype(np.float64)
        _, question = np.unique(rows.group[which], return_inverse=True)
        places = [np.flatnonzero(question == q) for q in range(question.max() + 1)]

        def auroc(drawn: Positions) -> list[float]:
            at = np.concatenate([places[q] for q in drawn])  # noqa: B023 - called at once
            return [area_under_roc(given[at], truth[at])]  # noqa: B023

        interval = statistic_intervals(auroc, len(places), _RESAMPLES)
        for end, value in (("", interval.mean), (" low", interval.low), (" high", interval.high)):
            yield f"{name} auroc{end}", float(value[0])
    for name in ("expertqa", "clapnq"):
        for kind in ("judged", "other text", "number", "name", "denial"):
            for truth in (True, False):
                which = (rows.set == name) & (rows.kind == kind) & (rows.truth == truth)
                if which.any():
                    said = "supported" if truth else "not" if kind == "judged" else kind
                    yield f"{name}, {said}: said entailed", float((scores[which] >= VERDICT).mean())
