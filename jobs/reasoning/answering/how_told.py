"""How a value must be told to be the one asked for: from first to last, by how much, at the end of idle time."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, Literal

from quern.jobs.reasoning.answering.kinds.kind import KindName
from quern.jobs.reasoning.answering.typed.value import Value
from quern.schemas.words.patterns import lazy_pattern

HowTold = Literal["span", "change", "idle", "anyhow"]

_SPAN_ASKED: Final = lazy_pattern(
    r"\bfrom\s+(?:when|(?:what|which)\s+\w+)\s+(?:until|till|to)\s+(?:when|what|which)\b|"
    r"\bbetween\s+(?:what|which)\s+(?:years|dates|days|months|times|hours)\b",
    re.IGNORECASE,
)
_FROM_TO: Final = lazy_pattern(r"\d\D*\b(?:to|until|till|and|through)\b\D*\d|\d\s*[-–]\s*\d")
_CHANGE_ASKED: Final = lazy_pattern(r"^\s*by\s+how\s+(?:much|many)\b", re.IGNORECASE)
_BY: Final = lazy_pattern(
    r"\bby\s+(?:(?:about|nearly|almost|over|some|only|just|more\s+than|up\s+to)\s+)?$", re.IGNORECASE
)
_IDLE_ASKED: Final = lazy_pattern(
    r"\b(?:shut|closed|without|out of (?:service|action|use)|away|gone|suspended|idle|off|unused|empty|interrupted)\b",
    re.IGNORECASE,
)
_AGAIN: Final = lazy_pattern(
    r"\bfirst\s+(?:[\w-]+\s+){1,3}?(?:in|for)\s+(?:(?:nearly|almost|about|over|some|more\s+than)\s+)?$", re.IGNORECASE
)
_OTHERWISE: Final = 0.4  # What another value is worth where a span or a change is asked for. By reason alone.


def how_told(question: str, kind: KindName) -> HowTold:
    """How what is asked for is told: a time from first to last, a change, or for how long something stood idle."""
    if kind == "when" and _SPAN_ASKED.search(question):
        return "span"
    if kind in ("how_much", "how_many") and _CHANGE_ASKED.search(question):
        return "change"
    return "idle" if kind == "how_long" and _IDLE_ASKED.search(question) else "anyhow"


def as_asked(how: HowTold, sentence: str, value: Value) -> Value:
    """A value of a sentence, worth less where a span or a change is asked for and it is told as none."""
    told = _FROM_TO.search(value.text) if how == "span" else _BY.search(sentence, 0, value.start)
    return value if told else replace(value, fit=value.fit * _OTHERWISE)


def opens_again(sentence: str, value: Value) -> bool:
    """Whether a time is that after which something is so again: `for the first time in nearly eleven months`."""
    return _AGAIN.search(sentence, 0, value.start) is not None
