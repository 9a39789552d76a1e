"""Relative times of a question as days, counted from a given day: `last month`, `two years ago`, `昨天`."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from quern.jobs.text.dates import When, dates
from quern.schemas.words.calendar import MONTHS, WEEKDAYS

_YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|(?<!\d)20\d{6}(?!\d)")
# Counted back in years or months, a text speaks of the whole year or month.
_AGO: Final = re.compile(
    r"(?P<year>years?|年)(?: ago|以?前|之前)|(?P<month>months?|个月)(?: ago|以?前|之前)", re.IGNORECASE
)
_NO_TIME: Final = ("today", "今天", "今日")
_LAST_WEEKDAY: Final = re.compile(rf"last (?:{'|'.join(WEEKDAYS)})", re.IGNORECASE)


@dataclass(frozen=True)
class Span:
    """Days that a question is about, both ends included."""

    first: date
    last: date
    words: str  # The words of the question that say so.
    start: int  # Their first character in the question.

    @property
    def end(self) -> int:
        """One past the last character of its words."""
        return self.start + len(self.words)

    def told(self, chinese: bool = False) -> str:
        """The days in words: a day, a month, a year, or its two ends."""
        first, last = self.first, self.last
        joint = "至" if chinese else " to "
        if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
            return joint.join(f"{year}年" if chinese else str(year) for year in sorted({first.year, last.year}))
        if (first.day, last) == (1, first.replace(day=monthrange(first.year, first.month)[1])):
            return f"{first.year}年{first.month}月" if chinese else f"{MONTHS[first.month - 1]} {first.year}"
        return joint.join(
            f"{day.year}年{day.month}月{day.day}日" if chinese else f"{day.day} {MONTHS[day.month - 1]} {day.year}"
            for day in sorted({first, last})
        )


def spans(question: str, now: date) -> list[Span]:
    """The times that `question` names relative to `now`, in their order.

    A question that names a year has a time of its own, which the others count from.
    """
    if _YEAR.search(question):
        return []
    known = {when.start for when in dates(question) if when.from_day}
    relative = [w for w in dates(question, now) if not w.open and w.start not in known]
    return [_span(w, now) for w in relative if w.text.lower() not in _NO_TIME and not _in_title(question, w)]


def _span(when: When, now: date) -> Span:
    first, last = when.from_day or now, when.to_day or now
    ago = _AGO.search(when.text)
    if ago and ago["year"]:
        first, last = date(first.year, 1, 1), date(first.year, 12, 31)
    elif ago:
        first, last = first.replace(day=1), first.replace(day=monthrange(first.year, first.month)[1])
    elif _LAST_WEEKDAY.fullmatch(when.text):  # The last one, not that of the last week.
        first = last = now - timedelta((now.weekday() - first.weekday()) % 7 or 7)
    return Span(first, last, when.text, when.start)


def _in_title(question: str, when: When) -> bool:
    """Whether the words are part of a title: in quotation marks, or with a capital inside a sentence."""
    before = question[: when.start]
    quoted = sum(before.count(mark) for mark in '"“”「」《》') % 2 == 1
    return quoted or (when.text[0].isupper() and bool(before.strip()) and before.rstrip()[-1] not in ".?!:,;")
