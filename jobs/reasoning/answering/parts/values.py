"""What the answers of parts tell as values, their quantities and times, and how two of these are measured.

A value is read from the short answer, else from what it rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.text.dates import When, dates
from quern.jobs.text.quantities import Quantity, quantities

# Units of one kind, each in that of them which is 1.
_KINDS: Final[Mapping[str, str]] = {
    "length": "millimetre .001 centimetre .01 metre 1 kilometre 1000 mile 1609.344 foot .3048 inch .0254",
    "weight": "gram .001 kilogram 1 tonne 1000",
    "time": "second 1 minute 60 hour 3600 day 86400 week 604800 fortnight 1209600 month 2630000 year 31557600 "
    "decade 315576000 century 3155760000",
}
_CONVERTED: Final = {
    unit: (kind, float(factor))
    for kind, line in _KINDS.items()
    for unit, factor in zip(line.split()[::2], line.split()[1::2], strict=True)
}
_RANK: Final = {"day": 0, "range": 0, "week": 1, "month": 2, "season": 3, "year": 4}


@dataclass(frozen=True)
class TimeTold:
    """A time that an answer tells: its first day, whether that is the day itself, and its words."""

    day: date
    exact: bool
    text: str


def quantities_told(given: AnswerInput, answer: AskedBefore) -> list[Quantity]:
    """The quantities of an answer: those of the short answer, or of what it rests on where it has none."""
    for text, _ in _sources(given, answer):
        found = [q for q in quantities(text) if q.unit != "o'clock"]
        if found:
            return found
    return []


def time_told(given: AnswerInput, answer: AskedBefore) -> TimeTold | None:
    """The time that an answer tells: the most exact of the first text that has one."""
    for text, published in _sources(given, answer):
        known = [(w, w.from_day) for w in dates(text, published) if w.from_day is not None]
        if known:
            when, day = min(known, key=lambda k: (_RANK[k[0].precision], k[0].start))
            return TimeTold(day, when.precision in ("day", "range"), _words(when, day))
    return None


def _sources(given: AnswerInput, answer: AskedBefore) -> list[tuple[str, date | None]]:
    """Texts that an answer's value is read from, best first, each with the day it was published."""
    published = [given.evidence[given.sentences[n - 1].evidence].published_at for n in answer.rests_on]
    day = next((p.date() for p in published if p is not None), None)
    texts: list[tuple[str, date | None]] = [(answer.answer, day), (answer.said, day)]
    for number, at in zip(answer.rests_on, published, strict=True):
        span = given.sentences[number - 1]
        texts.append((given.evidence[span.evidence].text[span.start : span.end], at.date() if at else None))
    return texts


def _words(when: When, day: date) -> str:
    """A time in its own words; one that they give relative to another, or without its year, as a date."""
    if str(day.year) in when.text or when.precision == "range" or not when.text.isascii():
        return when.text
    if when.precision == "day":
        return f"{day.day} {day:%B %Y}"
    return f"{day:%B %Y}" if when.precision in ("month", "week", "season") else str(day.year)


def matching(ones: Sequence[Quantity], others: Sequence[Quantity]) -> tuple[Quantity, Quantity] | None:
    """The first quantities of both that count the same; a bare number counts what the other counts."""
    for one in ones:
        for other in others:
            if _kind(one)[0] == _kind(other)[0]:
                return one, other
    for one in ones:
        for other in others:
            if "" in (one.unit, other.unit):
                return one, other
    return None


def size(q: Quantity) -> float:
    """How much a quantity is, in the unit that those of its kind are compared in."""
    return q.value * _kind(q)[1]


def _kind(q: Quantity) -> tuple[str, float]:
    return _CONVERTED.get(q.unit, (q.unit, 1.0))


def days_between(given: AnswerInput, answers: Sequence[AskedBefore], one: TimeTold, other: TimeTold) -> float:
    """Days from one time to the other, by the hours at which their texts were published where those are the times."""
    hours = [_published(given, a, t.day) for a, t in zip(answers, (one, other), strict=False)]
    if len(hours) == 2 and hours[0] is not None and hours[1] is not None:
        return (hours[1] - hours[0]).total_seconds() / timedelta(days=1).total_seconds()
    return float((other.day - one.day).days)


def _published(given: AnswerInput, answer: AskedBefore, day: date) -> datetime | None:
    """When the first text that an answer rests on was published, if that was on `day`."""
    at = [given.evidence[given.sentences[n - 1].evidence].published_at for n in answer.rests_on[:1]]
    return at[0] if at and at[0] is not None and at[0].date() == day else None
