"""Values of a sentence that could answer a question of a kind: dates, amounts, persons, places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from quern.jobs.reasoning.answering.kinds import LENGTHS, MONEY, Kind, is_person
from quern.jobs.reasoning.answering.names import Name, chinese_names, names
from quern.jobs.reasoning.answering.sentences import content_words
from quern.jobs.reasoning.answering.values import Quantity, When, dates, quantities

_CLOCK = re.compile(
    r"(?<![\d.,])(?:[01]?\d|2[0-4])[.:][0-5]\d(?:\s?[ap]\.?m\b\.?)?(?![\d%]|\s*(?:m\b|million|billion|per\b|metres|"
    r"nautical|km\b|kilo|crowns|hours|litres|degrees|tonnes))|\b(?:1[0-2]|[1-9])\s?[ap]\.?m\b\.?|\b(?:noon|midnight)\b|"
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+o['’]clock|"
    r"\d{1,2}[点时](?:\d{1,2}分|半)?",
    re.IGNORECASE,
)


_ROLE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Ii]ts|[Hh]is|[Hh]er|[Tt]heir|[Oo]ur|[Mm]y|"
    r"[\w-]+['’]s)\s+(?:[a-z][\w-]*\s+){0,2}?(?P<noun>[a-z]{3,})"
    r"(?:\s+of\s+(?:the\s+|its\s+)?[\w’'-]+(?:\s+[A-Z][\w’'-]+)*)?"
)


@dataclass(frozen=True)
class Value:
    """A value of a sentence that is of the kind asked for.

    Attributes:
        start: First character in the sentence.
        end: Character after the last.
        text: The characters themselves.
        fit: How well it is of the kind: 1 where its unit or noun is the one asked for, less where that is left open.
        same: What equal values have in common, whatever they are written like.
        means: What it means where the characters alone leave that open: the date of `on Wednesday`.
    """

    start: int
    end: int
    text: str
    fit: float
    same: object
    means: str = ""


@lru_cache(maxsize=50_000)
def times(sentence: str, published: date | None) -> tuple[When, ...]:
    """The dates of a sentence, relative ones read against the day of publication."""
    return tuple(dates(sentence, published))


@lru_cache(maxsize=50_000)
def amounts(sentence: str) -> tuple[Quantity, ...]:
    """The quantities of a sentence."""
    return tuple(quantities(sentence))


def typed(kind: Kind, sentence: str, published: date | None) -> list[Value]:
    """The values of `sentence` that are of the `kind`, in order; none for kinds whose answers have no form."""
    if kind.name == "when":
        return _clocks(sentence) if kind.units else _dates(sentence, published)
    if kind.name in ("how_many", "how_much", "how_long"):
        return [v for q in amounts(sentence) if (v := _amount(kind, q, sentence)) is not None]
    if kind.name == "who":
        return _persons(sentence)
    if kind.name == "where":
        return _places(sentence)
    return []


def _clocks(sentence: str) -> list[Value]:
    return [Value(m.start(), m.end(), m[0], 1.0, m[0].lower()) for m in _CLOCK.finditer(sentence)]


def _dates(sentence: str, published: date | None) -> list[Value]:
    fits = {"day": 1.0, "range": 1.0, "month": 0.9, "week": 0.8, "season": 0.8, "year": 0.75}
    return [
        Value(w.start, w.end, w.text.rstrip("."), fits[w.precision], (w.from_day, w.to_day), _meaning(w))
        for w in times(sentence, published)
    ]


def _meaning(when: When) -> str:
    """The date in full where the text leaves its year open; empty where it does not."""
    first, last = when.from_day, when.to_day
    if first is None or last is None or re.search(r"(?:1\d|20)\d\d|[〇零一二三四五六七八九]{4}年", when.text):
        return ""
    if not when.text.isascii():
        days = {"day": f"{first.year}年{first.month}月{first.day}日", "month": f"{first.year}年{first.month}月"}
        return days.get(when.precision, f"{first.year}年" if first.year == last.year else "")
    if when.precision == "day":
        return f"{first.day} {first:%B %Y}"
    if when.precision == "month":
        return f"{first:%B %Y}"
    return (
        f"{first.day} {first:%B %Y} to {last.day} {last:%B %Y}"
        if when.precision in ("week", "range")
        else f"{first.year}"
    )


def _amount(kind: Kind, q: Quantity, sentence: str) -> Value | None:
    """The quantity, if its unit is one asked for; a number whose noun is another is worth less."""
    same = (round(q.value, 6), q.unit)
    if kind.units:
        fit = _fit_of_unit(kind, q, sentence)
        return None if fit == 0.0 else Value(q.start, q.end, q.text, fit, same)
    if q.unit == "o'clock":
        return None
    if kind.name == "how_much" and not kind.noun:
        return Value(q.start, q.end, q.text, 0.8 if q.unit else 0.6, same)
    around = content_words(sentence[q.start : q.end + 40])
    if kind.noun & content_words(q.text):
        return Value(q.start, q.end, q.text, 1.0, same)
    if kind.noun & around:
        return Value(q.start, q.end, q.text, 0.9, same)
    if kind.name == "how_many" and q.unit in MONEY | LENGTHS:
        return Value(q.start, q.end, q.text, 0.2, same)
    return Value(q.start, q.end, q.text, 0.5 if q.unit in ("", "person") or kind.name == "how_much" else 0.35, same)


def _fit_of_unit(kind: Kind, q: Quantity, sentence: str) -> float:
    after = sentence[q.end : q.end + 20].lower()
    if q.unit in kind.units or any(u in q.text.lower() or after.strip().startswith(u) for u in kind.units if " " in u):
        return 1.0
    if kind.name == "how_long":
        return 0.0
    if kind.units & MONEY and not q.unit and re.search(r"(?:million|billion|thousand|万|亿)$", q.text):
        return 0.9
    return 0.25 if not q.unit else 0.0


def _persons(sentence: str) -> list[Value]:
    """The names of persons, and the roles of persons that have none: `the insurer of the dredger`."""
    found = [
        Value(n.start, n.end, n.text, _fit_of_name(n), n.text.split()[-1].lower())
        for n in (*names(sentence), *chinese_names(sentence))
        if n.role != "place"
    ]
    roles = [m for m in _ROLE.finditer(sentence) if is_person(m["noun"].lower())]
    taken = [(v.start, v.end) for v in found if v.fit >= 0.75]
    free = (m for m in roles if not any(s < m.end() + 12 and m.start() < e + 12 for s, e in taken))
    return found + [Value(m.start(), m.end(), m[0], 0.5, m["noun"].lower()) for m in free]


def _fit_of_name(name: Name) -> float:
    if name.role == "person":
        return 1.0
    return {1: 0.4, 2: 0.75, 3: 0.6}.get(len(name.text.split()), 0.4)


def _places(sentence: str) -> list[Value]:
    fits = {"place": 1.0, "other": 0.4, "person": 0.0}
    return [Value(n.start, n.end, n.text, fits[n.role], n.text.lower()) for n in names(sentence) if n.role != "person"]
