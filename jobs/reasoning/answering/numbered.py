"""A number that a question names a thing by: `106 Signal Hill`, `square 31`, `tram 6`.

The same number beside the same word is of that thing; beside another word it is a price, an age, or another house.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from quern.jobs.reasoning.answering.relevance import Line
from quern.schemas.words.calendar import MONTH, MONTH_START
from quern.schemas.words.patterns import lazy_pattern

_NUMBERED: Final = lazy_pattern(
    rf"(?<![\w.,:/-])\d{{1,4}}\s+(?!(?:{MONTH}|{MONTH_START})\b)[a-z]{{3,}}|\b(?!(?:{MONTH}|{MONTH_START}|the|and|for|than|from|until|since|about)\b)[a-z]{{3,}}\s+"
    r"\d{1,4}(?![\w.,:/-]\w)",
    re.IGNORECASE,
)
_YEAR: Final = lazy_pattern(r"(?:1\d|20)\d\d")
# Log odds of a line that says it. Of 1.5 and 3 the one that lowered no figure: with 3 two of 300 questions of
# lihua_world that name a game by its number were lost.
_SAYS: Final = 1.5


def numbered_first(question: str, best: Sequence[Line]) -> Sequence[Line]:
    """The lines with those first that name the thing by its number as the question does."""
    wanted = [" ".join(m[0].lower().split()) for m in _NUMBERED.finditer(question)]
    wanted = [w for w in wanted if not any(_YEAR.fullmatch(part) for part in w.split())]
    if not wanted:
        return best
    held = [sum(_has(line.text, w) for w in wanted) / len(wanted) for line in best]
    if not any(held):
        return best
    raised = [replace(line, score=line.score + _SAYS * share) for line, share in zip(best, held, strict=True)]
    return sorted(raised, key=lambda line: (-line.score, line.number))


def _has(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", " ".join(text.lower().split())) is not None
