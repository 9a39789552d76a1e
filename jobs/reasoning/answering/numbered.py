"""A number that a question names a thing by: `106 Signal Hill`, `square 31`, `tram 6`, `the Nokta 3`.

The same number beside the same word is of that thing; beside another word it is a price, an age, or another house.
What is told of the Nokta 5, by its own words, its table's head or its page's title, is not of the Nokta 3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from quern.jobs.reasoning.answering.named_numbers import YEAR, names_numbered
from quern.jobs.reasoning.answering.relevance import Line
from quern.schemas.words.calendar import MONTH, MONTH_START
from quern.schemas.words.patterns import lazy_pattern

_NUMBERED: Final = lazy_pattern(
    rf"(?<![\w.,:/-])\d{{1,4}}\s+(?!(?:{MONTH}|{MONTH_START})\b)[a-z]{{3,}}|\b(?!(?:{MONTH}|{MONTH_START}|the|and|for|than|from|until|since|about)\b)[a-z]{{3,}}\s+"
    r"\d{1,4}(?![\w.,:/-]\w)",
    re.IGNORECASE,
)
_OTHER: Final = -4.0  # Log odds of a line about another of the same name; as of one of another time in `in_time`.
# Log odds of a line that says it. Of 1.5 and 3 the one that lowered no figure: with 3 two of 300 questions of
# lihua_world that name a game by its number were lost.
_SAYS: Final = 1.5


def numbered_first(question: str, best: Sequence[Line], titles: Sequence[str]) -> Sequence[Line]:
    """The lines with those first that name the thing by its number as the question does, those of another last.

    Args:
        question: What is asked.
        best: The lines, best first.
        titles: Those of the pages, in the order of the evidence.
    """
    best = _of_others_last(question, best, titles)
    wanted = [" ".join(m[0].lower().split()) for m in _NUMBERED.finditer(question)]
    wanted = [w for w in wanted if not any(YEAR.fullmatch(part) for part in w.split())]
    if not wanted:
        return best
    held = [sum(_has(line.text, w) for w in wanted) / len(wanted) for line in best]
    if not any(held):
        return best
    raised = [replace(line, score=line.score + _SAYS * share) for line, share in zip(best, held, strict=True)]
    return sorted(raised, key=lambda line: (-line.score, line.number))


def of_another(question: str, line: Line, title: str) -> str:
    """The name with another number of which a line is told, by its words, its head or the title; empty if it is not."""
    for told in (line.text, " | ".join(line.row.header) if line.row else "", title):
        years = told is line.text  # A title's year is mostly that of an event.
        asked = names_numbered(question, years=years)
        same = {one for one in names_numbered(told, years=years) if any(one[0] == name for name, _ in asked)}
        if same & asked:
            return ""
        if same:
            return " ".join(min(same))
    return ""


def _of_others_last(question: str, best: Sequence[Line], titles: Sequence[str]) -> Sequence[Line]:
    if not names_numbered(question):
        return best
    others = [bool(of_another(question, line, titles[line.evidence])) for line in best]
    if all(others) or not any(others):
        return best
    found = [replace(line, score=line.score + _OTHER * other) for line, other in zip(best, others, strict=True)]
    return sorted(found, key=lambda line: (-line.score, line.number))


def _has(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", " ".join(text.lower().split())) is not None
