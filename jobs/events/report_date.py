"""What a sentence's place in a report says of the date of its event.

An event without a date of its own borrows that of the sentence before it or of the news; a date of its own is set aside
where it is of the background of the news, and moved on where the event is yet to come.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from quern.jobs.events.document_titles import is_name
from quern.jobs.events.own_date import MONTH, Dating
from quern.jobs.events.passage import Passage, Sentence
from quern.jobs.events.telling import Telling, gone, perfect
from quern.jobs.events.timex import of_days, period

# Characters from the beginning of a document whose events may bear its own date: as long as articles of news are.
LEAD: Final = 6000
OPENING: Final = 1  # Sentences 0 and 1: what, and when.
_WEEK: Final = timedelta(7)
_DAY: Final = len("2024-03-02")
_FIRST_PERSON: Final = re.compile(r"^[^\"“`]*\bI(?:['’]\w+)?\b")


@dataclass(frozen=True)
class Carried:
    """The last date that a sentence before gave, and the line that it stands in."""

    line: int
    dating: Dating | None


NOTHING_CARRIED: Final = Carried(-1, None)


def borrowed(
    sentence: Sentence, tells: Telling, passage: Passage, carried: Carried, news: Dating | None
) -> Dating | None:
    """The date of an event whose sentence has none.

    It is that of the sentence before in its paragraph, else the day that the news is of, else the report's.
    """
    if tells in ("state", "plan"):
        return None
    before = carried.dating
    follows = carried.line == sentence.line and not is_name(passage.title)
    if before is not None and follows and not before.expected and len(before.timex) == _DAY:
        return before
    if passage.published is None or passage.start + sentence.start > LEAD or gone(sentence.text):
        return None
    if is_name(passage.title):
        return None  # An encyclopaedia goes from time to time, and what it tells was not new when it was written.
    if passage.start and _FIRST_PERSON.search(sentence.text):
        return None  # A long turn of a conversation, or a memory.
    return news or Dating(passage.published.isoformat(), "document")


def is_background(sentence: Sentence, own: Dating, published: date | None, place: int) -> bool:
    """Whether the date in one of the first sentences of a report is too old to be that of its news.

    So it is in the very first where it is vague, and where the sentence tells in the present perfect what is new.
    """
    days = period(own.timex)
    if published is None or days is None or own.expected or days.to_day >= published or place > OPENING:
        return False
    vague = place == 0 and days.to_day - days.from_day > MONTH
    return vague or (published - days.to_day > MONTH and perfect(sentence.text))


def news_day(own: Dating, published: date | None) -> Dating | None:
    """The day of the news, where the opening of a report gives one of the week before its own."""
    days = period(own.timex)
    if published is None or days is None or own.expected or days.precision != "day":
        return None
    return own if timedelta(0) <= published - days.from_day <= _WEEK else None


def moved_on(own: Dating, published: date | None) -> Dating:
    """The date of a plan; what falls in the week before is of the week to come: `let's meet on Saturday`."""
    days = period(own.timex)
    if published is None or days is None or days.to_day >= published or published - days.from_day > _WEEK:
        return own
    if days.to_day > date.max - _WEEK:
        return own
    return Dating(of_days(days.from_day + _WEEK, days.to_day + _WEEK), "text", expected=True)
