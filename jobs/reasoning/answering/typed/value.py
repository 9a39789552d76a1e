"""What a value of a sentence is, of whatever kind, and the dates and quantities that values are made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from quern.jobs.text.dates import When, dates
from quern.jobs.text.quantities import Quantity, quantities

MARKED = 0.5  # How well a sentence with a word of cause or manner fits, where no form can be asked for.


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
        label: The label of the row that it stands in; empty outside tables.
        also: Number of a further sentence that it rests on; 0 where there is none.
    """

    start: int
    end: int
    text: str
    fit: float
    same: object
    means: str = ""
    label: str = ""
    also: int = 0


class Period(NamedTuple):
    """The first and the last day of a date."""

    first: date | None
    last: date | None

    def within(self, other: Period) -> bool:
        """Whether it is a proper part of `other`."""
        if self.first is None or self.last is None or other.first is None or other.last is None or self == other:
            return False
        return other.first <= self.first and self.last <= other.last


class Days(NamedTuple):
    """What the dates of a sentence are read against.

    Attributes:
        published: Day of publication, for `on Wednesday` and `last month`.
        told: The last day before the sentence whose year is written, for `on 8 May`; none where there is none.
    """

    published: date | None = None
    told: date | None = None


@lru_cache(maxsize=50_000)
def times(sentence: str, published: date | None) -> tuple[When, ...]:
    """The dates of a sentence, relative ones read against the day of publication."""
    return tuple(dates(sentence, published))


@lru_cache(maxsize=50_000)
def amounts(sentence: str) -> tuple[Quantity, ...]:
    """The quantities of a sentence."""
    return tuple(quantities(sentence))
