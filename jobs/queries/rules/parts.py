"""What a question asks for: dates, places, persons, counts and measures in an English clause, by their forms."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.names import is_body, names
from quern.jobs.reasoning.clauses.words import PREPOSITIONS
from quern.jobs.reasoning.questions.words import is_past
from quern.schemas.words.calendar import MONTH, WEEKDAY

_YEAR: Final = r"(?:1\d{3}|20\d\d)s?\b"
_PREPOSITION: Final = r"(?:on|in|by|since|until|from|around|between|after|before|during|as of|at)"
DATE: Final = re.compile(
    rf" (?:{_PREPOSITION} )?(?:the )?(?:(?:early|late|mid|spring of|summer of|autumn of|winter of|end of) ?-?)?"
    rf"(?:{WEEKDAY},? )?(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?{MONTH}\b(?: \d{{1,2}}(?:st|nd|rd"
    rf"|th)?\b)?(?:,? \d{{4}})?"
    rf"| {_PREPOSITION} (?:the )?(?:early |late |mid-)?{_YEAR}(?! [a-z]+s\b)"
    rf"| (?:on|until|from|since|by) {WEEKDAY}s?\b| (?:last|next|this|every) (?:{WEEKDAY}|weekend|week|month|year"
    rf"|spring|summer|"
    rf"autumn|winter)\b| \w+ (?:years|months|weeks|days) (?:ago|later)\b| at \d{{1,2}}[.:]\d\d(?: ?[ap]\.?m\b)?"
)
_NUMBER: Final = (
    r"(?:(?:about|over|only|almost|nearly|some|around|more than|at least|up to|fewer than|less than|roughly"
    r"|approximately) )?"
    r"(?:\d[\d,.]*(?: million| billion| thousand)?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|"
    r"(?:\w+ )?(?:dozen|hundred|thousand)s?(?: of)?)"
)
COUNTED: Final = re.compile(
    rf"(?P<number>{_NUMBER}) (?P<noun>(?:(?!of\b|in\b|at\b|per\b|to\b"
    rf"|and\b)[a-z][\w’'-]* ){{0,2}}?(?:[a-z][\w’'-]*s|people|children|men|women))"
    r"(?= (?:in|on|at|by|for|from|to|with|of|and|were|was|are|have|had|during|since|over|into|across|per)\b|$|[,.;])",
    re.IGNORECASE,
)
_UNIT: Final = r"(?:crowns?|euros?|dollars?|pounds?|francs?|yen|yuan|rupees?|pence|cents?|marks?|kroner|kronor)"
MONEY: Final = re.compile(rf"(?:{_NUMBER} {_UNIT}\b|(?:about |over |only |nearly )?[$€£¥]\s?\d)", re.IGNORECASE)
LENGTH: Final = re.compile(
    rf"(?:{_NUMBER}|an?) (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b", re.IGNORECASE
)
RATED: Final = re.compile(rf"{_NUMBER} [a-z]+ (?P<how>tall|long|high|wide|deep|thick|old|heavy|away)\b", re.IGNORECASE)
SECOND_PERSON: Final = re.compile(r"\b(?:I|me|my|we|us|our|you|your)\b")
_PERSONAL: Final = re.compile(
    r"(?:the |an? )?(?:[\w-]+ ){0,3}(?:man|woman|boy|girl|king|queen|doctor|captain|driver|officer|farmer|author"
    r"|mother|"
    r"father|son|daughter|wife|husband|brother|sister|(?:[a-z]{3,}(?:ist|ian|eer|keeper|maker|worker|teacher)))\b"
)


def is_person(words: str) -> bool:
    """Whether words that stand for someone or something begin with a person or a body that acts as one."""
    if _PERSONAL.match(words):
        return True
    found = names(words if words.lower().startswith("the ") else f"the {words}" if is_body(words) else words)
    if not found or found[0].start > 4:
        return False
    name = found[0]
    if name.role == "place":
        return False
    return name.role == "person" or is_body(name.text)


def is_place(words: str) -> bool:
    """Whether a name is like a place's: it stands so behind a preposition of place."""
    found = names(f"He was in {words}")
    return (bool(found) and words[:1].isupper() | words.startswith("the ") and found[-1].role == "place") or (
        bool(found) and found[0].role == "place"
    )


def shortened(text: str, most: int = 12) -> str:
    """The text up to the last phrase that ends within `most` words; the whole where it is no longer."""
    words = text.strip().split()
    if len(words) <= most:
        return " ".join(words)
    cut = next((n for n in range(most, 2, -1) if words[n].lower() in _PHRASE), 0)
    kept = words[:cut] if cut else words[: most + 1]
    while len(kept) > 1 and (kept[-1].lower() in _OPEN or is_past(kept[-1]) or kept[-1].endswith("ing")):
        kept.pop()
    return " ".join(kept).rstrip(",")


def whole(before: str) -> str:
    """What stands before the words asked for, without a comma or a preposition left alone."""
    words = shortened(before, 14).split()
    while words and words[-1].lower() in ("and", "or", "only", "both", "about", "early", "late"):
        words.pop()
    return " ".join(words).rstrip(",")


_OPEN: Final = PREPOSITIONS | frozenset("the a an and or of which who that to not very".split())
_PHRASE: Final = PREPOSITIONS - {"to", "as", "than"} | {"and"}
