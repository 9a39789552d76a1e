"""Yes or no: whether the best sentence of the evidence says what a question asks, or otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.sentences import content_words
from quern.jobs.reasoning.answering.typed import amounts, times
from quern.jobs.reasoning.answering.values import When
from quern.schemas.words.scripts import HAN

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


_CLAUSE: Final = re.compile(
    r"[,;:—–，；：]|\b(?:but|although|though|whereas|while|which|who|because|since|and)\b|[但而因]"
)
_BOUND: Final = re.compile(
    r"\b(?P<more>more than|over|at least|above|exceed(?:s|ed)?|longer than)|(?P<less>less than|fewer than|under|"
    r"at most|"
    r"below|shorter than)",
    re.IGNORECASE,
)
# How somebody who was asked begins who says yes, or no.
_REPLY: Final = re.compile(
    r"(?P<yes>yes|yeah|yep|yup|sure|of course|certainly|absolutely|definitely|indeed|是|对|好|当然|有的)|"
    r"(?P<no>no|nope|nah|not|never|unfortunately|sadly|sorry|nobody|none|没|不|否)(?![\w’'])",
    re.IGNORECASE,
)
_REPLIES: Final = 4  # Sentences behind a question among which its reply begins.
_BY_SCORE: Final = 0.1  # What one of log odds counts against a share of the question.
_LOOKED_AT: Final = 6  # Of the best lines, those that may tell.
_ENOUGH: Final = 0.25  # Share of the question that a line must say itself to contradict it.


def verdict(question: str, best: Sequence[Line]) -> tuple[str, Line]:
    """`Yes` or `No` by the sentence that shares most with the question, and that sentence."""
    line = max(best[:_LOOKED_AT], key=lambda one: one.focus + _BY_SCORE * one.score)
    chinese = re.search(f"[{HAN}]", question) is not None
    reply = _reply(line, best)
    if reply is not None and (said := _REPLY.match(reply.text.removeprefix(f"{reply.speaker}:").strip())):
        no = said["no"] is not None
        return (("否" if no else "是") if chinese else ("No" if no else "Yes")), reply
    no = max(line.focus, line.signals.own) >= _ENOUGH and _contradicts(question, line, best)
    return (("否" if no else "是") if chinese else ("No" if no else "Yes")), line


def _reply(line: Line, best: Sequence[Line]) -> Line | None:
    """What is said to a question of the evidence: by the next speaker, or by the sentence behind where none speaks."""
    if not line.signals.asks:
        return None
    behind = [o for o in best if o.evidence == line.evidence and 0 < o.number - line.number <= _REPLIES]
    behind.sort(key=lambda o: o.number)
    if not line.speaker:
        return next(iter(behind), None)
    return next((o for o in behind if o.speaker and o.speaker != line.speaker), None)


def _contradicts(question: str, line: Line, best: Sequence[Line]) -> bool:
    clause = _clause(question, line.text)
    if bool(_NOT.search(clause)) != bool(_NOT.search(question)):
        return True
    return _opposed(question, line.text) or _other_number(question, line) or _other_day(question, line)


def _clause(question: str, text: str) -> str:
    """The clause of a sentence that shares most with the question."""
    asked = content_words(question)
    parts = [p for p in _CLAUSE.split(text) if p and p.strip()]
    return max(parts, key=lambda p: len(content_words(p) & asked), default=text)


def _opposed(question: str, text: str) -> bool:
    """Whether the text has the opposite of a word of the question and not the word itself."""
    asked, said = set(re.findall(r"[a-z]+", question.lower())), set(re.findall(r"[a-z]+", text.lower()))
    for one, other in _OPPOSITES:
        for mine, theirs in ((one, other), (other, one)):
            if asked & mine and not asked & theirs and said & theirs and not said & mine:
                return True
    return False


def _other_number(question: str, line: Line) -> bool:
    """Whether the line has other numbers of a unit that the question has a number of; `more than` bounds it."""
    said = amounts(line.text)
    for asked in amounts(question):
        same = [q.value for q in said if q.unit == asked.unit]
        bound = _BOUND.search(question, max(0, asked.start - 20), asked.start)
        if same and bound:
            return not any(v > asked.value if bound["more"] else v < asked.value for v in same)
        if same and all(abs(v - asked.value) > 1e-9 for v in same):
            return True
    return False


def _other_day(question: str, line: Line) -> bool:
    """Whether the line has dates and none of them can be the one of the question."""
    asked = [w for w in times(question, line.published) if w.from_day and w.to_day]
    said = [w for w in times(line.text, line.published) if w.from_day and w.to_day]
    if not asked or not said:
        return False
    return not any(_meet(a, b) for a in asked for b in said)


def _meet(one: When, other: When) -> bool:
    """Whether two times have a day in common; an open one has it with all."""
    if one.from_day is None or one.to_day is None or other.from_day is None or other.to_day is None:
        return True
    return one.from_day <= other.to_day and other.from_day <= one.to_day
