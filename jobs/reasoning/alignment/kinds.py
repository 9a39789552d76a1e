"""The form of what a question asks for, by its question word, and the values of a sentence that have this form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from quern.jobs.reasoning.questions.course import asks_events
from quern.jobs.text.dates import dates
from quern.jobs.text.names import names
from quern.jobs.text.quantities import quantities
from quern.schemas.words.patterns import lazy_pattern

KindName = Literal["when", "who", "where", "how_many", "how_much", "how_long", "what_happened", "other"]
# Kinds whose answers have a form that can be looked for.
FORMED: Final[frozenset[KindName]] = frozenset({"when", "who", "where", "how_many", "how_much", "how_long"})
_WORDS: Final = lazy_pattern(
    r"(?P<how_long>\bhow\s+(?:long|old)\b|多[久长])|(?P<how_many>\bhow\s+many\b|几|多少[个名人])|(?P<how_much>\bhow\s+\w+\b|多\w)|"
    r"(?P<when>\bwhen\b|\b(?:what|which)\s+(?:year|month|day|date|time)\b|何时|什么时候|哪[一年天])|"
    r"(?P<who>\bwho(?:m|se)?\b|谁)|(?P<where>\bwhere\b|哪里|哪儿|何处)",
    re.IGNORECASE,
)
_PLACE: Final[dict[KindName, str]] = {"where": "place", "who": "person"}
# How well a name of no known role fits: one of a single word may be anything.
_OTHER_ROLE: Final = 0.5
_LONE: Final = 0.3


class Value(NamedTuple):
    """A value of a sentence: its characters, and how well it is of the form asked for, in [0, 1]."""

    start: int
    end: int
    text: str
    fit: float


@lru_cache(maxsize=4096)
def kind_of(question: str) -> KindName:
    """The form of what `question` asks for, by its first question word."""
    if asks_events(question):
        return "what_happened"
    match = _WORDS.search(question)
    kind: KindName = match.lastgroup if match else "other"  # type: ignore[assignment]
    return kind


def values(kind: KindName, sentence: str, published: date | None) -> Iterator[Value]:
    """The values of a sentence that have the form of a kind."""
    if kind == "when":
        yield from (Value(w.start, w.end, w.text, 1.0) for w in dates(sentence, published))
    elif kind in _PLACE:
        for name in names(sentence):
            fit = 1.0 if name.role == _PLACE[kind] else 0.0
            if name.role == "other":
                fit = _OTHER_ROLE if " " in name.text else _LONE
            yield Value(name.start, name.end, name.text, fit)
    elif kind in FORMED:
        yield from (Value(q.start, q.end, q.text, 1.0) for q in quantities(sentence))
