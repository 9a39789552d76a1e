"""Times that English and Chinese texts name: found, and resolved to days.

An English text becomes a line of codes, one letter a word, over which small expressions find points in time
(`days`, `units`; relative ones in `stepped`, `counted`, `own_day`); neighbours are joined (`combine`), then ranges and
signals (`ranges`). Chinese has an expression of its own (`chinese_forms`), compiled when the first text needs it. Each
pass is linear in the text.

Written out rather than taken from a library, for none is right alone. Recognizers-Text has the widest grammar but takes
ten milliseconds a sentence, reads each month and weekday as a time twice (past and future) and says which is meant of
none; dateparser's search takes some milliseconds a sentence, finds dates in `may march` and `2000`, misses `the third
quarter` and reads 4月20日 as a day of July; jionlp knows Chinese only and needs the span given. Ours decides for what
was, unless the text speaks of what is to come, and tells what it cannot resolve (`When.flaw`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from quern.jobs.text.dates.chinese import chinese_times
from quern.jobs.text.dates.english import english_times
from quern.jobs.text.dates.order import order_of
from quern.jobs.text.dates.points import Setting
from quern.jobs.text.dates.when import Flaw, Order, Part, Precision, Signal, When
from quern.schemas.words.patterns import lazy_pattern

__all__ = ["Flaw", "Order", "Part", "Precision", "Signal", "When", "dates", "order_of"]

# Words of what is to come: without one of them, a text tells what was.
_AHEAD: Final = lazy_pattern(
    r"\b(?:will|shall|would|next|due|plans?|planned|planning|(?:from|by|until|till)\s+\d|expected|scheduled"
    r"|deadline|to\s+be|going\s+to"
    r"|is\s+to|are\s+to)\b"
    r"|['’]ll\b|将|会|到期|截[止至]|预计|计划",
    re.IGNORECASE,
)


def dates(text: str, default: date | None = None, order: Order | None = None, *, vague: bool = False) -> list[When]:
    """The times that `text` names, in order and disjoint.

    A time without a year (`2 March`), a weekday and a time relative to another (`last month`) are read against
    `default`, usually the day of publication: the nearest such day, but of the past unless the text speaks of what is
    to come; for a weekday the last one. Years alone count from 1000 to 2099 where nothing is counted by them.

    Args:
        text: A sentence or more; what it said before decides `three days later` and `that year`.
        default: The day of the text, or its time, from which hours are counted.
        order: In which order it writes day and month in digits (see `order_of`). Without one, 4/5/2016 is read month
            first and told as ambiguous, unless another date of the text decides.
        vague: Whether times that lean on the moment of writing are wanted too: `now`, `ten minutes ago`, and `that day`
            where the text has named none.
    """
    found = _times(text.translate(_NARROW), default, order)
    if not text.isascii():
        found = [replace(w, text=text[w.start : w.end]) if _WIDE.search(text, w.start, w.end) else w for w in found]
    return found if vague else [w for w in found if not w.present and w.flaw != "unanchored"]


# Digits and marks of full width as those of ASCII, each as long as it was.
_NARROW: Final = dict(zip(range(0xFF0D, 0xFF1B), range(0x2D, 0x3B), strict=True))
_WIDE: Final = lazy_pattern("[\uff0d-\uff1a]")


def _times(text: str, default: date | None, order: Order | None) -> list[When]:
    told = default is not None and _AHEAD.search(text) is None
    if order is None and "/" in text:
        order = order_of(text=text)
    now = default if isinstance(default, datetime) else None
    setting = Setting(now.date() if now is not None else default, order, told, now)
    chinese, english = chinese_times(text, setting), english_times(text, setting)
    if not chinese or not english:
        return chinese or english
    taken = iter(chinese)
    apart, other = [], next(taken, None)
    for when in english:  # Both are in order.
        while other is not None and other.end <= when.start:
            other = next(taken, None)
        if other is None or when.end <= other.start:
            apart.append(when)
    return sorted([*chinese, *apart], key=lambda w: w.start)
