"""Alignment of questions and chunks (GGatrieval, FGA): does it tell a chunk that answers from one that does not?

Of clapnq and fairytaleqa, and of the questions of each warehouse with the best of its chunks: the share of chunks that
are aligned in full, answering and not, and the area under ROC of the share aligned, plain and graded. Beside each other
for the shallow parser and for the packaged ones; then pairs a second of one core.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.task import AlignInput, Alignment, aligned
from quern.jobs.reasoning.alignment.words import words_of
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.text.names import names
from tests.benchmarks.answerable import Case, cases
from tests.benchmarks.logistic import roc_area

_PARSERS = ("shallow", "spacy", "lac")
_SPEED = 3000  # Pairs that speed is measured on.


def benchmark_alignment(datasets: Path, warehouses: Sequence[Path]) -> dict[str, float]:
    """The figures of every set that is at hand; a warehouse is known by the name of its folder."""
    figures: dict[str, float] = {}
    known = list(cases(datasets, warehouses))
    for name in dict.fromkeys(c.set for c in known):
        of = [c for c in known if c.set == name]
        for parser in _PARSERS:
            if parser != "shallow" and (parser == "lac") != (name == "cmrc"):
                continue
            figures |= {f"{name}, {parser}, {figure}": value for figure, value in _figures(of, parser)}
    return figures | _speed([c.given for c in known])


def _figures(of: Sequence[Case], parser: str) -> Iterator[tuple[str, float]]:
    best = _best([c.given for c in of], parser)
    answered = np.array([c.answered for c in of])
    full = np.array([a.label == "full" for a in best])
    yield "questions", len(of)
    yield "full where answered", float(full[answered].mean())
    yield "full where not", float(full[~answered].mean())
    for figure in ("share", "graded"):
        yield f"area, {figure}", roc_area(np.array([getattr(a, figure) for a in best]), answered)


def _best(given: Sequence[AnswerInput], parser: str) -> list[Alignment]:
    """The best alignment of each question with a chunk of its evidence."""
    questions = parsed([g.question for g in given], parser)
    every = ([aligned(AlignInput(q, e)) for e in g.evidence] for q, g in zip(questions, given, strict=True))
    return [max(of, key=lambda a: (a.graded, a.share), default=Alignment(matches=[])) for of in every]


def _pairs_a_second(pairs: Sequence[AlignInput]) -> float:
    started = time.process_time()
    for pair in pairs:
        aligned(pair)
    return len(pairs) / (time.process_time() - started)


def _speed(given: Sequence[AnswerInput]) -> dict[str, float]:
    """Pairs a second where questions share their chunks, as in a loop over candidates, and where no chunk was seen."""
    questions = parsed([g.question for g in given], "shallow")
    chunks = [e for g in given for e in g.evidence]
    shared = [AlignInput(q, e) for q in questions[: _SPEED // 50] for e in chunks[:50]]
    figures = {"pairs a second, shared chunks": _pairs_a_second(shared)}
    for cache in (words_of, names):
        cache.cache_clear()
    fresh = [AlignInput(q, e) for q, g in zip(questions, given, strict=True) for e in g.evidence[:1]]
    figures["pairs a second, chunks not seen"] = _pairs_a_second(fresh[:_SPEED])
    texts = [g.question for g in given]
    for parser in ("shallow", "spacy"):
        parsed(texts[:1], parser)
        started = time.process_time()
        parsed(texts, parser)
        figures[f"questions a second, {parser}"] = len(texts) / (time.process_time() - started)
    return figures
