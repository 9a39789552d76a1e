"""Values that a sentence tells of something else: the whole of a part, how far two lie apart, a height for a width.

Of `14 of the 17 districts` 14 are those of which the sentence speaks; `35,000 crowns below the tender` is no price.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.typed.value import Value
from quern.schemas.words.patterns import lazy_pattern

_OF_ALL: Final = lazy_pattern(r"\s+(?:out\s+)?of\s+(?:(?:the|its|their|our|his|her|all|a|total|of)\s+)*")
# Who asks for the whole asks how many there are.
_ASKS_ALL: Final = lazy_pattern(
    r"\bhow\s+many\b[^?]{0,60}?\s(?:are|were)\s+there\b|"
    r"\b(?:in\s+all|in\s+total|altogether|total\s+number|out\s+of\s+how\s+many)\b",
    re.IGNORECASE,
)
_APART: Final = lazy_pattern(
    r"\s+(?:(?:below|above|under|over|short\s+of)\s+(?:the|its|their|his|her|what|that)\s+(?:[a-z]+\s+){0,2}?"
    r"(?:estimates?|tender|budget|average|target|limit|minimum|maximum|plan|forecast|price|figure|cost|level|record|"
    r"norm|expected|planned|asked)\b|"
    r"(?:less|more|fewer|cheaper|dearer|higher|lower)\s+than\b)",
    re.IGNORECASE,
)
_ASKS_APART: Final = lazy_pattern(
    r"\b(?:below|above|under|over|short|less|more|fewer|than|cheaper|dearer|higher|lower|by\s+how\s+m\w+|differ\w*|"
    r"exceed\w*|sav(?:e[ds]?|ings?))\b",
    re.IGNORECASE,
)
# What is measured, by the words that ask for it and say it of a value.
_MEASURES: Final = tuple(
    frozenset(line.split())
    for line in (
        "wide broad across width breadth diameter",
        "tall high height",
        "long length",
        "deep depth",
        "thick thickness",
        "heavy weight weigh weighs",
    )
)
_ASKS_MEASURE: Final = lazy_pattern(r"\bhow\s+(?P<how>[a-z]+)\b|\b(?P<noun>[a-z]+)\s+of\b", re.IGNORECASE)
_SAYS_MEASURE: Final = lazy_pattern(r"\s+(?:in\s+)?(?P<said>[a-z]+)\b", re.IGNORECASE)
_OTHER_MEASURE: Final = 0.3  # What is left of the fit of a height, where a width is asked for.
_WHOLE, _DIFFERENCE = 0.5, 0.3  # What is left of the fit of such a value. By reason alone.


def as_told(question: str, kind: Kind, text: str, values: Sequence[Value]) -> tuple[Value, ...]:
    """The values of a sentence; a whole, a difference and another measure are worth less where not asked for."""
    asks, found = _asks(question), [*values]
    if kind.name == "how_many" and not asks.whole:
        for n, (part, whole) in enumerate(pairwise(values)):
            if _OF_ALL.fullmatch(text, part.end, whole.start) is not None:
                found[n] = replace(part, fit=max(part.fit, whole.fit))
                found[n + 1] = replace(whole, fit=whole.fit * _WHOLE)
    if asks.measure is not None:
        others = [_measure_said(text, v) for v in found]
        found = [
            replace(v, fit=v.fit * _OTHER_MEASURE) if other not in (None, asks.measure) else v
            for v, other in zip(found, others, strict=True)
        ]
    if kind.name in ("how_many", "how_much") and not asks.difference:
        found = [replace(v, fit=v.fit * _DIFFERENCE) if _APART.match(text, v.end) else v for v in found]
    return tuple(found)


class _Asks(NamedTuple):
    """What a question asks for of these: the whole, a difference, and which of the measures; None for none of them."""

    whole: bool
    difference: bool
    measure: int | None


@lru_cache(maxsize=4096)
def _asks(question: str) -> _Asks:
    whole, apart = _ASKS_ALL.search(question), _ASKS_APART.search(question)
    return _Asks(whole is not None, apart is not None, _measure_asked(question))


def _measure_asked(question: str) -> int | None:
    """Which of the measures a question asks for; None where it asks for none, or for more than one."""
    words = (m["how"] or m["noun"] for m in _ASKS_MEASURE.finditer(question))
    found = {n for word in words for n, group in enumerate(_MEASURES) if word.lower() in group}
    return next(iter(found)) if len(found) == 1 else None


def _measure_said(text: str, value: Value) -> int | None:
    """Which of the measures stands right behind a value: `74 metres tall`."""
    said = _SAYS_MEASURE.match(text, value.end)
    return next((n for n, group in enumerate(_MEASURES) if said and said["said"].lower() in group), None)
