"""Questions taken apart against people's decompositions: valid graphs, counts of sub-questions, and edges.

A folder holds `strategyqa_train.jsonl`, `fanoutqa.jsonl` and `break_high_level.jsonl`. Whole sets are taken apart by
rule; the parts that `quern train decomposer` holds out by rule and, if one is named, by a model, with 95 % intervals.
A question that is not taken apart counts as one; golds above six count as six, the most that a decomposition may have.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from quern.jobs.reasoning.questions.plan import Plan, parts
from quern.jobs.training.graphs import Graph, edge_f1, measures, read_graphs
from quern.pipelines.evaluation.bootstrap import statistic_intervals
from tests.benchmarks import Figures

_RESAMPLES = 2000


def benchmark_decomposition(folder: Path, model: Path | None = None, most: int = 100) -> Figures:
    """Figures of each set by rule, and of the first `most` held-out questions of each by rule and by `model`."""
    figures: Figures = {}
    loaded = None
    if model:  # Needs PyTorch, which other benchmarks do without.
        from quern.jobs.training.decomposer import decompose
        from quern.jobs.training.language_model import LanguageModel

        loaded = LanguageModel(str(model), 1, 0)
    for name in ("strategyqa_train", "break_high_level", "fanoutqa"):
        golds = read_graphs([folder / f"{name}.jsonl"])
        plans = [Plan(g.question, parts(g.question)) for g in golds]
        figures[f"{name}, within one"] = float(measures(golds, plans)["within one"].mean())
        held = [n for n, g in enumerate(golds) if g.held_out][:most]
        figures |= _held_out(f"{name} held out, rule", [golds[n] for n in held], [plans[n] for n in held])
        if loaded is not None:
            ours, reasons = decompose(loaded, [golds[n].question for n in held])
            figures |= _held_out(f"{name} held out, model", [golds[n] for n in held], ours)
            figures |= {f"{name} held out, model, {reason}": count / len(held) for reason, count in reasons.items()}
    return figures


def _held_out(name: str, golds: list[Graph], plans: list[Plan]) -> Figures:
    values = measures(golds, plans)
    shares = ("valid", "within one")
    interval = statistic_intervals(
        lambda at: [*(float(values[of][at].mean()) for of in shares), edge_f1(values["edges"][at])],
        len(golds), _RESAMPLES,
    )  # fmt: skip
    figures = {f"{name}, questions": float(len(golds))}
    for n, of in enumerate((*shares, "edge F1")):
        ends = zip(("", ", low", ", high"), (interval.mean, interval.low, interval.high), strict=True)
        figures |= {f"{name}, {of}{end}": float(np.asarray(value)[n]) for end, value in ends}
    return figures
