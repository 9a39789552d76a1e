"""Which lines are read: how often a right line is among the likeliest, by shared words and with late interaction."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from quern.jobs.models.late_interaction import WEIGHT, LateInteraction
from quern.jobs.text.stems import QUESTION_WEIGHT, content_words, weighted, word_shares
from quern.jobs.training.pages import confusable, pages_of, read_pages
from tests.benchmarks.reading import kept_files

_MOST = 1000  # Questions.
_AMONG = (1, 3, 12, 24)


def benchmark_lines(files: Sequence[Path] | None = None) -> dict[str, float]:
    """The share of questions with a right line among the likeliest, on genres that nothing was trained on."""
    questions, chance = (
        [q for q in read_pages(files or kept_files()) if q.right and not q.page.has_twin],
        random.Random(0),
    )
    pages, matcher = pages_of(questions), LateInteraction.load()
    words, both, lines = [], [], []
    for question in chance.sample(questions, min(_MOST, len(questions))):
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
