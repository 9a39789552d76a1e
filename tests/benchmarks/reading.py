"""What the trained reader of lines is worth: on pages of its kind, and in the choice of the sentence that answers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from quern.jobs.models.line_reader import LineReader
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.ranked import lines, reading
from quern.jobs.reasoning.answering.reading import Reader, told_of
from quern.pipelines.evaluation.answers.risk import area_under_roc
from tests.benchmarks.meaning import Likely, gains, gold_rows, likeliest
from tests.benchmarks.reading_pages import choice, pages_of, read_pages
from tests.benchmarks.relevance import Asked

_MOST: Final = 2500  # Questions of pages kept apart that are measured on.


def benchmark_reading(datasets: Path, warehouses: Sequence[Path], minutes: float = 0.0) -> dict[str, float]:
    """Figures of the packaged reader, or of one that is trained first for so many `minutes`."""
    figures: dict[str, float] = {}
    if minutes:
        from tests.benchmarks.reading_training import train  # Torch takes seconds to import.

        figures = {f"training, {name}": value for name, value in train(minutes).items()}
    model = LineReader()
    figures |= on_pages_kept(model)
    sets = {name: [*_choices(rows, model)] for name, rows in gold_rows(datasets, warehouses)}
    return figures | (gains(sets, "reader") if sets else {})


def fit_verdicts(file: Path, minutes: float) -> dict[str, float]:
    """Figures of a reader of verdicts that is trained for so many minutes, and written to `file`."""
    from tests.benchmarks.verdict_training import train_verdicts  # Torch takes seconds to import.

    return train_verdicts(minutes, file=file)


def on_pages_kept(model: LineReader) -> dict[str, float]:
    """Of pages that it was not trained on: how often a right line is the likeliest, and whether it tells none of them.

    Lines are chosen as in training, with less left to chance.
    """
    asked, chance = read_pages(kept=True), random.Random(0)
    pages = pages_of(asked)
    first: list[bool] = []
    none: tuple[list[float], list[bool]] = ([], [])
    for one in chance.sample(asked, min(_MOST, len(asked))):
        given = choice(one, pages, chance, measured=True)
        read = model.read(given.question, given.passages)
        flat = [
            (-math.inf if odds is None else odds, answers)
            for odds_of, answers_of in zip(read.lines, given.right, strict=True)
            for odds, answers in zip(odds_of, answers_of, strict=True)
        ]
        answered = any(answers and odds > -math.inf for odds, answers in flat)
        none[0].append(-read.none)
        none[1].append(answered)
        if answered:
            first.append(max(flat)[1])
    return {
        "pages kept apart, questions": len(first),
        "pages kept apart, right line first": float(np.mean(first)),
        "pages kept apart, area answered or not": area_under_roc(np.array(none[0]), np.array(none[1])),
    }


def _choices(rows: Sequence[tuple[Asked, list[Evidence]]], model: LineReader) -> Iterator[Likely]:
    for asked, evidence in rows:
        likely, right = likeliest(asked, AnswerInput(asked.question, evidence))
        if not right.any() or right.all():
            continue
        given = AnswerInput(asked.question, evidence, reader=Reader(model, 1.0))
        read, every = reading(given, kind_of(asked.question)), lines(given, kind_of(asked.question))
        told = dict(zip([o.number for o in every], told_of(read, [(o.number, o.evidence) for o in every]), strict=True))
        yield Likely(np.array([o.score for o in likely]), np.array([told[o.number] for o in likely]), right)
