"""How far people agree with each judge by rule: pairs of `ragchecker_human`, claims of `expertqa_claims`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from quern.jobs.reasoning.judging.overlap import words
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.judging.judges import OPINIONS, PAIRWISE, SINGLE, judge_named
from quern.pipelines.judging.people import FILE, Agreement, agreed, measured, read_people


def benchmark_judges(datasets: Path, *, write_file: bool = False) -> dict[str, float]:
    """Agreement of each judge by rule, and of the longer answer; with `write_file` into the package."""
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
        lines = [json.dumps(a.model_dump(mode="json", exclude_none=True)) for a in found]
        FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    figures: dict[str, float] = {}
    for a in found:
        name = f"{a.judge} {a.against}"
        figures |= {name: a.value, f"{name} low": a.low, f"{name} high": a.high, f"{name} judged": a.judged}
    longer = [(words(p.second.answer) - words(p.first.answer), o) for p, by in pairs.pairs if (o := by["overall"])]
    return figures | {
        "length overall": agreed(*(np.array(column, dtype=np.float64) for column in zip(*longer, strict=True)))
    }
