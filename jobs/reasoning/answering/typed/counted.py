"""The quantities that a sentence tells, and how well each is what is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from quern.jobs.reasoning.answering.kinds.kind import OFTEN, Kind
from quern.jobs.reasoning.answering.kinds.units import DURATIONS, LENGTHS, MONEY, SPEEDS, UNITS
from quern.jobs.reasoning.answering.spans_of_time import between
from quern.jobs.reasoning.answering.typed.value import Days, Period, Value, amounts, times
from quern.jobs.reasoning.answering.wording import said_by_others
from quern.jobs.text.quantities import Quantity
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_OTHER_NOUN = 0.8  # What a number is worth that counts what the question calls by another word.
# Stems of the nouns of many people together: `how big is the workforce` asks for so many people.
_PEOPLE = content_words(
    "workforce staff crew population audience crowd membership payroll team household people person"
)
_ANY = frozenset({"unit", "piece", "item"})  # Of whatever is counted.
_MEASURES = UNITS | {"o'clock"}
_OF_RANGE = 0.85  # What the time between two dates is worth against one that is told, which may be of another thing.
_WORD_BEFORE = lazy_pattern(r"[A-Za-z]+\s$")
# What parts a number from a noun that it does not count: `she is 58, and she has painted every tram`.
_NOT_COUNTED = lazy_pattern(r"[;:()|]|,(?!\d)|\.(?!\d)|\s(?:and|or|but|while|for|with|at|on)\s")
PART_OF_THEM = lazy_pattern(r"\s+of\s+(?:them|these|those|which|whom)\b")
_JOINED = lazy_pattern(r"\s*(?:,|,?\s(?:and|or|und|oder))\s*")
# An age that is told without its unit: `Wilf Arkwright, 91,`, `aged twelve`, `she is 58`.
_AGED = lazy_pattern(
    r"[A-Z][\w’'-]+, #(?:,|\.|\)|$)|\baged #|\b(?:he|she|who) (?:is|was|turned|turns) #\s*(?:,|\.|and|when|but|$)|"
    r"# years? old"
)
# What makes a time an age: `9,400 years old`, `a two-year-old`, `at the age of 12 months`. Another may still be one.
_OF_AGE = lazy_pattern(r"\bold(?:er|est)?\b|\bage[ds]?\b", re.IGNORECASE)
_NO_AGE = 0.3
_A_TIME = lazy_pattern(r"\s*(?:an?|per|each|every|/)\s*(?:hour|h\b|minute|second|s\b|day)")  # `30 miles an hour`.
_PERIOD = r"(?:minutes?|hours?|days?|nights?|mornings?|evenings?|weeks?|fortnights?|months?|quarters?|seasons?|years?)"
_FREQUENCY = lazy_pattern(
    rf"\bevery\s+(?:(?:\d+|other|second|third|few|[a-z]+)\s+)?(?:{_PERIOD}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|"
    rf"\b(?:once|twice|(?:[a-z]+|\d+)\s+times)\s+(?:an?|every|each|per)\s+{_PERIOD}\b|"
    rf"\b(?:once|twice)\b(?=\s*[,.;]|\s+(?:in|on|at|by)\b)|\beach\s+{_PERIOD}\b|"
    r"\b(?:hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually)\b",
    re.IGNORECASE,
)
_AS_OFTEN = 0.95  # Beside a number of times, which is how often something was.
_PRICED = lazy_pattern(r"\b(?:fares?|prices?|tickets?|fees?|costs?|single|return|charges?|rate)\b", re.IGNORECASE)


def counted(kind: Kind, sentence: str, days: Days) -> list[Value]:
    """The quantities of `sentence` and the times between two of its dates."""
    often = _frequencies(sentence) if kind.verb == OFTEN else []
    within = [(v.start, v.end) for v in often]
    counts = (q for q in _with_lent_units(sentence) if not any(a <= q.start < b for a, b in within))
    return [
        *often,
        *(v for q in counts if (v := _amount(kind, q, sentence)) is not None),
        *_spans(kind, sentence, days),
    ]


def _frequencies(sentence: str) -> list[Value]:
    """How often a sentence says that something is: `every ten minutes`, `twice a week`, `daily`."""
    return [Value(*m.span(), m[0], _AS_OFTEN, m[0].lower()) for m in _FREQUENCY.finditer(sentence)]


def _amount(kind: Kind, q: Quantity, sentence: str) -> Value | None:
    """The quantity, if its unit is one asked for; a number whose noun is another is worth less."""
    same = (round(q.value, 6), q.unit)
    if re.match(r"0\d", q.text) or sentence[max(0, q.start - 1) : q.start] in ("/", "#"):
        return None  # The number of a thing.
    if kind.units:
        fit = _NO_AGE if _no_age(kind, q, sentence) else fit_of_unit(kind, q, sentence)
        return None if fit == 0.0 else Value(q.start, q.end, q.text, fit, same)
    if q.unit == "o'clock":
        return None
    if kind.name == "how_much" and not kind.noun:
        return Value(
            q.start,
            q.end,
            q.text,
            0.8 if q.unit in UNITS or (q.unit and not q.text.isascii()) else 0.5 if not q.unit else 0.35,
            same,
        )
    before = _WORD_BEFORE.search(sentence, max(0, q.start - 30), q.start)
    if kind.name == "how_many" and not q.unit and before and kind.noun & content_words(before[0]):
        return None  # `Tram 6` is which tram, not how many.
    around = content_words(_NOT_COUNTED.split(sentence[q.start : q.end + 40], maxsplit=1)[0])
    counted = content_words(q.text) | content_words(q.unit)
    if PART_OF_THEM.match(sentence, q.end) and kind.noun & content_words(sentence[: q.start]):
        return Value(q.start, q.end, q.text, 0.9, same)
    if kind.noun & counted or (q.unit == "person" and kind.noun & _PEOPLE):
        return Value(q.start, q.end, q.text, 1.0, same)
    if kind.noun & around:
        return Value(q.start, q.end, q.text, 0.9, same)
    if said_by_others(kind.noun, sorted(counted | around)) or q.unit in _ANY:
        return Value(q.start, q.end, q.text, _OTHER_NOUN, same)
    if kind.name == "how_many" and q.unit in _MEASURES:
        return None  # Hours, crowns or metres are no number of approvers.
    if kind.name == "how_many" and not q.unit and kind.noun & content_words(sentence):
        return Value(q.start, q.end, q.text, 0.2, same)
    open_still = q.unit in ("", "person") or (kind.name == "how_much" and q.unit in UNITS)
    return Value(q.start, q.end, q.text, 0.5 if open_still else 0.35, same)


def _with_lent_units(sentence: str) -> Sequence[Quantity]:
    """The quantities of a sentence; one without a unit has that of the next it is joined to: `45 and 90 minutes`."""
    known = amounts(sentence)
    if len(known) < 2:
        return known
    found = [*known]
    for n in range(len(found) - 2, -1, -1):
        between = sentence[found[n].end : found[n + 1].start]
        if not found[n].unit and found[n + 1].unit and _JOINED.fullmatch(between):
            found[n] = replace(found[n], unit=found[n + 1].unit)
    return found


def _spans(kind: Kind, sentence: str, days: Days) -> list[Value]:
    """How long lies between the two dates of a range, where a time is asked for: `from 1886 to 1949`."""
    unit = next((u for u in ("day", "week", "month", "year") if kind.name == "how_many" and u in kind.noun), "")
    if not unit and kind.name != "how_long":
        return []
    found = []
    for w in times(sentence, days.published):
        if w.precision == "range" and w.from_day and w.to_day:
            years = re.fullmatch(r"\d{4}\D+\d{4}", w.text) is not None
            last = date(w.to_day.year, 1, 1) if years else w.to_day
            same = Period(w.from_day, last)
            long = between(w.from_day, last, True, unit)
            found.append(Value(w.start, w.end, w.text, _OF_RANGE, same, long))
    return found


def _no_age(kind: Kind, q: Quantity, sentence: str) -> bool:
    """Whether an age is asked for and a time is not said to be one."""
    near = sentence[max(0, q.start - 30) : q.end + 20]
    return "岁" in kind.units and q.unit in DURATIONS and _OF_AGE.search(near) is None


def fit_of_unit(kind: Kind, q: Quantity, sentence: str) -> float:
    """How well the unit of a quantity is one of those asked for, between 0 and 1."""
    after = sentence[q.end : q.end + 20].lower()
    if "岁" in kind.units and not q.unit and _AGED.search(f"{sentence[max(0, q.start - 30) : q.start]}#{after}"):
        return 1.0
    if kind.units == SPEEDS and q.unit in LENGTHS:
        return 1.0 if _A_TIME.match(after) else 0.0
    if kind.units & MONEY and not q.unit and re.fullmatch(r"\d+\.\d\d", q.text) and _PRICED.search(sentence):
        return 0.9
    if q.unit in kind.units or any(u in q.text.lower() or after.strip().startswith(u) for u in kind.units if " " in u):
        return 1.0
    if kind.name == "how_long":
        return 0.0
    if kind.units & MONEY and not q.unit and re.search(r"(?:million|billion|thousand|万|亿)$", q.text):
        return 0.9
    return 0.25 if not q.unit else 0.0
