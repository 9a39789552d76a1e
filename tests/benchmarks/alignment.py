"""Alignment of questions and chunks (GGatrieval, FGA): does it tell a chunk that answers from one that does not?

Of clapnq and fairytaleqa, and of the questions of each warehouse with the best of its chunks: the share of chunks that
are aligned in full, answering and not, and the area under ROC of the share aligned; then pairs a second of one core.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.task import AlignInput, Alignment, aligned
from quern.jobs.reasoning.answering.inputs import AnswerInput
from tests.benchmarks.answerable import Case, cases
from tests.benchmarks.logistic import roc_area

_SPEED = 3000  # Pairs that speed is measured on.


def benchmark_alignment(datasets: Path, warehouses: Sequence[Path]) -> dict[str, float]:
    """The figures of every set that is at hand; a warehouse is known by the name of its folder."""
    known = list(cases(datasets, warehouses))
    figures: dict[str, float] = {}
    for name in dict.fromkeys(c.set for c in known):
        figures |= {f"{name}, {figure}": value for figure, value in _figures([c for c in known if c.set == name])}
    return figures | _speed([c.given for c in known])


def _figures(of: Sequence[Case]) -> Iterator[tuple[str, float]]:
    best = [_best(c.given) for c in of]
    answered = np.array([c.answered for c in of])
    full = np.array([a.label == "full" for a in best])
    yield "questions", len(of)
    yield "full where answered", float(full[answered].mean())
    yield "full where not", float(full[~answered].mean())
    yield "area", roc_area(np.array([a.share for a in best]), answered)


def _best(given: AnswerInput) -> Alignment:
    """The best alignment of a question with a chunk of its evidence."""
    question = parsed(given.question)
    every = [aligned(AlignInput(question, e)) for e in given.evidence]
    return max(every, key=lambda a: a.share, default=Alignment(matches=[]))


def _speed(given: Sequence[AnswerInput]) -> dict[str, float]:
    """Pairs a second where questions share their chunks, as in a loop over candidates."""
    chunks = [e for g in given for e in g.evidence][:50]
    pairs = [AlignInput(parsed(g.question), e) for g in given[: _SPEED // 50] for e in chunks]
    started = time.process_time()
    for pair in pairs:
        aligned(pair)
    return {"pairs a second": len(pairs) / (time.process_time() - started)}
