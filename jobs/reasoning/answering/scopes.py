"""When something holds that returns: in which months, on which days of the week, at which hours.

`From 1 November to the end of March they go free` says nothing of a year, and that they do not in May.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from quern.schemas.words.calendar import MONTHS, WEEKDAYS
from quern.schemas.words.patterns import lazy_pattern

Unit = Literal["month", "weekday", "hour"]


class Scope(NamedTuple):
    """The months, days of the week or half hours in which something holds.

    Attributes:
        unit: What is counted.
        places: Numbers in the round of the year, the week or the day, from 0; an hour is two halves.
    """

    unit: Unit
    places: frozenset[int]


_MONTHS: Final = [month.lower() for month in MONTHS]
_WEEKDAYS: Final = [day.lower() for day in WEEKDAYS]
_SIZE: Final = {"month": 12, "weekday": 7, "hour": 48}
_DAY: Final = (
    r"(?:the\s+)?(?:(?:end|beginning|start|middle|\d{1,2}(?:st|nd|rd|th)?)\s+(?:of\s+)?|mid-?|early\s+|late\s+)?"
)
_HOUR: Final = (
    r"(?P<{0}>\d{{1,2}}(?:[.:]\d\d)?\s?(?:[ap]\.?m\b\.?)?|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve)\b|noon|midnight)(?P<{0}_of>\s+(?:in\s+the\s+(?:morning|afternoon|evening)|at\s+night|o['’]clock))?"
)
_TO: Final = r"\s*(?:\bto\b|\bthrough\b|\buntil\b|\btill\b|\band\b|[–—-])\s*"
_NUMBERS: Final = "one two three four five six seven eight nine ten eleven twelve".split()
_YEAR: Final = r"(?!\.?,?\s+(?:1\d|20)\d\d\b)"


def _named(words: list[str], day: str = "") -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of a range and of a single one of these words; `may` must have its capital."""
    one = "|".join(w[:1].upper() + w[1:] for w in words)
    ranged = rf"\b(?P<open>[Ff]rom\s+|[Bb]etween\s+)?{day}(?P<a>{one})s?{_TO}{day}(?P<b>{one})\b{_YEAR}"
    return lazy_pattern(ranged), lazy_pattern(rf"(?<!\d )\b(?P<a>{one})(?P<each>s?)\b{_YEAR}(?!\s+\d)")


_OF_MONTHS: Final = _named(_MONTHS, _DAY)
_OF_WEEKDAYS: Final = _named(_WEEKDAYS)
_EACH: Final = lazy_pattern(r"\b(?:every|each|only|except)\s+(?:on\s+|in\s+)?$", re.IGNORECASE)
_SEVERAL_DAYS: Final = (
    (lazy_pattern(r"\bweekdays?\b", re.IGNORECASE), frozenset(range(5))),
    (lazy_pattern(r"\bweekends?\b", re.IGNORECASE), frozenset((5, 6))),
    (lazy_pattern(r"\b(?:daily|every day|seven days a week)\b", re.IGNORECASE), frozenset(range(7))),
)
_BETWEEN: Final = lazy_pattern(
    rf"\b(?:from|between)\s+{_HOUR.format('a')}{_TO}{_HOUR.format('b')}|"
    r"(?<![\d.])(?P<c>\d{1,2}[.:]\d\d)\s*(?:to|[–—-])\s*(?P<d>\d{1,2}[.:]\d\d)(?![\d.])",
    re.IGNORECASE,
)
_FROM: Final = lazy_pattern(rf"\b(?P<way>after|before|until|till|from|by|past)\s+{_HOUR.format('a')}", re.IGNORECASE)
_AT: Final = lazy_pattern(rf"\b(?:at|around|about)\s+{_HOUR.format('a')}", re.IGNORECASE)


def scopes(text: str, *, returning: bool = False) -> list[Scope]:
    """What a text says of months without a year, of days of the week and of hours; one scope of each unit at most.

    Args:
        text: A sentence.
        returning: Leave out what may be one month or one day, as `on Wednesday` of the news, but not `on Wednesdays`.
    """
    named: list[tuple[Unit, list[str], tuple[re.Pattern[str], re.Pattern[str]]]] = [
        ("month", _MONTHS, _OF_MONTHS),
        ("weekday", _WEEKDAYS, _OF_WEEKDAYS),
    ]
    found = []
    for unit, words, (ranged, single) in named:
        places = frozenset[int]()
        for m in ranged.finditer(text):
            places |= _round(words.index(m["a"].lower()), words.index(m["b"].lower()) + 1, _SIZE[unit])
        for m in single.finditer(ranged.sub(" ", text)):
            if not returning or m["each"] or _EACH.search(text, max(0, m.start() - 12), m.start()):
                places |= {words.index(m["a"].lower())}
        if unit == "weekday":
            places |= frozenset().union(*(days for pattern, days in _SEVERAL_DAYS if pattern.search(text)))
        if places:
            found.append(Scope(unit, places))
    if hours := _hours(text, returning):
        found.append(Scope("hour", hours))
    return found


def _round(first: int, end: int, size: int) -> frozenset[int]:
    """The places from `first` up to `end`, past the last one on to the first."""
    return frozenset(n % size for n in range(first, end if end > first else end + size))


def _hours(text: str, returning: bool) -> frozenset[int]:
    """The half hours that a text speaks of."""
    if (m := _BETWEEN.search(text)) is not None:
        ends = (m["c"], m["d"], "", "") if m["c"] else (m["a"], m["b"], m["a_of"], m["b_of"])
        first, last = _half(ends[0], ends[2] or ends[3]), _half(ends[1], ends[3])
        return _round(first, last, 48) if first is not None and last is not None and first != last else frozenset()
    if (m := _FROM.search(text)) is not None and (at := _half(m["a"], m["a_of"])) is not None:
        later = m["way"].lower() in ("after", "from", "past")
        return frozenset(range(at, 48) if later else range(at))
    if not returning and (m := _AT.search(text)) is not None and (at := _half(m["a"], m["a_of"])) is not None:
        return frozenset({at})
    return frozenset()


def _half(words: str, of: str | None) -> int | None:
    """The half hour of the day that a time falls into; None where a bare number is no time."""
    plain, of = words.lower().strip(), (of or "").lower()
    if plain in ("noon", "midnight"):
        return 24 if plain == "noon" else 47
    m = re.match(r"(\d{1,2})(?:[.:](\d\d))?\s?([ap])?", plain)
    if m is None:
        # Where case is ignored `ſix` is matched too, which is no number here.
        hour, minute, half = next((n for n, word in enumerate(_NUMBERS, 1) if word == plain), 24), 0, ""
    else:
        hour, minute, half = int(m[1]), int(m[2] or 0), m[3] or ""
    if not (of or half or (m is not None and m[2])):
        return None
    if hour < 12 and (half == "p" or "afternoon" in of or "evening" in of or "night" in of):
        hour += 12
    return 2 * hour + (minute >= 30) if hour < 24 and minute < 60 else None
