"""Holidays that fall on the same day each year, or on one that a rule gives."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from quern.jobs.text.dates.calendar import nth_weekday

_FIXED: Final = {
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25), "xmas": (12, 25),
    "boxing day": (12, 26), "new years eve": (12, 31), "new years day": (1, 1), "valentines day": (2, 14),
    "womens day": (3, 8), "st patricks day": (3, 17), "earth day": (4, 22), "may day": (5, 1), "juneteenth": (6, 19),
    "canada day": (7, 1), "independence day": (7, 4), "bastille day": (7, 14), "halloween": (10, 31),
    "international workers day": (5, 1), "labour day": (5, 1), "all saints day": (11, 1),
    "armistice day": (11, 11), "veterans day": (11, 11),
}  # fmt: skip
# Days from Easter Sunday.
_BY_EASTER: Final = {"good friday": -2, "easter monday": 1, "easter sunday": 0, "ash wednesday": -46, "easter": 0}
# Month, weekday, which one, and days from it.
_NTH: Final = {
    "thanksgiving day": (11, 3, 4, 0), "thanksgiving": (11, 3, 4, 0), "black friday": (11, 3, 4, 1),
    "labor day": (9, 0, 1, 0), "memorial day": (5, 0, -1, 0), "mothers day": (5, 6, 2, 0), "fathers day": (6, 6, 3, 0),
    "martin luther king day": (1, 0, 3, 0), "presidents day": (2, 0, 3, 0), "columbus day": (10, 0, 2, 0),
}  # fmt: skip
# An expression for each name, the longer first; apostrophes may stand before or behind the s.
HOLIDAYS: Final = "|".join(
    re.sub(r"s (?=day|eve)", "['’]?s?['’]? ", name).replace("st ", r"st\.? ")
    for name in sorted((*_FIXED, *_BY_EASTER, *_NTH), key=len, reverse=True)
)


def holiday(words: str, year: int) -> date:
    """The day in a year of the holiday that an expression of `HOLIDAYS` has matched."""
    name = re.sub(r"['’.]", "", " ".join(words.lower().split()))
    if name in _FIXED:
        return date(year, *_FIXED[name])
    if name in _BY_EASTER:
        return easter(year) + timedelta(_BY_EASTER[name])
    month, weekday, n, beside = _NTH[name]
    first, end = date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
    return nth_weekday(first, end - timedelta(1), weekday, n) + timedelta(beside)


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
