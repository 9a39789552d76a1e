"""A time that a text names: its span, its days, its value in the form of TIMEX3."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

Precision = Literal["day", "week", "month", "season", "year", "range"]
Signal = Literal["", "before", "until", "after", "since"]
Part = Literal["", "start", "mid", "end"]
# `ambiguous`: day and month may be exchanged; `impossible`: no such day; `contradictory`: the text itself calls it by
# another weekday or day; `lunar`: a day of the Chinese calendar; `unanchored`: counted from a day that the text does
# not name.
Flaw = Literal["", "ambiguous", "impossible", "contradictory", "lunar", "unanchored"]
# In which order a text writes day and month in digits.
Order = Literal["day first", "month first"]


@dataclass(frozen=True)
class When:
    """A time that a text names.

    Attributes:
        start: First character.
        end: Character after the last.
        from_day: First day meant; null where the text leaves it open and no reference fills it, and where it is no
            day of the calendar.
        to_day: Last day meant.
        precision: The unit that the text speaks in: a quarter and a half-year are a `season`, a decade and a century
            a `year`; `range` where it names both ends.
        text: The characters themselves.
        timex: The value as TIMEX3 writes it, open parts as X: `2019-01-04`, `XXXX-03-05`, `2015-W33`, `2016-SU`;
            a range as `(2016-09-04,2016-09-17,P13D)`.
        signal: On which side of the time the text speaks: `since 2011` is after the start of 2011.
        part: Whether only the start, the middle or the end of the unit is meant; the days are those of the part.
        flaw: What is wrong with the time or unsure about it.
        present: Whether it is the moment of writing, or counted from it in hours: `now`, `ten minutes ago`.
        outer: The span with the words that belong to it: preposition, time of day.
    """

    start: int
    end: int
    from_day: date | None
    to_day: date | None
    precision: Precision
    text: str
    timex: str = ""
    signal: Signal = ""
    part: Part = ""
    flaw: Flaw = ""
    present: bool = False
    outer: tuple[int, int] = (0, 0)

    @property
    def days(self) -> tuple[date | None, date | None]:
        """The first and the last day that the text speaks of, with its signal: `since 2011` has no last one."""
        if self.signal in ("before", "until"):
            return None, self.to_day if self.signal == "until" else self.from_day
        if self.signal in ("after", "since"):
            return self.from_day if self.signal == "since" else self.to_day, None
        return self.from_day, self.to_day
