"""The weights of sentences (`answering.relevance.WEIGHTS`), fitted to gold questions and measured on those kept apart.

A conditional logit: of the sentences of a question's evidence, which holds the gold answer. Only questions that one
sentence answers take part: no comparisons, questions of several hops, lists, yes or no.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.answering.relevance import WEIGHTS
from quern.jobs.text.stems import content_words
from tests.benchmarks.answerable import evidence_of

Floats = npt.NDArray[np.float64]
_CORPUS: Final = Path(__file__).parents[1] / "corpus"
_SEVERAL: Final = ("null", "yes_no", "multi", "comparison", "list")
_CHINESE: Final = 400  # Questions of cmrc2018.
_MOST: Final = 24  # Sentences of a question, the best by the present weights.
_FOLDS: Final = 5
# Of .0005 to .02, the penalties at or below .002 put most right sentences first in the folds; the largest is taken.
_L2: Final = 0.002


@dataclass(frozen=True)
class Asked:
    """A gold question: its answer and, where the set has them, the sentences that carry it."""

    question: str
    answer: str
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Choice:
    """The sentences of a question's evidence: signals, which are right, and the present score."""

    signals: Floats
    right: npt.NDArray[np.bool_]
    score: Floats


def benchmark_relevance(datasets: Path, warehouses: Sequence[Path]) -> dict[str, float]:
    """Share of questions whose right sentence comes first: now, fitted (in folds kept apart), and the weights."""
    sets = {name: list(_choices(folder, asked)) for folder in warehouses for name, asked in gold_sets(folder, datasets)}
    figures: dict[str, float] = {}
    fold = {name: np.random.default_rng(0).integers(0, _FOLDS, len(of)) for name, of in sets.items()}
    fitted = [name for name in sets if name != "readers, kept"]
    for name, of in sets.items():
        figures[f"{name}, questions"] = len(of)
        figures[f"{name}, first now"] = _first(of, np.array(WEIGHTS))
        right = 0.0
        for f in range(_FOLDS):
            seen = {n: [c for c, k in zip(sets[n], fold[n], strict=True) if k != f or n != name] for n in fitted}
            apart = [c for c, k in zip(of, fold[name], strict=True) if k == f]
            right += _first(apart, _fit(seen.values())) * len(apart)
        figures[f"{name}, first in folds kept apart"] = right / len(of)
    every = _fit([sets[name] for name in fitted])
    return figures | {f"weight {n}": round(float(w), 2) for n, w in zip(WEIGHTS._fields, every, strict=True)}


def gold_sets(folder: Path, datasets: Path) -> Iterator[tuple[str, list[Asked]]]:
    """The gold questions over a warehouse, which is known by the name of its folder."""
    yield from _OF_WAREHOUSE[folder.name](datasets)


def rows_of(file: Path) -> list[dict]:
    with file.open(encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


def _demo(_: Path) -> Iterator[tuple[str, list[Asked]]]:
    readers = rows_of(_CORPUS / "reader_questions.jsonl")
    yield "sample", _of_corpus(rows_of(_CORPUS / "questions.jsonl"))
    yield "sample, fresh", _of_corpus(rows_of(_CORPUS / "fresh_questions.jsonl"))
    yield "readers", _of_corpus([r for r in readers if r["part"] == "fit"])
    yield "readers, kept", _of_corpus([r for r in readers if r["part"] == "kept"])


def _of_corpus(rows: Iterable[dict]) -> list[Asked]:
    single = [r for r in rows if r["type"] not in _SEVERAL and r["answer"]]
    return [Asked(r["question"], r["answer"], tuple(r["evidence_quotes"])) for r in single]


def _lihua(datasets: Path) -> Iterator[tuple[str, list[Asked]]]:
    rows = rows_of(datasets / "lihua_world" / "queries.jsonl")
    single = [r for r in rows if r["type"] == "Single" and r["answer"] not in ("Yes", "No")]
    yield "lihua_world", [Asked(r["question"], r["answer"]) for r in single]


def _musique(datasets: Path) -> Iterator[tuple[str, list[Asked]]]:
    """The steps that name nothing of another."""
    rows = rows_of(datasets / "musique_train100" / "queries.jsonl")
    steps = [s for r in rows for s in r["decomposition"] if not {"#", ">"} & set(s["question"])]
    yield "musique, steps", [Asked(s["question"], s["answer"]) for s in steps]


def _cmrc(datasets: Path) -> Iterator[tuple[str, list[Asked]]]:
    rows = rows_of(datasets / "cmrc2018" / "queries.jsonl")
    random.Random(0).shuffle(rows)
    yield "cmrc2018", [Asked(r["question"], r["answer"]) for r in rows[:_CHINESE]]


_OF_WAREHOUSE: Final[dict[str, Callable[[Path], Iterator[tuple[str, list[Asked]]]]]] = {
    "demo": _demo,
    "lihua": _lihua,
    "musique": _musique,
    "cmrc": _cmrc,
}


def _choices(folder: Path, asked: Sequence[Asked]) -> Iterator[_Choice]:
    """Of each question whose answer is among the best sentences of its evidence, what to choose from."""
    for one, evidence in zip(asked, evidence_of(folder, [a.question for a in asked]), strict=True):
        likely = lines(AnswerInput(one.question, evidence), kind_of(one.question))[:_MOST]
        right = np.array(held_by(one, [line.text for line in likely]))
        if right.any() and not right.all():
            yield _Choice(np.array([line.signals for line in likely]), right, np.array([s.score for s in likely]))


def held_by(asked: Asked, texts: Sequence[str]) -> list[bool]:
    """Which sentences are among those quoted, or hold nearly all words of the answer where none is."""
    words, quotes = content_words(asked.answer), [" ".join(q.split()) for q in asked.quotes]
    plain = [" ".join(t.split()) for t in texts]
    quoted = [any((t in q and len(t) > 15) or q in t for q in quotes) for t in plain]
    if any(quoted):
        return quoted
    return [bool(words) and len(words & content_words(t)) >= 0.8 * len(words) for t in plain]


def _first(of: Sequence[_Choice], weights: Floats) -> float:
    """Share of the questions whose best sentence by these weights is right."""
    return float(np.mean([c.right[int(np.argmax(c.signals @ weights))] for c in of])) if of else 0.0


def _fit(sets: Iterable[Sequence[_Choice]]) -> Floats:
    """The weights that make the right sentences likeliest, each set counting alike."""
    weighed = [(c, 1.0 / len(of)) for of in sets for c in of]
    every = sum(w for _, w in weighed)

    def loss(b: Floats) -> tuple[float, Floats]:
        value, slope = 0.5 * _L2 * float(b @ b), _L2 * b
        for choice, weight in weighed:
            odds = choice.signals @ b
            belief = np.exp(odds - odds.max())
            belief /= belief.sum()
            held = belief[choice.right].sum()
            value -= weight / every * float(np.log(held))
            slope = slope - weight / every * choice.signals.T @ (np.where(choice.right, belief / held, 0.0) - belief)
        return value, slope

    return np.asarray(minimize(loss, np.zeros(len(WEIGHTS)), jac=True, method="L-BFGS-B").x)
