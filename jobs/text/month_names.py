"""Names of months and weekdays in the languages that dateparser knows best, after Unicode's CLDR."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final

from quern.schemas.words.calendar import MONTHS, WEEKDAYS

_MONTHS: Final = [month.lower() for month in MONTHS]
_WEEKDAYS: Final = [day.lower() for day in WEEKDAYS]
_ENGLISH: Final = {name[:length]: n for n, name in enumerate(_MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
_ENGLISH_DAYS: Final = frozenset(name[:length] for name in _WEEKDAYS for length in (3, 4, 5, len(name)))


@dataclass(frozen=True)
class _Names:
    """Months by their names and languages, and the names of weekdays."""

    months: dict[str, dict[str, int]]
    weekdays: frozenset[str]


def folded(word: str) -> str:
    """A word without case and accents, as some files write it."""
    return "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))


def month_named(word: str, language: str | None = None) -> int | None:
    """The month, 1 to 12, that `word` names; where languages disagree (listopad) that of `language`.

    Null for no month, and where nothing decides between two.

    Args:
        word: As `folded`.
        language: ISO 639-1 code, perhaps with a region.
    """
    if (english := _ENGLISH.get(word)) is not None:
        return english
    named = _names().months.get(word, {})
    spoken = (language or "").partition("-")[0].lower()
    if spoken in named:
        return named[spoken]
    return next(iter(named.values())) if len(set(named.values())) == 1 else None


def is_weekday(word: str) -> bool:
    """Whether `word`, as `folded`, names a weekday; a letter of the alphabet does not: `v1.2.2024` is a version."""
    return (len(word) > 1 or not word.isascii()) and (word in _ENGLISH_DAYS or word in _names().weekdays)


@cache
def _names() -> _Names:
    """Those of all languages, read where an English name did not do: dateparser takes a third of a second to import."""
    # The most used languages by dateparser's own order: those of Europe and of East Asia.
    order = import_module("dateparser.data.languages_info").language_order[:60]
    months: defaultdict[str, dict[str, int]] = defaultdict(dict)
    weekdays: set[str] = set()
    for language in order:
        info = import_module(f"dateparser.data.date_translation_data.{language}").info
        for number, name in enumerate(_MONTHS, 1):
            for word in info.get(name, ()):
                months[folded(word).rstrip(".")].setdefault(language, number)
        weekdays.update(folded(word).rstrip(".") for name in _WEEKDAYS for word in info.get(name, ()))
    return _Names(dict(months), frozenset(weekdays))
