"""English questions about a turn of a dialogue, by rule: what it states or asks, with names for I and you."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from quern.jobs.queries.rules.nouns import key_phrase
from quern.jobs.queries.rules.speech import Turn, asked, stated
from quern.jobs.queries.rules.units import Unit
from quern.schemas.words.sentences import sentences

_SUGGESTS: Final = re.compile(
    r"\b(?:let['’]s|how about|what about|why don['’]t (?:we|you)|should try|could try|recommend|suggest"
    r"|maybe we (?:could|can|should))\b",
    re.IGNORECASE,
)
_INVITES: Final = re.compile(
    r"\b(?:join|invite|come over|want to|wanna|would you like|care to)\b[^.!]*\?", re.IGNORECASE
)
_ASKS: Final = re.compile(r"\?\W*$")
_LISTED: Final = 3
_DAYS: Final = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|this weekend|tomorrow|tonight)\b", re.IGNORECASE
)


def turn_questions(text: str, unit: Unit, key: str) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the turn `text`, the best first.

    Args:
        text: What is said.
        unit: The turn, with who speaks to whom, and what was said before it.
        key: What the turn is about; may be empty.
    """
    a, b = unit.speaker, unit.addressee
    plain = text.replace("’", "'")
    turn = Turn(a, b)
    if b and "?" in unit.before:
        last = " ".join(sentences(unit.before)[-2:])
        yield from (("reply", question) for question in asked(last, Turn(b, a)))
    whether = []
    for form, question in stated(plain, turn):
        if form == "whether":
            whether.append(question)
        else:
            yield form, question
    yield from (("whether", question) for question in whether[:1])
    yield from _acts(plain, a, b or "the others", key, key_phrase(unit.before, ()))


def _acts(plain: str, a: str, b: str, key: str, replied: str) -> Iterator[tuple[str, str]]:
    """What the turn does, where it says about what."""
    parts = sentences(plain)
    day = _DAYS.search(plain)
    suggested = next((key_phrase(part, ()) for part in parts if _SUGGESTS.search(part)), "")
    asks = key_phrase(parts[-1], ()) if parts and _ASKS.search(parts[-1]) else ""
    if suggested:
        yield "suggest", f"What does {a} suggest to {b} about {suggested}?"
    elif day and _SUGGESTS.search(plain):
        yield "suggest", f"What does {a} suggest doing {_on(day[0])}?"
    elif day and _INVITES.search(plain):
        yield "invite", f"What does {a} invite {b} to do {_on(day[0])}?"
    if asks:
        yield "ask", f"What does {a} ask {b} about {asks}?"
    if key:
        yield "tell", f"What does {a} tell {b} about {key}?"
    elif replied:
        yield "answer", f"What does {a} answer {b} about {replied}?"


def _on(day: str) -> str:
    return f"on {day}" if day[:1].isupper() and day.endswith("day") else day.lower()


def conversation(speakers: Sequence[str], spoken_of: Sequence[str], day: str) -> str:
    """The question that asks for a whole conversation."""
    when = f" on {day}" if day else ""
    if spoken_of:
        return f"What do {listed(speakers)} say about {' and '.join(spoken_of)}{when}?"
    return f"What do {listed(speakers)} talk about{when}?"


def listed(speakers: Sequence[str]) -> str:
    """The first of the speakers as a list in a sentence."""
    names = speakers[:_LISTED]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
