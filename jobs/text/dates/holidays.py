"""Holidays that fall on the same day each year, or on one that a rule gives."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from typing import Final

# Words with which a holiday's name may begin or be told; the names themselves are below.
HOLIDAY_WORDS: Final = ("christmas", "xmas", "easter", "thanksgiving", "halloween", "hogmanay", "eve")


def easter(year: int) -> date:
    """Easter Sunday of the western churches (the anonymous Gregorian algorithm, Meeus 1991, ch. 8)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    el = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 19 * el) // 433
    month = (h + el - 7 * m + 90) // 25
    return date(year, month, (h + el - 7 * m + 33 * month + 19) % 32)


def nth_weekday(year: int, month: int, weekday: int, n: int) -> date:
    """The nth such weekday of a month, from its end where n is negative."""
    if n > 0:
        first = date(year, month, 1)
        return first + timedelta((weekday - first.weekday()) % 7 + 7 * (n - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(1)
    return last - timedelta((last.weekday() - weekday) % 7 - 7 * (n + 1))


_FIXED: Final = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "xmas": (12, 25),
    "christmas eve": (12, 24),
    "boxing day": (12, 26),
    "new year's day": (1, 1),
    "new year's eve": (12, 31),
    "valentine's day": (2, 14),
    "st patrick's day": (3, 17),
    "april fools' day": (4, 1),
    "earth day": (4, 22),
    "international workers' day": (5, 1),
    "labour day": (5, 1),
    "may day": (5, 1),
    "independence day": (7, 4),
    "bastille day": (7, 14),
    "halloween": (10, 31),
    "armistice day": (11, 11),
    "veterans day": (11, 11),
    "hogmanay": (12, 31),
    "new years day": (1, 1),
    "groundhog day": (2, 2),
    "women's day": (3, 8),
    "cinco de mayo": (5, 5),
    "juneteenth": (6, 19),
    "canada day": (7, 1),
    "australia day": (1, 26),
    "anzac day": (4, 25),
    "all saints' day": (11, 1),
    "remembrance day": (11, 11),
    "singles' day": (11, 11),
}
_MOVING: Final[dict[str, Callable[[int], date]]] = {
    "easter": easter,
    "easter sunday": easter,
    "easter monday": lambda year: easter(year) + timedelta(1),
    "good friday": lambda year: easter(year) - timedelta(2),
    "ash wednesday": lambda year: easter(year) - timedelta(46),
    "thanksgiving": lambda year: nth_weekday(year, 11, 3, 4),
    "thanksgiving day": lambda year: nth_weekday(year, 11, 3, 4),
    "black friday": lambda year: nth_weekday(year, 11, 3, 4) + timedelta(1),
    "labor day": lambda year: nth_weekday(year, 9, 0, 1),
    "memorial day": lambda year: nth_weekday(year, 5, 0, -1),
    "mother's day": lambda year: nth_weekday(year, 5, 6, 2),
    "father's day": lambda year: nth_weekday(year, 6, 6, 3),
    "martin luther king day": lambda year: nth_weekday(year, 1, 0, 3),
    "presidents' day": lambda year: nth_weekday(year, 2, 0, 3),
    "columbus day": lambda year: nth_weekday(year, 10, 0, 2),
}


def _plain(name: str) -> str:
    return name.lower().replace("’", "").replace("'", "").replace(".", "")


@cache
def names() -> dict[str, str]:
    """The holidays by name without marks."""
    return {_plain(name): name for name in (*_FIXED, *_MOVING)}


def holiday(name: str) -> str | None:
    """The holiday of that name, however it is written."""
    return names().get(" ".join(_plain(name).split()))


def on(name: str, year: int) -> date:
    """The day of a holiday in a year."""
    if name in _FIXED:
        return date(year, *_FIXED[name])
    return _MOVING[name](year)
