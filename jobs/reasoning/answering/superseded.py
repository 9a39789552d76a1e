"""What of the evidence holds no more: claims that other evidence denies, withdraws or tells as what was said before.

A later page that names an old value (`were reported to cut the disease by 71 per cent, but the paper was retracted`)
does not bear it out, and what it says next is mostly what holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, Literal

from quern.jobs.reasoning.answering.relevance import WEIGHTS, Line
from quern.jobs.reasoning.answering.typed.value import Period, Value
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

# Log odds, in those of `relevance.WEIGHTS`: a denied claim falls behind what shares the same words of the question
# with it, what is told right behind the denial comes before its equals. Set by hand on the sample corpus; with 2 and 4,
# and with 1 and 2, one to three of 291 answers differ, and one right answer at most.
_DENIED: Final = -3.0
_INSTEAD: Final = 1.5
_LEAST_WORDS: Final = 2  # Of a claim, that say which one it is.
_LOOKED_AT: Final = 40  # Lines, the best, that may deny another.
# Characters before and behind a value: the expressions below reach over 60 of any kind and six words of their own.
_REACH: Final = 300

_WRONG: Final = (
    r"(?:retracted|withdrawn|withdrew|corrected|disproved|refuted|overturned|mistaken|wrong|false|untrue|incorrect|"
    r"unfounded|an?\s+(?:error|mistake)|not\s+(?:true|so|the\s+case|right|correct|confirmed))\b"
)
# `not from the storm`, `a long way from the 71 per cent`; `not only` and `not until` deny nothing.
_NOT_BEFORE: Final = lazy_pattern(
    r"(?:(?:\b(?:not|never|rather\s+than|instead\s+of|contrary\s+to|wrongly|mistakenly|falsely)|n['’]t)\b(?!\s+(?:only|"
    r"until|before|least|yet|just|more|less|fewer|later|all|every|even|sure|certain|known|clear)\b)|"
    r"\b(?:far|a\s+long\s+way)\s+from\b)(?P<denied>[^,;:.—–]{0,60})$",
    re.IGNORECASE,
)
# What was planned, or held, before: `had been due to open in October`, `has risen from the 38.4 million`, `was moved
# from March`; a day from which a fare was raised is none.
_PAST_BEFORE: Final = lazy_pattern(
    r"(?:\b(?:had\s+been|(?:was|were)\s+(?:originally|first|once|initially))\s+(?:due|planned|expected|scheduled|meant|"
    r"supposed|intended|estimated|put)\b[^,;:.—–]{0,60}|\b(?:originally|previously|formerly)\s+(?:\w+\s+){0,4})$",
    re.IGNORECASE,
)
_FROM: Final = r"[^.;]{0,60}?\bfrom\s+(?:the\s+|its\s+|an?\s+)?(?:\w+\s+of\s+)?$"
_RISEN: Final = lazy_pattern(
    r"\b(?:risen|rose|rise|fell|fallen|fall|grown|grew|increased?|raised|reduced|cut|changed|up(?=\s+from)|down(?=\s+from))\b"
    + _FROM,
    re.IGNORECASE,
)
_MOVED: Final = lazy_pattern(
    r"\b(?:moved|postponed|put\s+off|delayed|brought\s+forward|changed|rescheduled|slipped)\b" + _FROM, re.IGNORECASE
)
# `... by 71 per cent, but the paper was retracted`, `that the radar had been on standby was withdrawn`.
_WRONG_AFTER: Final = lazy_pattern(
    rf"(?:[^.;]{{0,60}}\b(?:but|however|though|although|which)\b[^.;]{{0,60}}?\b|[^.,;]{{0,60}}\b)"
    rf"(?:is|was|were|been|proved|turned\s+out(?:\s+to\s+be)?)\s+(?:later\s+|since\s+|then\s+)?{_WRONG}",
    re.IGNORECASE,
)
_CLAIM: Final = lazy_pattern(
    r"\b(?:statement|claim|report|finding|rumou?r|suggestion|belief|assertion|announcement|news|story)s?\b"
    rf"[^.;]{{0,60}}?\bthat\s+(?P<claim>[^.;]{{5,120}}?)\s+(?:is|was|were|has\s+been|have\s+been)\s+(?:later\s+|since\s+)?"
    rf"{_WRONG}",
    re.IGNORECASE,
)


_FIRST: Final = lazy_pattern(
    r"\b(?:at\s+first|originally|initially|to\s+begin\s+with|at\s+the\s+(?:start|beginning|outset)|(?:the|very)\s+first\s+"
    r"(?:budget|plan|estimate|report|figure|count|price|offer|proposal|version|date|bulletin))\b",
    re.IGNORECASE,
)
# Who asks for what was planned or believed, and who asks what it was not, wants it told.
_BEFORE: Final = lazy_pattern(
    r"\b(?:(?:was|were|had|been|be)\s+(?:\w+\s+){0,3}(?:due|planned|expected|scheduled|meant|supposed|intended|estimated|"
    r"believed|thought|reported|claimed)|previous(?:ly)?|former(?:ly)?|earlier|used\s+to|retract\w*|withdrawn|withdrew|"
    r"wrong(?:ly)?|(?:rise|rose|risen|fall|fell|fallen|change|changed|moved?)\s+from|before)\b",
    re.IGNORECASE,
)
_SAID_BEFORE: Final = lazy_pattern(
    r"\b(?:believed|thought|reported|claimed|said|stated|announced|previous(?:ly)?|former(?:ly)?|earlier|used\s+to|"
    r"retract\w*|withdrawn|withdrew|wrong(?:ly)?|bulletin)\b",
    re.IGNORECASE,
)
_LAST: Final = lazy_pattern(
    r"\b(?:really|actually|in\s+(?:the\s+end|fact|truth|reality)|finally|eventually|ultimately|now|nowadays|these\s+days|"
    r"today|currently|at\s+present|(?:final|latest|present|current)(?:\s+\w+)?)\b",
    re.IGNORECASE,
)
_CLAUSES: Final = lazy_pattern(r"[,;:()—–]|\.\s|\b(?:and|but|which|who|while)\b")
_BESIDE: Final = 3  # Words before and behind a value that say what it is of.
_SAME_TEXT: Final = 0.15  # Share of the question by which two chunks on one thing may differ.


@dataclass(frozen=True)
class _Denial:
    """A line that denies something.

    Attributes:
        values: What equal values have in common, of those that it denies.
        claim: Words of a claim that it denies; empty where it denies values alone.
    """

    line: Line
    values: frozenset[object]
    claim: frozenset[str]

    def denies(self, line: Line) -> bool:
        """Whether `line` claims what this denies, and is no later."""
        if line.number == self.line.number or not _no_later(line.published, self.line.published):
            return False
        if any(v.same in self.values for v in line.values):
            return True
        return len(self.claim) >= _LEAST_WORDS and self.claim <= content_words(line.text)


@dataclass(frozen=True)
class Standing:
    """What holds of the evidence.

    Attributes:
        lines: The lines, best first, with what other lines deny behind what holds; values that a line denies are not
            among its own.
        denials: The line that denies something, by each line right behind it: what it tells holds instead.
    """

    lines: list[Line]
    denials: Mapping[int, int]


@dataclass(frozen=True)
class Denied:
    """The line that denies another, and whether what it denies is what the question asks."""

    line: Line
    is_asked: bool


def standing(question: str, best: Sequence[Line]) -> Standing:
    """What holds of the lines `best`, by what some of them say of others; all, where what was first is asked for."""
    if _BEFORE.search(question) or stage(question) == "first":
        return Standing([*best], {})
    denials = [d for line in best[:_LOOKED_AT] if (d := _denial(line)) is not None]
    if not denials:
        return Standing([*best], {})
    own = {d.line.number: d.values for d in denials}
    against = {line.number: [d for d in denials if d.denies(line)] for line in best}
    effective = {d.line.number for ds in against.values() for d in ds}
    denials_of = {d.line.number + 1: d.line.number for d in denials if d.line.number in effective}
    evidence = {line.number: line.evidence for line in best}
    instead = {n: d for n, d in denials_of.items() if evidence.get(n) == evidence[d] and not against[n]}
    found = []
    for line in best:
        values = tuple(v for v in line.values if v.same not in own.get(line.number, frozenset()))
        lost = line.signals.typed - max((v.fit for v in values), default=0.0) if len(values) < len(line.values) else 0.0
        score = line.score - WEIGHTS.typed * lost + (_DENIED if against[line.number] else 0.0)
        score += _INSTEAD if line.number in instead else 0.0
        found.append(replace(line, values=values, score=score))
    return Standing(sorted(found, key=lambda line: (-line.score, line.number)), instead)


def claims_denied(question: str, best: Sequence[Line]) -> dict[int, Denied]:
    """What denies each of the lines, by its number, where what was said first is not asked for.

    For a question of yes or no: `before she sailed` in it asks for nothing that was said before.
    """
    if _SAID_BEFORE.search(question) or stage(question) == "first":
        return {}
    asked = content_words(question)
    denials = [d for line in best[:_LOOKED_AT] if (d := _denial(line)) is not None and d.claim]
    found = {}
    for line in best:
        denial = next((d for d in denials if d.denies(line)), None)
        if denial is not None:
            found[line.number] = Denied(denial.line, denial.claim <= asked)
    return found


def stage(question: str) -> Literal["first", "last", ""]:
    """Whether the value of the end or of the beginning is asked for; empty where neither is said."""
    return "first" if _FIRST.search(question) else "last" if _LAST.search(question) else ""


def one_thing(one: Line, value: Value, other: Line, another: Value) -> bool:
    """Whether two values are told of one thing: with a word of content in common beside them, on like texts."""
    if abs(_covered(one) - _covered(other)) > _SAME_TEXT:
        return False
    own = content_words(value.text) | content_words(another.text)
    return bool((_beside(value, one.text) & _beside(another, other.text)) - own)


def _covered(line: Line) -> float:
    """Share of the question that the chunk of a line has with its title."""
    s = line.signals
    return s.own + s.before + s.earlier + s.after + s.title + s.chunk


def _beside(value: Value, text: str) -> frozenset[str]:
    """The words of content beside a value, in its clause."""
    before = _CLAUSES.split(text[: value.start])[-1].split()[-_BESIDE:]
    after = _CLAUSES.split(text[value.end :])[0].split()[:_BESIDE]
    return content_words(" ".join([*before, *after]))


def _denial(line: Line) -> _Denial | None:
    if line.row is not None:
        return None
    values = frozenset(v.same for v in line.values if _is_denied(v, line.text))
    claim = _CLAIM.search(line.text)
    words = content_words(claim["claim"]) if claim else frozenset[str]()
    return _Denial(line, values, words) if values or words else None


def _is_denied(value: Value, text: str) -> bool:
    if not value.end:
        return False
    first, last = max(0, value.start - _REACH), value.end + _REACH
    before = (_NOT_BEFORE, _PAST_BEFORE, _MOVED if isinstance(value.same, Period) else _RISEN)
    return (
        any(pattern.search(text, first, value.start) for pattern in before)
        or _WRONG_AFTER.match(text[value.end : last]) is not None
    )


def _no_later(day: date | None, than: date | None) -> bool:
    return day is None or than is None or day <= than
