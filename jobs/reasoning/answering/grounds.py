"""What of a statement does not stand in the sentences of the evidence that it rests on: its numbers and its names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, Protocol

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.text.dates import dates
from quern.jobs.text.names import names
from quern.jobs.text.quantities import quantities
from quern.schemas.words.terms import search_terms

_OPENING: Final = re.compile(r"[A-Z][\w’'-]*\s[a-z]")  # A word that has its capital from the beginning of a sentence.
_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*")


def ungrounded(given: AnswerInput, text: str, rests_on: Sequence[int]) -> list[str]:
    """The numbers and names of `text` that neither its sentences nor their title, day or the question has.

    A date may be written another way, and a number in words: what it means must be said.
    """
    places = [given.sentences[n - 1] for n in rests_on]
    said = [(given.evidence[at], given.evidence[at].text[start:end]) for at, start, end in places]
    return missing(given.question, said, text)


class Dated(Protocol):
    """A document that a sentence is of, as far as it grounds what is said."""

    @property
    def title(self) -> str | None:
        """Its title."""

    @property
    def published_at(self) -> datetime | None:
        """Its publication time, if known."""


def missing(question: str, said: Sequence[tuple[Dated, str]], text: str) -> list[str]:
    """The same of sentences, each with its document."""
    days = [e.published_at.date() if e.published_at else None for e, _ in said]
    grounds = " ".join([question, *(s for _, s in said), *(e.title or "" for e, _ in said)])
    grounds += " ".join(_written(day) for day in days if day)
    grounds += " ".join(_written(d) for (_, s), day in zip(said, days, strict=True) for d in _days(s, day))
    numbers = {_plain(m) for m in _DIGITS.findall(grounds)}
    values = {q.value for q in quantities(grounds)}
    stated = {m: q.value for q in quantities(text) for m in _DIGITS.findall(q.text)}
    lacking = [m for m in _DIGITS.findall(text) if _plain(m) not in numbers and stated.get(m) not in values]
    lacking += [q.text for q in quantities(text) if not _DIGITS.search(q.text) and not _given(q.value, values, numbers)]
    words = set(search_terms(grounds).split())
    named = [n.text for n in names(text) if not _OPENING.fullmatch(text, 0, n.end + 2) or n.start]
    return lacking + [name for name in named if not set(search_terms(name).split()) <= words]


def _given(value: float, values: set[float], numbers: set[str]) -> bool:
    return value in values or f"{value:g}" in numbers


def _plain(number: str) -> str:
    return number.replace(",", "").lstrip("0") or "0"


def _days(sentence: str, published: date | None) -> list[date]:
    return [d for w in dates(sentence, published) for d in (w.from_day, w.to_day) if d]


def _written(day: date) -> str:
    return day.strftime(" %Y %-m %-d %B %A ")
