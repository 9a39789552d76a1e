"""Judging a file of answers: batch by batch, a line of `judgements.jsonl` an answer, figures at the end.

Replies of a model stand in the memo: the same answer judged by the same judge has the same value, and a run that was
stopped goes on where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from quern.indexes.storage import write_whole
from quern.jobs.reasoning.judging.inputs import JudgeInput, PairInput
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.evaluation.bootstrap import intervals
from quern.pipelines.judging.judges import PREFERENCE, Judge, judgements, preferences
from quern.pipelines.judging.people import Agreement, known
from quern.pipelines.judging.rows import AnswerRow
from quern.schemas.answers import JudgedAnswer, Judgement


@dataclass
class Figure:
    """What one judge said of all answers: its mean with its interval, and how far people agree with the judge."""

    judge: Judge
    by: str  # What carries it out: `rules`, or kind and name of the model.
    agreement: Agreement | None  # None where the judge was not scored against people.
    values: list[float] = field(default_factory=list)  # Of the answers that it judged.
    by_rule: int = 0  # How many of them the rule judged.
    rejected: Counter[str] = field(default_factory=Counter)  # Why replies of a model could not be used.
    turned: int = 0  # Pairs of which it preferred the same place in both orders, not the same answer.

    def add(self, judgement: Judgement) -> None:
        """Count a judgement."""
        self.rejected.update(judgement.rejected)
        if judgement.value is not None:
            self.values.append(judgement.value)
            self.by_rule += judgement.by == "rules"
            self.turned += bool(judgement.orders) and judgement.orders[0] * judgement.orders[1] < 0

    @property
    def judged(self) -> int:
        """Answers that it is taken over."""
        return len(self.values)

    @cached_property
    def interval(self) -> tuple[float, float, float]:
        """Mean, and lower and upper end of its 95 % bootstrap interval over answers; NaN where nothing was judged."""
        if not self.values:
            return (float("nan"),) * 3
        bounds = intervals(np.array(self.values)[:, None])
        return float(bounds.mean[0]), float(bounds.low[0]), float(bounds.high[0])

    @property
    def wins(self) -> tuple[int, int, int]:
        """Of pairs, how often the answer, neither, the other is preferred: by at least half a step."""
        steps = np.array(self.values)
        return int((steps >= 0.5).sum()), int((np.abs(steps) < 0.5).sum()), int((steps <= -0.5).sum())

    @property
    def warnings(self) -> list[str]:
        """What a reader must know before believing the figure."""
        name, lines = self.judge.name, []
        if self.agreement is None:
            lines.append(f"{name}: not scored against people, as {self.by} (version {self.judge.task.version}) judges")
        elif self.agreement.touches_chance:
            a = self.agreement
            interval = f"{a.value:.2f} [{a.low:.2f}, {a.high:.2f}] in {a.against}"
            lines.append(f"{name}: people's agreement with it may be chance: {interval}")
        if self.rejected and self.by != "rules":
            codes = ", ".join(f"{code} {count}" for code, count in self.rejected.most_common())
            stood = f"the rule judged {self.by_rule} of them" if self.by_rule else "they are not judged"
            lines.append(f"{name}: replies that could not be used ({codes}); {stood}")
        if self.turned:
            share = self.turned / self.judged
            lines.append(f"{name}: in {share:.0%} of the pairs the place of an answer decided, not the answer")
        return lines


@dataclass
class Report:
    """What came of judging."""

    answers: int = 0  # Of the file.
    figures: list[Figure] = field(default_factory=list)  # One a judge, of those that judged any answer.
    silent: list[str] = field(default_factory=list)  # Judges that had no gold answer or answer to go by.
    opinions: Sequence[str] = ()  # Judges that were left out, since they need a model.
    alone: int = 0  # Answers without a counterpart in the other file.
    worst: list[JudgedAnswer] = field(default_factory=list)  # Answers with most faults.

    @property
    def warnings(self) -> list[str]:
        """Those of all figures."""
        return [warning for figure in self.figures for warning in figure.warnings]


def judge_answers(
    answers: Iterable[AnswerRow],
    judges: Sequence[Judge],
    reasoner: Reasoner,
    by: str,
    agreements: Sequence[Agreement],
    out: Path,
    others: Mapping[str, JudgeInput] | None = None,
    opinions: Sequence[str] = (),
) -> Report:
    """Judge answers, and write `judgements.jsonl` into `out`, whole or not at all.

    Args:
        answers: Taken and let go batch by batch.
        judges: Of single answers; and of pairs, for those of `others`.
        reasoner: What carries them out, open.
        by: What that is, as agreements name it.
        agreements: How far people agree with judges, where that was measured now.
        out: Directory that there is.
        others: Answers to compare with, by `query_id`.
        opinions: Judges that were left out, to be listed.

    Raises:
        JudgeError: The answers cannot be read.
        GeneratorError: The model cannot be asked any more.
    """
    figures = [Figure(judge, by, known(agreements, judge, by)) for judge in judges]
    report = Report(opinions=opinions)

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            rows = iter(answers)
            # Answers judged together: as many replies may be lost where a run is killed.
            while batch := list(islice(rows, 64)):
                for line in _judged(batch, figures, reasoner, others or {}):
                    file.write(line.model_dump_json(exclude_defaults=True) + "\n")
                    if _faults(line):
                        report.worst = sorted([*report.worst, line], key=_faults, reverse=True)[:50]
                report.answers += len(batch)
                report.alone += 0 if others is None else sum(row.query_id not in others for row in batch)

    write_whole(out / "judgements.jsonl", write)
    report.figures = [f for f in figures if f.values or f.rejected]
    report.silent = [f.judge.name for f in figures if not (f.values or f.rejected)]
    return report


def _judged(
    batch: Sequence[AnswerRow], figures: Sequence[Figure], reasoner: Reasoner, others: Mapping[str, JudgeInput]
) -> Iterator[JudgedAnswer]:
    """The answers of a batch with their judgements, which `figures` count."""
    rows: list[dict[str, Judgement]] = [{} for _ in batch]
    pairs = {n: PairInput(r.given, others[r.query_id]) for n, r in enumerate(batch) if r.query_id in others}
    for figure in figures:
        if figure.judge.name == PREFERENCE:
            judged = dict(zip(pairs, preferences(reasoner, figure.judge, list(pairs.values())), strict=True))
        else:
            judged = dict(enumerate(judgements(reasoner, figure.judge, [row.given for row in batch])))
        for n, judgement in judged.items():
            figure.add(judgement)
            if judgement.value is not None or judgement.rejected:
                rows[n][figure.judge.name] = judgement
    for row, by_judge in zip(batch, rows, strict=True):
        yield JudgedAnswer(query_id=row.query_id, question=row.given.question, judgements=by_judge)


def _faults(answer: JudgedAnswer) -> int:
    wrong = answer.judgements.get("gold")
    return sum(len(j.issues) for j in answer.judgements.values()) + 2 * (wrong is not None and wrong.value == 0)
