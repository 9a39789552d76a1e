"""How far people agree with each judge by rule: pairs of `ragchecker_human`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from quern.jobs.reasoning.judging.overlap import words
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.judging.judges import JUDGES, OPINIONS, Judge
from quern.pipelines.judging.people import FILE, agreed, measured, read_people


def benchmark_judges(datasets: Path, *, write_file: bool = False) -> dict[str, float]:
    """Agreement of each judge by rule, and of the longer answer; with `write_file` into the package."""
    people = read_people(datasets / "ragchecker_human" / "pairs.jsonl")
    with Reasoner() as reasoner:
        judges = [Judge(name) for name in JUDGES if name not in OPINIONS]
        found = [a for judge in judges if (a := measured(reasoner, judge, "rules", people))]
    if write_file:
        lines = [json.dumps(a.model_dump(mode="json", exclude_none=True)) for a in found]
        FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    figures: dict[str, float] = {}
    for a in found:
        name = f"{a.judge} {a.against}"
        figures |= {name: a.value, f"{name} low": a.low, f"{name} high": a.high, f"{name} judged": a.judged}
    longer = [(words(p.second.answer) - words(p.first.answer), o) for p, by in people.pairs if (o := by["overall"])]
    return figures | {
        "length overall": agreed(*(np.array(column, dtype=np.float64) for column in zip(*longer, strict=True)))
    }
