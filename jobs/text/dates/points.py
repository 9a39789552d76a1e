"""What the rules of English work with: a point in time, a match over the line of codes, what times are read against."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.tokens import Line, Token
from quern.jobs.text.dates.when import Order
from quern.schemas.words.patterns import lazy_pattern


@dataclass(frozen=True)
class Setting:
    """What a time is read against.

    Attributes:
        reference: The day of the text, usually that of its publication.
        order: In which order it writes day and month in digits; null where that is not known.
        told: Whether it tells what was: it has a reference and speaks of nothing that is to come.
        now: The time of the text, where that is known to the hour.
    """

    reference: date | None
    order: Order | None
    told: bool
    now: datetime | None = None


@dataclass(slots=True)
class Point:
    """A time at its place.

    Attributes:
        first: First token.
        end: Token after the last.
        reading: Its meaning.
        outer_first: First token with the words that belong to it.
        outer_end: Token after the last of these.
    """

    first: int
    end: int
    reading: Reading
    outer_first: int = -1
    outer_end: int = -1


@dataclass(frozen=True)
class Match:
    """A form that was found in the line of codes.

    Attributes:
        line: The text's tokens.
        found: The match over the codes.
        setting: What times are read against.
        anchor: The time to a day, month or year of which the text has spoken last.
    """

    line: Line
    found: re.Match[str]
    setting: Setting
    anchor: Reading | None

    def token(self, group: str) -> Token | None:
        """The token of a group."""
        return self.line.tokens[self.found.start(group)] if self.has(group) else None

    def number(self, group: str) -> int:
        """The number of a token; a month that is written as another word too is one all the same."""
        token = self.token(group)
        value = token.value if token is not None else 0
        return abs(value) if isinstance(value, int) else 0

    def word(self, group: str) -> str:
        """The word of a group, in small letters."""
        token = self.token(group)
        return "" if token is None else self.line.text[token.start : token.end].lower()

    def has(self, group: str) -> bool:
        """Whether a group took part."""
        return group in self.found.re.groupindex and self.found.start(group) >= 0

    @property
    def before(self) -> str:
        """The code before the match; ^ where it begins the text."""
        at = self.found.start()
        return self.line.codes[at - 1] if at else "^"

    @property
    def after(self) -> str:
        """The code after the match; $ where it ends the text."""
        return self.line.codes[self.found.end() : self.found.end() + 1] or "$"

    def small(self, group: str) -> bool:
        """Whether a month's name is written small, and is a word of its own then: may, march."""
        token = self.token(group)
        return token is not None and isinstance(token.value, int) and token.value < 0


Rule = Callable[[Match], Reading | None]

# Words after which a month or a day of a month stands for a time.
PREPOSITIONS: Final = frozenset("iI12345679NLT")
LEAD: Final = r"(?:(?P<W>W)\.?[,(]?(?:t|It)?)?"
# `of last year`, `next year`: what stands so beside a month or a season.
BESIDE_YEAR: Final = lazy_pattern("f?t?[LNT]u")


def written_year(m: Match) -> int:
    """The year behind a month or day, also in short: `5 May '16`."""
    return m.number("y") if m.has("y") else full_year(m.number("short"), m.setting.reference)


def with_weekday(reading: Reading, weekday: int) -> Reading:
    """A day that the text also calls by its weekday, told as contradictory where it is another one.

    An open year is the nearest in which the day is that weekday.
    """
    day = reading.first
    if day is None or day.weekday() == weekday:
        return reading
    if not reading.open:
        return replace(reading, flaw="contradictory")
    for year in (day.year - 1, day.year + 1):
        other = readings.day_of(year, reading.month, reading.day)
        if other is not None and other.first is not None and other.first.weekday() == weekday:
            return replace(reading, first=other.first, last=other.last)
    return reading


def full_year(short: int, reference: date | None) -> int:
    """A year of two digits: at most 20 years ahead of the text's, 1970 to 2069 without one (POSIX has 1969 to 2068)."""
    last = reference.year + 20 if reference is not None else 2069
    return last - (last - short) % 100


def word_follows(m: Match) -> bool:
    """Whether a word stands right after the match."""
    return m.found.end() < len(m.line.tokens) and m.line.text[m.line.tokens[m.found.end()].start].isalpha()


def value_of(m: Match, group: str) -> object:
    """The value of a group's token, if it took part."""
    token = m.token(group)
    return None if token is None else token.value
