"""English questions about a turn of a dialogue, by rule: who says what to whom, and what the turn does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quern.jobs.queries.rules.units import Unit
from quern.schemas.words.sentences import sentences

_WHEN = (
    r"\b(?:\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m|p\.m|o'clock)\b|\d{1,2}:\d\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|today|tomorrow|tonight|yesterday|(?:this|next|last) (?:week|month|year)|weekend|noon|midnight)"
)
_INVITE = r"\b(?:join|invite|come over|want to|wanna|would you like|care to|free (?:this|on|for))\b.*\?"
_SUGGEST = r"\b(?:let's|how about|what about|why don't|should try|could try|recommend|suggest|you should|you can)\b"
_PLAN = r"\b(?:i'll|i will|we'll|we will|going to|gonna|plan(?:ning)? to)\b"
_FEEL = r"\b(?:love|enjoy|like|prefer|favou?rite|excited|feel|glad|happy)\b"
_DID = r"\b(?:i|we) (?:\w+ed|was|were|went|had|got|saw|made|found|bought|tried)\b"

# What a turn does, in order of preference, and the question that asks for it: a speaks to b about k.
_ACTS: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE), template)
    for name, pattern, template in (
        ("why", r"\bbecause\b|\bsince (?:i|we|it)\b|\bso that\b|that's why", "Why does {a} tell {b} this{k}?"),
        ("when", _WHEN, "When does {a} tell {b} it is{k}{d}?"),
        ("invite", _INVITE, "What does {a} invite {b} to do{k}?"),
        ("suggest", _SUGGEST, "What does {a} suggest to {b}{k}?"),
        ("ask", r"\?\W*$", "What does {a} ask {b}{k}?"),
        ("thank", r"\b(?:thanks|thank you|appreciate)\b", "Why does {a} thank {b}{k}?"),
        ("plan", _PLAN, "What will {a} do{k}?"),
        ("feel", _FEEL, "What does {a} like or feel{k}?"),
        ("think", r"\b(?:think|believe|guess|opinion|seems?|sounds?)\b", "What does {a} think{k}?"),
        ("did", _DID, "What did {a} do{k}?"),
    )
)
_ASKED = 22  # Words of a reported question at most, unless its last sentence has more.


def turn_questions(text: str, unit: Unit, key: str, day: str) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the turn `text`, which is about `key` and was said on `day`; either may be empty."""
    a, b = unit.speaker, unit.addressee or "the others"
    plain = text.replace("’", "'")
    k, d = (f" about {key}" if key else ""), f" (said on {day})" if day else ""
    yield "tell", f"What does {a} tell {b}{k}?"
    if unit.before.rstrip().endswith("?"):
        yield "reply", f"What does {a} answer when {b} asks: {_last_question(unit.before)}"
    for name, pattern, template in _ACTS:
        if pattern.search(plain):
            yield name, template.format(a=a, b=b, k=k, d=d)


def conversation(speakers: Sequence[str], topics: Sequence[str], day: str) -> str:
    """The question that asks for a whole conversation."""
    on, about = f" on {day}" if day else "", f": {', '.join(topics)}" if topics else ""
    return f"What do {' and '.join(speakers[:4])} talk about{on}{about}?"


def _last_question(said: str) -> str:
    """The end of what was said, whole sentences as long as they are not too many words."""
    last = sentences(said)
    asked = last.pop()
    while last and len(asked.split()) + len(last[-1].split()) <= _ASKED:
        asked = f"{last.pop()} {asked}"
    return " ".join(asked.split()[-2 * _ASKED :])
