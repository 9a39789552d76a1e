"""Alignment of questions and chunks (GGatrieval, FGA): does it tell a chunk that answers from one that does not?

Of clapnq and fairytaleqa, and of the questions of each warehouse with the best of its chunks: the share of chunks that
are aligned in full, answering and not, and the area under ROC of the share aligned; then pairs a second of one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.task import AlignInput, Alignment, aligned
from quern.pipelines.evaluation.bootstrap import area_under_roc
from tests.benchmarks import seconds_of
from tests.benchmarks.confidence import cases

_SPEED = 3000  # Pairs that speed is measured on.


def benchmark_alignment(datasets: Path, warehouses: Sequence[Path]) -> dict[str, float]:
    """The figures of every set that is at hand; a warehouse is known by the name of its folder."""
    known = cases(datasets, warehouses)
    figures: dict[str, float] = {}
    for name in dict.fromkeys(c.set for c in known):
        of = [c for c in known if c.set == name]
        best = []  # Of each question the best alignment with a chunk of its evidence.
        for given in (c.given for c in of):
            question = parsed(given.question)
            every = [aligned(AlignInput(question, e)) for e in given.evidence]
            best.append(max(every, key=lambda a: a.share, default=Alignment(matches=[])))
        answered, full = np.array([c.answered for c in of]), np.array([a.label == "full" for a in best])
        figures |= {
            f"{name}, questions": len(of),
            f"{name}, full where answered": float(full[answered].mean()),
            f"{name}, full where not": float(full[~answered].mean()),
            f"{name}, area": area_under_roc(np.array([a.share for a in best]), answered),
        }
    # Questions share their chunks, as in a loop over candidates.
    chunks = [e for c in known for e in c.given.evidence][:50]
    pairs = [AlignInput(parsed(c.given.question), e) for c in known[: _SPEED // 50] for e in chunks]
    seconds = seconds_of(lambda: [aligned(pair) for pair in pairs])
    return figures | {"pairs a second": len(pairs) / seconds}
