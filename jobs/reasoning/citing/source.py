"""What a sentence of the evidence holds that a sentence of an answer may rest on: words, numbers and days."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, lru_cache
from itertools import chain

from quern.jobs.text.dates import dates
from quern.jobs.text.number_values import possible_numbers
from quern.jobs.text.numbers import english_value
from quern.jobs.text.stems import content_words

Element = str | float


@dataclass(frozen=True)
class Source:
    """A sentence of the evidence.

    Attributes:
        text: Its words.
        title: Title of its document, which says what its pronouns stand for.
        published_at: Publication time of the document, which its relative times are counted from.
        events: First and last days of the events that it tells, whose year a sentence before it may have.
    """

    text: str
    title: str | None = None
    published_at: datetime | None = None
    events: tuple[date, ...] = ()

    @cached_property
    def elements(self) -> frozenset[Element]:
        """Its words and numbers."""
        return plain_words(self.text) | possible_numbers(self.text)

    @cached_property
    def known(self) -> frozenset[Element]:
        """The same with the words of the title."""
        return self.elements | plain_words(self.title) if self.title else self.elements

    @property
    def days(self) -> frozenset[float]:
        """Numbers of the days that it names, of relative times too, and of the events that it tells."""
        told = frozenset(float(part) for day in self.events for part in (day.year, day.month, day.day))
        return told | _days(self.text, self.published_at.date() if self.published_at else None)


class Sources(tuple[Source, ...]):
    """The sentences of the evidence of an answer, by their numbers less one; all its sentences are cited from them."""

    @cached_property
    def held(self) -> Counter[Element]:
        """In how many of them each word and number stands."""
        return Counter(chain.from_iterable(source.elements for source in self))


@lru_cache(maxsize=50_000)
def plain_words(text: str) -> frozenset[Element]:
    """The words of content of `text` but for numbers."""
    return frozenset(w for w in content_words(text) if not w.isdigit() and english_value(w) is None)


@lru_cache(maxsize=50_000)
def undated(text: str) -> str:
    """`text` without the times that it names."""
    for when in reversed(dates(text)):
        text = f"{text[: when.start]} {text[when.end :]}"
    return text


@lru_cache(maxsize=20_000)
def _days(text: str, published: date | None) -> frozenset[float]:
    """Years, months and days of the month of the times that `text` names."""
    times = [day for when in dates(text, published) for day in (when.from_day, when.to_day) if day is not None]
    return frozenset(float(part) for day in times for part in (day.year, day.month, day.day))
