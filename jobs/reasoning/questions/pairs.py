"""The two things that a question sets beside each other, and how its words show where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from quern.jobs.reasoning.questions.words import PREPOSITIONS, bare
from quern.schemas.words.patterns import lazy_pattern

Way = Literal["compare", "order", "both"]
# Nouns of measures, of which something is the higher or the larger one.
MEASURES: Final = (
    r"(?:number|amount|cost|costs|price|prices|fare|fares|fee|total|rate|share|size|length|height|width|depth|weight|"
    r"population|budget|estimate|area|age|speed|salary|value|bill|fine|temperature|turnover|income|revenue|"
    r"capacity|limit|quota|percentage|level|score|count|sum)"
)
QUANTITY: Final = lazy_pattern(rf"\b{MEASURES}\b", re.IGNORECASE)


@dataclass(frozen=True)
class Pair:
    """Two things (or more) that a question sets beside each other.

    Attributes:
        way: `compare` by a value, `order` in time, `both` for yes or no of each.
        sides: The things, in the question's words.
        questions: What is asked of each.
        word: The word that compares: `longer`, `more`, `higher or lower`, `before or after`; empty if there is none.
    """

    way: Way
    sides: tuple[str, ...]
    questions: tuple[str, ...]
    word: str = ""


def _shape(words: list[str]) -> list[str]:
    """Words as classes: prepositions as they are, names and numbers as `N`, others as `n`."""
    shape: list[str] = []
    for raw in words:
        word = bare(raw)
        kind = word if word in PREPOSITIONS or word in ("when", "that", "which") else "N" if is_upper(raw) else "n"
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return shape


def is_upper(raw: str) -> bool:
    """Whether a word is written like a name or a number."""
    return raw.strip("\"“'(")[:1].isupper() or raw[:1].isdigit()


def parallel(left: str, right: str) -> tuple[str, str] | None:
    """What `left` ends with that `right` stands beside, and what comes before it.

    `people on Castle Meadow in 2024` and `on Quay Green in 2025` are parallel from `on`: the shortest end of `left`
    whose prepositions, names and other words come in the order of those of `right`.
    """
    words, wanted = left.split(), _shape(right.split())
    if not wanted:
        return None
    for start in range(len(words) - 1, 0, -1):
        if _shape(words[start:]) == wanted and (start == 0 or _boundary(words, start, wanted[0])):
            return " ".join(words[:start]), " ".join(words[start:])
    first = bare(right.split()[0])
    if first in PREPOSITIONS:  # `at Casterby or in Port Averil`.
        for start in range(len(words) - 1, 0, -1):
            own = _shape(words[start:])
            if own[0] in PREPOSITIONS and own[1:] == wanted[1:]:
                return " ".join(words[:start]), " ".join(words[start:])
    if first in PREPOSITIONS or first in ("the", "a", "an", "when"):
        for start in range(len(words) - 1, 0, -1):
            if bare(words[start]) == first:
                return " ".join(words[:start]), " ".join(words[start:])
    return None


def _boundary(words: list[str], start: int, kind: str) -> bool:
    """Whether a phrase of the kind may begin at `start`: a name begins with its first word."""
    return kind != "N" or not is_upper(words[start - 1])


def resolved(thing: str, other: str) -> str:
    """A thing with the noun of the other in the place of its `one`: `the old one` beside `the new Marr ferry`."""
    m = _ONE.fullmatch(thing)
    words = re.sub(r"^(?:the|an?|its|their|this|that)\s+", "", other.split(",")[0]).split()
    while len(words) > 1 and words[0].islower():
        words = words[1:]
    return f"{m['before']} {' '.join(words)}{m['after'] or ''}" if m and words else thing


_ONE: Final = lazy_pattern(r"(?P<before>(?:the|its|their|this|that|an?)(?:\s+[a-z-]+)*?)\s+ones?(?P<after>\s+.+)?")
