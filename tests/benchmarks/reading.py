"""The packaged reader on pages that it was not trained on: right lines, right words, yes or no, and none of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from quern.jobs.models.reader import KINDS, Reader
from quern.jobs.training.pages import MEASURED, Question, decision, read_pages, target
from quern.pipelines.evaluation.bootstrap import area_under_roc

PAGES = Path(__file__).parents[1] / "corpus" / "reading"
# Genres that are measured on and not trained on.
KEPT = ("documentation-*.txt", "notices-*.txt")
_MOST = 1500  # Questions.


def kept_files(folder: Path = PAGES) -> list[Path]:
    """The files of the genres that are kept apart from training."""
    return sorted({file for pattern in KEPT for file in folder.glob(pattern)})


def trained_files(folder: Path = PAGES) -> list[Path]:
    """The files to train on."""
    kept = set(kept_files(folder))
    return [file for file in sorted(folder.glob("*.txt")) if file not in kept]


def benchmark_reading(files: Sequence[Path] | None = None) -> dict[str, float]:
    """Figures over `files` of pages; windows are drawn as in training, with less left to chance."""
    questions, chance, reader = read_pages(files or kept_files()), random.Random(0), Reader.load()
    pages = list({id(q.page): q.page for q in questions}.values())
    asked = [q for q in questions if not q.page.has_twin]
    first, spans, kinds, odds, answered = [], [], [], [], []
    for question in chance.sample(asked, min(_MOST, len(asked))):
        window = target(question, pages, chance, MEASURED)
        reading = reader.read(question.question, window.passages)
        flat = [
            (line.odds, right, passage, n)
            for passage, (lines, rights) in enumerate(zip(reading.lines, window.right, strict=True))
            for n, (line, right) in enumerate(zip(lines, rights, strict=True))
            if line is not None
        ]
        odds.append(float(np.logaddexp.reduce([o for o, *_ in flat])) if flat else -np.inf)
        answered.append(any(right for _, right, *_ in flat))
        if question.kind is not None:
            kinds.append(max(KINDS, key=reading.kinds.__getitem__) == question.kind)
        if answered[-1]:
            first.append(max(flat)[1])
        if window.span is not None and (line := reading.lines[window.span[0]][window.span[1]]) is not None:
            spans.append(_overlap((line.start, line.end), window.span[2:]))
    verdicts = [_decided(reader, q, chance) for q in _decisions(questions, chance)]
    return {
        "questions": len(odds),
        "right line first": fmean(first),
        "F1 of the words of the right line": fmean(spans or [0.0]),
        "kind of answer": fmean(kinds or [0.0]),
        "answered or not, area under ROC": area_under_roc(np.array(odds), np.array(answered)),
        "yes or no by the deciding line": fmean(verdicts or [0.0]),
    }


def _decisions(questions: Sequence[Question], chance: random.Random) -> list[Question]:
    deciding = [q for q in questions if q.right and q.yes is not None]
    return chance.sample(deciding, min(_MOST, len(deciding)))


def _decided(reader: Reader, question: Question, chance: random.Random) -> bool:
    """Whether the reader tells yes from no by the line that decides."""
    window = decision(question, chance)
    line = reader.read(question.question, window.passages).lines[0][-1]
    return line is not None and (line.yes > 0) == question.yes


def _overlap(one: tuple[int, int], other: tuple[int, ...]) -> float:
    """F1 of the characters of two spans."""
    shared = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return 2 * shared / max(1, one[1] - one[0] + other[1] - other[0])
