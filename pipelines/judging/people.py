"""How far people agree with a judge, over pairs of answers that they compared.

It is the share of the pairs of which people prefer one answer that the judge prefers too; people's ties are left out, a
judge that has no preference is half right. Beside it stands its 95 % percentile bootstrap interval over pairs.

A judge is a task in one version, carried out by the rule or by one model; what was measured of another version or of
another model says nothing of it. `python -m tests.benchmarks judges --fit` measures the rules and writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import BaseModel, ConfigDict

from quern.jobs.reasoning.judging.inputs import JudgeInput, PairInput, golds
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.answers.questions import BadRow, Columns, QuestionError, rows_of
from quern.pipelines.evaluation.bootstrap import Numbers, statistic_intervals
from quern.pipelines.judging.judges import PREFERENCE, Judge, judgements, preferences
from quern.pipelines.judging.rows import JudgeError, statements_of

FILE: Final = Path(__file__).with_name("agreements.json")
# Which of people's judgements a judge is compared with, where there are several.
_AGAINST: Final = {
    "gold": "correctness",
    "factuality": "correctness",
    "numerical_precision": "correctness",
    "comprehensiveness": "completeness",
}


class Agreement(BaseModel):
    """How far people agree with a judge."""

    model_config = ConfigDict(frozen=True)

    judge: str
    version: int  # Of its task.
    by: str  # `rules`, or kind and name of the model.
    set: str  # Of judgements of people.
    against: str  # What people judged: `overall`, `correctness`, `completeness`.
    judged: int  # Pairs that it is taken over, people's ties left out.
    value: float  # .5 is chance.
    low: float
    high: float
    bias: float | None = None  # Of a judge of pairs, the share of pairs of which both orders prefer the same place.

    @property
    def touches_chance(self) -> bool:
        """Whether a coin might do as well."""
        return self.low <= 0.5


@lru_cache(maxsize=1)
def packaged() -> tuple[Agreement, ...]:
    """What was measured of the judges that the package carries."""
    return tuple(Agreement.model_validate(row) for row in json.loads(FILE.read_text(encoding="utf-8")))


def known(measured: Sequence[Agreement], judge: Judge, by: str) -> Agreement | None:
    """What is known of a judge: what was `measured` now, else what the package has; of several sets the largest."""
    for agreements in (measured, packaged()):
        mine = [a for a in agreements if (a.judge, a.version, a.by) == (judge.name, judge.task.version, by)]
        if mine:
            return max(mine, key=lambda a: a.judged)
    return None


@dataclass(frozen=True)
class People:
    """Judgements of people."""

    set: str
    pairs: Sequence[tuple[PairInput, Mapping[str, float]]]  # With people's step by aspect, below zero: the first.


def read_people(path: Path) -> People:
    """Judgements of people, a line each.

    A pair is {question, gold_answer, first, second, overall}, or as in RAGChecker {query, gt_answer, model1:
    {response}, model2: {response}, overall_label, correctness_label, completeness_label}.

    Raises:
        JudgeError: The file cannot be read, or a line is no pair.
    """
    pairs = []
    try:
        for row in rows_of(path, Columns("people's judgements")):
            if isinstance(row, BadRow):
                raise JudgeError(f"{path}:{row.line}: {row.detail}")
            pair = _pair(row.fields)
            if pair is None:
                raise JudgeError(f"{path}:{row.line}: it is no pair (question, gold_answer, first, second, overall)")
            pairs.append(pair)
    except QuestionError as error:
        raise JudgeError(str(error)) from None
    if not pairs:
        raise JudgeError(f"{path}: it is empty")
    return People(path.parent.name if path.stem == "pairs" else path.stem, pairs)


def _pair(fields: Mapping[str, Any]) -> tuple[PairInput, Mapping[str, float]] | None:
    question, gold = fields.get("question", fields.get("query")), fields.get("gold_answer", fields.get("gt_answer"))
    answers = [fields.get(one, fields.get(other)) for one, other in (("first", "model1"), ("second", "model2"))]
    answers = [answer.get("response") if isinstance(answer, Mapping) else answer for answer in answers]
    labels = {a: fields.get(a, fields.get(f"{a}_label")) for a in ("overall", "correctness", "completeness")}
    # A label that is no number, or not a number, is none.
    scores = {a: float(n) for a, n in labels.items() if isinstance(n, (int, float)) and abs(n) <= 100}
    texts = all(isinstance(text, str) for text in (question, gold, *answers))
    if not texts or not scores:
        return None
    first, second = (JudgeInput(str(question), statements_of(str(a)), golds([str(gold)])) for a in answers)
    return PairInput(first, second), scores


def measured(reasoner: Reasoner, judge: Judge, by: str, people: People) -> Agreement | None:
    """How far people agree with a judge; None where they judged nothing that it does."""
    bias: float | None = None
    if judge.name == PREFERENCE:
        verdicts = preferences(reasoner, judge, [pair for pair, _ in people.pairs])
        values = [None if j.value is None else -j.value for j in verdicts]  # People's steps count towards the second.
        bias = round(float(np.mean([float(j.orders[0] * j.orders[1] < 0) for j in verdicts if j.orders] or [0.0])), 4)
    else:
        sides = [(pair.first, pair.second) for pair, _ in people.pairs]
        first, second = (judgements(reasoner, judge, [side[n] for side in sides]) for n in (0, 1))
        values = [
            None if a.value is None or b.value is None else b.value - a.value
            for a, b in zip(first, second, strict=True)
        ]
    against = _AGAINST.get(judge.name, "overall")
    against = against if any(against in labels for _, labels in people.pairs) else "overall"
    rows = zip(values, (labels.get(against) for _, labels in people.pairs), strict=True)
    decisive = [(value, label) for value, label in rows if value is not None and label]  # People's ties are left out.
    if not decisive:
        return None
    value, label = (np.array(column) for column in zip(*decisive, strict=True))
    bounds = statistic_intervals(lambda at: [agreed(value[at], label[at])], len(value))
    mean, low, high = (round(float(column[0]), 4) for column in (bounds.mean, bounds.low, bounds.high))
    return Agreement(
        judge=judge.name,
        version=judge.task.version,
        by=by,
        set=people.set,
        against=against,
        judged=len(value),
        value=mean,
        low=low,
        high=high,
        bias=bias,
    )


def agreed(value: Numbers, label: Numbers) -> float:
    """The share of pairs in which value and label have one sign, half where there is no value."""
    same = np.sign(np.round(value, 12)) * np.sign(label)  # A difference of rounding is none.
    return float(np.mean((same > 0) + 0.5 * (same == 0)))
