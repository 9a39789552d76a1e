"""The packaged reader, and the lines that it reads, on pages that neither was trained on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from quern.jobs.models.late_interaction import WEIGHT, LateInteraction
from quern.jobs.models.reader import KINDS, Reader
from quern.jobs.text.stems import QUESTION_WEIGHT, content_words, weighted, word_shares
from quern.jobs.training.pages import MEASURED, confusable, decision, pages_of, read_pages, target
from quern.pipelines.evaluation.bootstrap import area_under_roc

_PAGES = Path(__file__).parents[1] / "corpus" / "reading"
# Of genres that are measured on and not trained on.
_HELD_OUT = sorted([*_PAGES.glob("documentation-*.txt"), *_PAGES.glob("notices-*.txt")])
_MOST = 1500  # Questions of the reader.
_MOST_OF_LINES = 1000
_AMONG = (1, 3, 12, 24)


def benchmark_reading() -> dict[str, float]:
    """Right lines, right words, yes or no, and none of them, over the held-out genres.

    Windows are drawn as in training, with less left to chance.
    """
    questions, chance, reader = read_pages(_HELD_OUT), random.Random(0), Reader.load()
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
            start, end = window.span[2:]  # F1 of the characters of two spans.
            shared = max(0, min(line.end, end) - max(line.start, start))
            spans.append(2 * shared / max(1, line.end - line.start + end - start))
    verdicts = []
    deciding = [q for q in questions if q.right and q.yes is not None]
    for question in chance.sample(deciding, min(_MOST, len(deciding))):
        line = reader.read(question.question, decision(question, chance).passages).lines[0][-1]
        verdicts.append(line is not None and (line.yes > 0) == question.yes)
    return {
        "questions": len(odds),
        "right line first": fmean(first),
        "F1 of the words of the right line": fmean(spans or [0.0]),
        "kind of answer": fmean(kinds or [0.0]),
        "answered or not, area under ROC": area_under_roc(np.array(odds), np.array(answered)),
        "yes or no by the deciding line": fmean(verdicts or [0.0]),
    }


def benchmark_lines() -> dict[str, float]:
    """The share of questions with a right line among the likeliest, on genres that nothing was trained on."""
    questions = [q for q in read_pages(_HELD_OUT) if q.right and not q.page.has_twin]
    chance = random.Random(0)
    pages, matcher = pages_of(questions), LateInteraction.load()
    words, both, lines = [], [], []
    for question in chance.sample(questions, min(_MOST_OF_LINES, len(questions))):
        by_words, matches, right = [], [], []
        every = confusable(question, pages, chance)
        shares = word_shares(content_words(question.question), [(p.title_words, p.words) for p in every])
        for page, of in zip(every, shares, strict=True):
            by_words += [
                weighted(s) + QUESTION_WEIGHT * line.endswith("?") for line, s in zip(page.lines, of, strict=True)
            ]
            matches += matcher.scores(question.question, matcher.lines(page.lines, range(-1, len(page.lines) - 1)))
            right += [page is question.page and n in question.right for n in range(len(page.lines))]
        words.append(_rank(by_words, right))
        both.append(_rank([w + WEIGHT * m for w, m in zip(by_words, matches, strict=True)], right))
        lines.append(len(right))
    figures = {"questions": len(words), "lines": fmean(lines)}
    for name, ranks in (("shared words", words), ("with late interaction", both)):
        figures |= {f"{name}, among {k}": fmean(rank < k for rank in ranks) for k in _AMONG}
    return figures


def _rank(scores: Sequence[float], right: Sequence[bool]) -> int:
    """How many lines are likelier than the likeliest right one."""
    best = max(score for score, good in zip(scores, right, strict=True) if good)
    return sum(score > best for score in scores)
