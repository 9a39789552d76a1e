"""Times that English and Chinese texts name, resolved to days.

Times are of the past unless the text speaks of what is to come; `When.flaw` says what cannot be resolved. Libraries
are slower and less right: dateparser's search finds dates in `may march` and misses `the third quarter`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from quern.jobs.text.dates.calendar import Order, Setting, When
from quern.jobs.text.dates.chinese import chinese_times
from quern.jobs.text.dates.english import english_times
from quern.schemas.words.patterns import lazy_pattern

__all__ = ["Order", "When", "dates", "order_of"]

# Words of what is to come: without one of them, a text tells what was.
_AHEAD: Final = lazy_pattern(
    r"\b(?:will|shall|would|next|due|plans?|planned|planning|(?:from|by|until|till)\s+\d|expected|scheduled"
    r"|deadline|(?:is|are|going)\s+to|to\s+be)\b|['’]ll\b|将|会|到期|截[止至]|预计|计划",
    re.IGNORECASE,
)
# Digits and marks of full width as those of ASCII, and white space as spaces, each as long as it was. Where case is
# ignored, other letters match i, s and k.
_PLAIN: Final = str.maketrans("－．／０１２３４５６７８９：\n\t\xa0İıſ\u212a", "-./0123456789:   øøøø")
_IN_FIGURES: Final = lazy_pattern(r"(?<![\d/.-])(\d\d?)/(\d\d?)/(?:\d{4}|\d\d)(?![\d/])")
_ANY_DAY: Final = date(2000, 1, 1)


def dates(text: str, default: date | None = None, order: Order | None = None) -> list[When]:
    """The times that `text` names, in order and disjoint.

    A time without a year (`2 March`), a weekday and a time relative to another (`last month`) are read against
    `default`, usually the day of publication: the nearest such day, but of the past unless the text speaks of what is
    to come; for a weekday the last one. Years alone count from 1000 to 2199 where nothing is counted by them.

    What a text said before decides `three days later` and `that year`. Without an `order` (see `order_of`), 4/5/2016 is
    read month first and marked as ambiguous, unless another date of the text decides.
    """
    plain = text.translate(_PLAIN)
    if isinstance(default, datetime):
        default = default.date()
    past = default is not None and _AHEAD.search(plain) is None
    setting = Setting(default or _ANY_DAY, order or order_of(plain), past, default is not None)
    times = chinese_times(plain, setting)
    positions = {at for when in times for at in range(when.start, when.end)}
    times += [when for when in english_times(plain, setting) if positions.isdisjoint(range(when.start, when.end))]
    times.sort(key=lambda when: when.start)
    return times if plain == text else [replace(when, text=text[when.start : when.end]) for when in times]


def order_of(text: str) -> Order | None:
    """The order of day and month in the dates of a text: of those that have a day above the twelfth, if they agree."""
    orders: set[Order] = set()
    for m in _IN_FIGURES.finditer(text) if "/" in text else ():
        one, other = int(m[1]), int(m[2])
        if 12 < one <= 31 and 1 <= other <= 12:
            orders.add("day first")
        elif 12 < other <= 31 and 1 <= one <= 12:
            orders.add("month first")
    return orders.pop() if len(orders) == 1 else None
