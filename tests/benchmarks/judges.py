"""How far people agree with each judge, and with the features that the rules might be made of.

Pairs of `ragchecker_human`, claims of `expertqa_claims`. Features are told one by one, and joined by a logistic model
of differences, which is antisymmetric, with no negative weight, cross-validated by question: what the rules forgo.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from quern.jobs.reasoning.judging.agreement import Agreement, write
from quern.jobs.reasoning.judging.inputs import JudgeInput
from quern.jobs.reasoning.judging.likeness import likeness
from quern.jobs.reasoning.judging.overlap import token_f1, words
from quern.jobs.reasoning.runner import Reasoner
from quern.jobs.text.number_values import stated_numbers
from quern.jobs.text.stems import content_words
from quern.jobs.vectors.embedder import Embedder
from quern.pipelines.judging.judges import OPINIONS, PAIRWISE, SINGLE, judge_named
from quern.pipelines.judging.people import PeoplePair, measured, pair_statistics, read_people
from quern.schemas.settings import EmbedSettings
from quern.schemas.words.sentences import sentences

Floats = npt.NDArray[np.float64]
_FOLDS, _ROUNDS, _L2 = 10, 5, 3.0
_NAMES = ("likeness", "likeness_b0.5", "likeness_b2", "recall", "precision", "token_f1", "numbers", "length", "near")
_COSINES = ("cosine", "cosine_sentences")
# Sets of features that are joined: what words tell, and words with cosines.
_JOINED = (_NAMES[:1], ("recall", "precision"), _NAMES, (_NAMES[0], "cosine_sentences"), (*_NAMES, *_COSINES))


def benchmark_judges(datasets: Path, *, write_file: bool = False, cosines: bool = False) -> dict[str, float]:
    """Agreement of each judge by rule, each feature, and of features joined; with `write_file` into the package."""
    pairs, claims = (
        read_people(datasets / f) for f in ("ragchecker_human/pairs.jsonl", "expertqa_claims/claims.jsonl")
    )
    found: list[Agreement] = []
    with Reasoner() as reasoner:
        for name in (*SINGLE, *PAIRWISE):
            if name not in OPINIONS:
                judge = judge_named(name)
                found += [a for people in (pairs, claims) for a in measured(reasoner, judge, "rules", people)]
    if write_file:
        write(found)
    figures: dict[str, float] = {}
    for a in found:
        name = f"{a.judge} {a.against}"
        figures |= {name: a.value, f"{name} low": a.low, f"{name} high": a.high, f"{name} judged": a.judged}
        figures |= {f"{name} {k}": v for k in ("pearson", "spearman") if (v := getattr(a, k)) is not None}
    return figures | _features(pairs.pairs, cosines=cosines)


def _features(pairs: Sequence[PeoplePair], *, cosines: bool) -> dict[str, float]:
    """Agreement with the overall preference of each feature and of those joined."""
    names = (*_NAMES, *(_COSINES if cosines else ()))
    label = np.array([p.labels["overall"] for p in pairs])
    sides = [[_of(answer) for answer in (p.pair.first, p.pair.second)] for p in pairs]
    if cosines:
        _add_cosines(pairs, sides)
    differences = {n: np.array([second[n] - first[n] for first, second in sides]) for n in names}
    figures = {f"feature {n} overall": pair_statistics(differences[n], label)[0] for n in names}
    questions = np.unique([p.pair.first.question for p in pairs], return_inverse=True)[1]
    for joined in _JOINED:
        if set(joined) <= set(names):
            x = np.column_stack([differences[n] for n in joined])
            agreed = np.mean(
                [pair_statistics(_held_out(x, label, questions, n), label) for n in range(_ROUNDS)], axis=0
            )
            title = "all words" if joined == _NAMES else "all" if len(joined) > len(_NAMES) else " + ".join(joined)
            figures |= {f"joined {title} overall": float(agreed[0]), f"joined {title} pearson": float(agreed[1])}
    return figures


def _of(given: JudgeInput) -> dict[str, float]:
    question, said, (gold, *_) = given.question, given.answer, given.gold or ("",)
    asked = content_words(question)
    new, wanted = content_words(said) - asked, content_words(gold) - asked
    numbers = stated_numbers(gold)
    return {
        "likeness": likeness(question, said, [gold]),
        "likeness_b0.5": likeness(question, said, [gold], 0.5),
        "likeness_b2": likeness(question, said, [gold], 2.0),
        "recall": len(new & wanted) / max(1, len(wanted)),
        "precision": len(new & wanted) / max(1, len(new)),
        "token_f1": token_f1(said, [gold]),
        "numbers": len(numbers & stated_numbers(said)) / len(numbers) if numbers else 0.0,
        "length": math.log1p(words(said)),
        "near": -abs(math.log1p(words(said)) - math.log1p(words(gold))),
    }


def _add_cosines(pairs: Sequence[PeoplePair], sides: Sequence[Sequence[dict[str, float]]]) -> None:
    """Cosine of answer and gold answer, and the mean over gold sentences of that with the nearest sentence."""
    golds = [(p.pair.first.gold or ("",))[0] for p in pairs]
    answers = [[g.answer for g in (p.pair.first, p.pair.second)] for p in pairs]
    every = {t: None for texts in [*answers, golds] for text in texts for t in (text, *sentences(text))}
    vectors = dict(zip(every, _encoder()(list(every)), strict=True))
    for gold, both, side in zip(golds, answers, sides, strict=True):
        wanted = np.array([vectors[s] for s in sentences(gold)])
        for answer, into in zip(both, side, strict=True):
            said = np.array([vectors[s] for s in sentences(answer) or [answer]])
            into["cosine"] = float(vectors[gold] @ vectors[answer])
            into["cosine_sentences"] = float((wanted @ said.T).max(axis=1).mean())


def _encoder() -> Callable[[Sequence[str]], npt.NDArray[np.float32]]:
    return Embedder.for_questions(EmbedSettings()).encode


def _held_out(x: Floats, label: Floats, questions: npt.NDArray[np.int64], seed: int) -> Floats:
    """Log-odds of each pair by a model of the pairs of other questions."""
    folds = np.random.default_rng(seed).permutation(questions.max() + 1)[questions] % _FOLDS
    held_out = np.zeros(len(x))
    for fold in range(_FOLDS):
        train = folds != fold
        scale = np.sqrt((x[train] ** 2).mean(axis=0)) + 1e-9
        held_out[~train] = x[~train] / scale @ _fit(x[train] / scale, label[train])
    return held_out


def _fit(x: Floats, label: Floats) -> Floats:
    truth, weight = (np.sign(label) + 1) / 2, np.maximum(np.abs(label), 1.0)

    def loss(b: Floats) -> tuple[float, Floats]:
        odds = x @ b
        value = float((weight * (np.logaddexp(0, odds) - truth * odds)).sum() + 0.5 * _L2 * b @ b)
        return value, x.T @ (weight * (1 / (1 + np.exp(-odds)) - truth)) + _L2 * b

    bounds = [(0, None)] * x.shape[1]
    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x)
