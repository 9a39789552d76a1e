"""Yes or no: whether the best sentence of the evidence says what a question asks, or otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.typed import amounts

_NOT: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|hardly|refused?|denied|denies|failed to|unable|"
    r"un(?:harmed|hurt|injured|known|changed|paid|safe|likely))\b|n['’]t\b|[不没未无非]",
    re.IGNORECASE,
)
_OPPOSITES: Final = tuple(
    tuple(frozenset(side.split()) for side in pair.split("|"))
    for pair in (
        "open opened opens reopened|closed close closes shut",
        "rise rose risen increase increased higher grow grew more up above|"
        "fall fell fallen decrease decreased lower less "
        "fewer down below shrank cut",
        "before earlier|after later",
        "first|last",
        "accept accepted approve approved agreed allow allowed permitted|"
        "reject rejected refuse refused declined forbidden "
        "prohibited banned withdrawn",
        "win won|lose lost",
        "on|off standby",
        "alive survived|dead died killed",
        "begin began started start|end ended stopped stop finished",
        "buy bought|sell sold",
        "arrive arrived|leave left departed",
        "free|paid charged cost costs",
        "north northern|south southern",
        "east eastern|west western",
        "man male|woman female",
        "public|private",
        "large larger big bigger|small smaller",
        "long longer|short shorter",
        "old older|new newer young younger",
        "same|different",
        "success succeeded successful|failure failed unsuccessful",
        "true|false",
        "guilty convicted|innocent acquitted",
        "full|empty",
        "hot warm|cold",
        "voluntary|compulsory",
        "include included includes|exclude excluded except",
    )
)


def verdict(question: str, best: Sequence[Line]) -> tuple[str, Line]:
    """`Yes` or `No` by the sentence that shares most with the question, and that sentence."""
    line = best[0]
    chinese = not question.isascii() and not re.search(r"[A-Za-z]{3}", question)
    no = _contradicts(question, line, best)
    return (("否" if no else "是") if chinese else ("No" if no else "Yes")), line


def _contradicts(question: str, line: Line, best: Sequence[Line]) -> bool:
    negated = bool(_NOT.search(line.text)) != bool(_NOT.search(question))
    if negated or _opposed(question, line.text):
        return True
    return _other_number(question, line)


def _opposed(question: str, text: str) -> bool:
    """Whether the text has the opposite of a word of the question and not the word itself."""
    asked, said = set(re.findall(r"[a-z]+", question.lower())), set(re.findall(r"[a-z]+", text.lower()))
    for one, other in _OPPOSITES:
        for mine, theirs in ((one, other), (other, one)):
            if asked & mine and not asked & theirs and said & theirs and not said & mine:
                return True
    return False


def _other_number(question: str, line: Line) -> bool:
    """Whether the line has another number of a unit that the question has a number of."""
    said = amounts(line.text)
    for asked in amounts(question):
        same = [q for q in said if q.unit == asked.unit]
        if same and all(abs(q.value - asked.value) > 1e-9 for q in same):
            return True
    return False
