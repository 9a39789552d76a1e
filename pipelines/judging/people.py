"""How far people agree with a judge: over pairs of answers that they compared, and claims whose support they judged.

Of pairs: the share of those of which people prefer one answer that the judge prefers too (people's ties are left out;
a judge that has no preference is half right), and Pearson's and Spearman's correlation of the judge's difference with
people's steps, ties and all. Of claims: the area under ROC of the judge's value, complete support against none or
incomplete. Each with its 95 % percentile bootstrap interval, 1,000 resamples over pairs or claims.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.stats import ConstantInputWarning, pearsonr, rankdata, spearmanr

from quern.indexes.vectors import Positions
from quern.jobs.reasoning.judging.agreement import Agreement, Step
from quern.jobs.reasoning.judging.inputs import JudgeInput, PairInput, Statement
from quern.jobs.reasoning.runner import Reasoner
from quern.pipelines.answers.question_rows import BadRow, Columns, QuestionError, rows_of
from quern.pipelines.evaluation.bootstrap import Interval, statistic_intervals
from quern.pipelines.judging.judges import PAIRWISE, Judge, judgements, preferences
from quern.pipelines.judging.rows import JudgeError, golds, passages_of, statements_of

Numbers = npt.NDArray[np.float64]
RESAMPLES: Final = 1000
SEED: Final = 20250921
_FURTHEST: Final = 100.0  # Steps of a scale on either side.
_FEWEST: Final = 3  # Pairs that can be correlated at all.
_SUPPORTED: Final = {"Complete": 1.0, "Incomplete": 0.0, "Missing": 0.0}
# Which of people's judgements a judge is compared with, where there are several.
_AGAINST: Final = {
    "gold": "correctness",
    "factuality": "correctness",
    "numerical_precision": "correctness",
    "comprehensiveness": "completeness",
    "prefer_correctness": "correctness",
    "prefer_completeness": "completeness",
}
# Judges of what evidence is to an answer, which only judgements of support say something of.
_SUPPORT: Final = ("factuality", "numerical_precision", "timeliness", "citation")


@dataclass(frozen=True)
class PeoplePair:
    """Two answers that people compared; `labels` by aspect, below zero where the first is the better."""

    pair: PairInput
    labels: Mapping[str, float]


@dataclass(frozen=True)
class PeopleClaim:
    """A claim of which people said whether its evidence supports it."""

    claim: JudgeInput
    support: str


@dataclass(frozen=True)
class People:
    """Judgements of people."""

    set: str
    pairs: Sequence[PeoplePair] = ()
    claims: Sequence[PeopleClaim] = ()


def read_people(path: Path) -> People:
    """Judgements of people, a line each: pairs as RAGChecker has them, claims as ExpertQA has them.

    A pair is {question, gold_answer, first, second, overall}, or as in RAGChecker {query, gt_answer, model1:
    {response}, model2: {response}, overall_label, correctness_label, completeness_label}; a claim {question, claim,
    evidence, support}.

    Raises:
        JudgeError: The file cannot be read, or a line is neither.
    """
    pairs, claims = [], []
    try:
        for row in rows_of(path, Columns("people's judgements")):
            if isinstance(row, BadRow):
                raise JudgeError(f"{path}:{row.line}: {row.detail}")
            if "support" in row.fields and "claim" in row.fields:
                claims.append(_claim(row.fields))
            elif (pair := _pair(row.fields)) is not None:
                pairs.append(pair)
            else:
                raise JudgeError(
                    f"{path}:{row.line}: neither a pair (question, gold_answer, first, second, overall) nor a claim "
                    "(question, claim, evidence, support)"
                )
    except QuestionError as error:
        raise JudgeError(str(error)) from None
    if not pairs and not claims:
        raise JudgeError(f"{path}: it is empty")
    return People(path.parent.name if path.stem in ("pairs", "claims") else path.stem, pairs, claims)


def _claim(fields: Mapping[str, Any]) -> PeopleClaim:
    # Of an address alone nobody knows what it says.
    evidence = [passage for passage in passages_of(fields) if passage.text]
    statement = Statement(statements_text(str(fields["claim"])), range(len(evidence)))
    return PeopleClaim(
        JudgeInput(str(fields.get("question") or ""), [statement], None, evidence), str(fields["support"])
    )


def statements_text(text: str) -> str:
    """`text` without marks of citations."""
    return " ".join(s.text for s in statements_of(text)) or text


def _pair(fields: Mapping[str, Any]) -> PeoplePair | None:
    question, gold = fields.get("question", fields.get("query")), fields.get("gold_answer", fields.get("gt_answer"))
    answers = [_answer(fields, one, other) for one, other in (("first", "model1"), ("second", "model2"))]
    labels = {a: fields.get(a, fields.get(f"{a}_label")) for a in ("overall", "correctness", "completeness")}
    # A label that is no number, or not a number, is none.
    found = {a: float(n) for a, n in labels.items() if isinstance(n, (int, float)) and abs(n) <= _FURTHEST}
    if not isinstance(question, str) or not isinstance(gold, str) or None in answers or not found:
        return None
    first, second = (JudgeInput(question, statements_of(str(a)), golds([gold])) for a in answers)
    return PeoplePair(PairInput(first, second), found)


def _answer(fields: Mapping[str, Any], name: str, other: str) -> str | None:
    value = fields.get(name, fields.get(other))
    value = value.get("response") if isinstance(value, Mapping) else value
    return value if isinstance(value, str) else None


def measured(reasoner: Reasoner, judge: Judge, by: str, people: People) -> list[Agreement]:
    """How far people agree with a judge; nothing where they judged nothing that it does."""
    found = [_over_pairs(reasoner, judge, by, people), _over_claims(reasoner, judge, by, people)]
    return [agreement for agreement in found if agreement is not None]


def _over_pairs(reasoner: Reasoner, judge: Judge, by: str, people: People) -> Agreement | None:
    if not people.pairs:
        return None
    bias = None
    if judge.name in PAIRWISE:
        said = preferences(reasoner, judge, [p.pair for p in people.pairs])
        values = [None if j.value is None else -j.value for j in said]  # People's steps count towards the second.
        bias = float(np.mean([float(j.orders[0] * j.orders[1] < 0) for j in said if j.orders] or [0.0]))
    else:
        first = judgements(reasoner, judge, [p.pair.first for p in people.pairs])
        second = judgements(reasoner, judge, [p.pair.second for p in people.pairs])
        values = [
            None if a.value is None or b.value is None else b.value - a.value
            for a, b in zip(first, second, strict=True)
        ]
    against = _AGAINST.get(judge.name, "overall")
    against = against if any(against in p.labels for p in people.pairs) else "overall"
    known = [
        (v, p.labels[against])
        for v, p in zip(values, people.pairs, strict=True)
        if v is not None and against in p.labels
    ]
    if not any(label for _, label in known):
        return None
    value, label = (np.array(column) for column in zip(*known, strict=True))
    told = _intervals(lambda at: pair_statistics(value[at], label[at]), len(value))
    steps = _steps({f"{step:+g}" if step else "0": value[label == step] for step in np.unique(label)})
    agreed, pearson, spearman = (_figures(told, n) for n in range(3))
    return Agreement(
        judge=judge.name,
        version=judge.task.version,
        by=by,
        set=people.set,
        against=against,
        measure="agreement",
        judged=int((label != 0).sum()),
        value=agreed[0],
        low=agreed[1],
        high=agreed[2],
        **dict(zip(("pearson", "pearson_low", "pearson_high"), pearson, strict=True)),
        **dict(zip(("spearman", "spearman_low", "spearman_high"), spearman, strict=True)),
        bias=None if bias is None else round(bias, 4),
        steps=steps,
    )


def pair_statistics(value: Numbers, label: Numbers) -> tuple[float, float, float]:
    """Agreement on the pairs that people do not call a tie, Pearson's and Spearman's correlation on all."""
    decided = label != 0
    # A difference of rounding is none.
    same = np.sign(np.round(value[decided], 12)) * np.sign(label[decided])
    agreed = float(np.mean((same > 0) + 0.5 * (same == 0))) if decided.any() else float("nan")
    if len(value) < _FEWEST:
        return agreed, float("nan"), float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)  # A judge that always says the same: no correlation.
        return agreed, float(pearsonr(value, label)[0]), float(spearmanr(value, label)[0])


def _over_claims(reasoner: Reasoner, judge: Judge, by: str, people: People) -> Agreement | None:
    if not people.claims or judge.name not in _SUPPORT:
        return None
    said = judgements(reasoner, judge, [c.claim for c in people.claims])
    known = [
        (j.value, _SUPPORTED[c.support], c.support)
        for j, c in zip(said, people.claims, strict=True)
        if j.value is not None and c.support in _SUPPORTED
    ]
    truth = np.array([t for _, t, _ in known])
    if not 0 < truth.sum() < len(truth):
        return None
    value, support = np.array([v for v, _, _ in known]), np.array([s for _, _, s in known])
    told = _intervals(lambda at: (roc_area(value[at], truth[at]),), len(value))
    area, low, high = _figures(told, 0)
    return Agreement(
        judge=judge.name,
        version=judge.task.version,
        by=by,
        set=people.set,
        against="support",
        measure="area under ROC",
        judged=len(value),
        value=area,
        low=low,
        high=high,
        steps=_steps({s: value[support == s] for s in _SUPPORTED if (support == s).any()}),
    )


def roc_area(scores: Numbers, truth: Numbers) -> float:
    """Area under ROC: how often a true one scores above a false one, half where they score alike."""
    ranks, positive = rankdata(scores), int(truth.sum())
    if not 0 < positive < len(truth):
        return float("nan")
    return float((ranks[truth == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))


def _intervals(statistics: Any, rows: int) -> Interval:
    def of(at: Positions) -> Sequence[float]:
        return list(statistics(at))

    return statistic_intervals(of, rows, RESAMPLES, 0.95, SEED)


def _figures(told: Interval, at: int) -> tuple[float | None, ...]:
    values = (float(column[at]) for column in (told.mean, told.low, told.high))
    return tuple(None if np.isnan(v) else round(v, 4) for v in values)


def _steps(values: Mapping[str, Numbers]) -> tuple[Step, ...]:
    found = []
    for step, of in values.items():
        low, middle, high = (round(float(q), 3) for q in np.quantile(of, [0.25, 0.5, 0.75]))
        found.append(Step(step=step, judged=len(of), low=low, middle=middle, high=high))
    return tuple(found)
