"""How far people agree with a judge: measured, and kept beside the judges as figures.

A judge is a task in one version, carried out by the rule or by one model; what was measured of another version or of
another model says nothing of it. `python -m tests.benchmarks judges --fit` measures the rules and writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

FILE: Final = Path(__file__).with_name("agreements.json")
CHANCE: Final = 0.5  # Of both measures: what a coin comes to.

Measure = Literal["agreement", "area under ROC"]


class Step(BaseModel):
    """What a judge gave where people chose one step of their scale.

    Attributes:
        step: Such as -2, the first answer by far, or `Complete`.
        judged: Pairs, or claims.
        low: Lower quartile of what the judge gave.
        middle: Median.
        high: Upper quartile.
    """

    model_config = ConfigDict(frozen=True)

    step: str
    judged: int
    low: float
    middle: float
    high: float


class Agreement(BaseModel):
    """How far people agree with a judge.

    Attributes:
        judge: Name of the judge.
        version: Of its task.
        by: `rules`, or kind and name of the model.
        set: Of judgements of people.
        against: What people judged: `overall`, `correctness`, `completeness`, `support`.
        measure: `agreement`, the share of pairs of which people prefer one that the judge prefers too, half where it
            prefers none; or the area under ROC, how often what people found supported scores above what they did not.
        judged: Pairs that it is taken over, people's ties left out; or claims.
        value: The figure.
        low: Lower end of its 95 % interval.
        high: Upper end.
        pearson: Correlation of the judge's figures with people's steps, ties and all.
        spearman: The same of ranks.
        bias: Of pairwise judges that were asked in both orders, the share of pairs of which both orders prefer the
            same place; None where the order cannot matter.
        steps: What it gave, step by step.
    """

    model_config = ConfigDict(frozen=True)

    judge: str
    version: int
    by: str
    set: str
    against: str
    measure: Measure
    judged: int
    value: float
    low: float
    high: float
    pearson: float | None = None
    pearson_low: float | None = None
    pearson_high: float | None = None
    spearman: float | None = None
    spearman_low: float | None = None
    spearman_high: float | None = None
    bias: float | None = None
    steps: tuple[Step, ...] = ()

    @property
    def touches_chance(self) -> bool:
        """Whether a coin might do as well."""
        return self.low <= CHANCE


@lru_cache(maxsize=1)
def packaged() -> tuple[Agreement, ...]:
    """What was measured of the judges that the package carries."""
    rows = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else []
    return tuple(Agreement.model_validate(row) for row in rows)


def write(agreements: Sequence[Agreement], file: Path = FILE) -> None:
    """Write figures, one a line."""
    lines = [json.dumps(a.model_dump(mode="json", exclude_none=True)) for a in agreements]
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def joined(newer: Sequence[Agreement], older: Sequence[Agreement]) -> list[Agreement]:
    """Both, but of a judge that is in `newer` only what that says."""
    judges = {(a.judge, a.version, a.by) for a in newer}
    return [*newer, *(a for a in older if (a.judge, a.version, a.by) not in judges)]


def known(agreements: Iterable[Agreement], judge: str, version: int, by: str) -> Agreement | None:
    """What is known of a judge; of several sets the one with most judgements. None where it was never measured."""
    mine = [a for a in agreements if (a.judge, a.version, a.by) == (judge, version, by)]
    return max(mine, key=lambda a: a.judged, default=None)
