"""The English words of time, each as one letter of the code in which the grammar is written, with its value.

Letters: a d h n numbers (1-12, 13-31, other up to 99, larger), Y a year, b e numbers in words (1-12, 13-31), o an
ordinal of 1-31, g `a`; M month, W weekday, w weekdays, S season, u U a unit in singular and plural, H units below a
day, B `business`; L last, N next, T this; A ago, F from now; E a part of a unit, r `rest`, l `later`; R today and the
like, p a part of the day, m `pm` and time zones; t the, f of, i in, I on; 1 from, 2 between, 3 before, 4 after,
5 since, 6 to, 7 until, 8 and, 9 by, 0 than; v each; Q `q` before its number, C `fy` before a year; c a decade in a
word, D the `s` of one in digits; X a holiday; G a date in digits, J one without a year, V a month and year, j two
years, k a time; x any other.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from quern.jobs.text.dates.holidays import HOLIDAY_WORDS

_MONTHS: Final = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|"
    "october oct|november nov|december dec"
)
_WEEKDAYS: Final = (
    "monday mon|tuesday tues tue|wednesday wed|thursday thurs thur thu|friday fri|saturday sat|sunday sun"
)
_ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
)
_SEASONS: Final = {"spring": "SP", "summer": "SU", "autumn": "FA", "fall": "FA", "winter": "WI"}
_DECADES: Final = "twenties thirties forties fifties sixties seventies eighties nineties"
_UNITS: Final = "day week weekend fortnight month quarter year decade".split()
_NOW: Final = {
    "today": 0,
    "tonight": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "tomorow": 1,
    "tmr": 1,
    "now": None,
    "eod": 0,
}
# Words that are months or weekdays only where they are written so, or beside a number: others are words of their own.
DOUBTFUL: Final = frozenset("may march mar jan dec sat sun mon wed fri second fall spring".split())

Meaning = tuple[str, int | str | None]


@cache
def lexicon() -> dict[str, Meaning]:
    """Code and value of each English word, in small letters."""
    words: dict[str, Meaning] = {}
    for n, names in enumerate(_MONTHS.split("|"), start=1):
        words |= dict.fromkeys(names.split(), ("M", n))
    for n, names in enumerate(_WEEKDAYS.split("|")):
        words |= dict.fromkeys(names.split(), ("W", n))
        words[names.split()[0] + "s"] = ("w", n)
    for n, name in enumerate(_ORDINALS.split(), start=1):
        words[name] = ("o", n)
    words |= {name: ("S", code) for name, code in _SEASONS.items()}
    for unit in _UNITS:
        words[unit] = ("u", unit)
        words[unit + "s"] = ("U", unit)
    words |= {"century": ("u", "century"), "centuries": ("U", "century"), "night": ("p", "night")}
    words |= {"half": ("u", "half"), "q": ("Q", None), "cy": ("C", None), "fy": ("C", None)}
    words |= {name: ("c", 1920 + 10 * n) for n, name in enumerate(_DECADES.split())}
    words |= dict.fromkeys(HOLIDAY_WORDS, ("X", None))
    words |= {"yr": ("u", "year"), "yrs": ("U", "year"), "wk": ("u", "week"), "wks": ("U", "week")}
    words |= dict.fromkeys("hour hours hr hrs h".split(), ("H", 3600))
    words |= dict.fromkeys("minute minutes min mins".split(), ("H", 60)) | dict.fromkeys(("seconds", "sec"), ("H", 1))
    words["second"] = ("o", 2)
    words |= dict.fromkeys(("business", "working", "work", "trading", "calendar"), ("B", None))
    words |= dict.fromkeys(("last", "past", "previous", "preceding", "prior"), ("L", -1))
    words |= dict.fromkeys(("next", "coming", "upcoming", "following"), ("N", 1))
    words |= {"this": ("T", 0), "current": ("T", 0)}
    words |= dict.fromkeys(("that", "same"), ("T", None))
    words |= dict.fromkeys(("ago", "earlier", "previously"), ("A", -1))
    words |= {"later": ("l", "later"), "hence": ("F", 1), "rest": ("r", "rest")}
    words |= dict.fromkeys(("remaining", "remainder"), ("r", "rest"))
    words |= dict.fromkeys(("early", "start", "beginning", "earliest", "dawn"), ("E", "start"))
    words |= dict.fromkeys(("mid", "middle"), ("E", "mid"))
    words |= dict.fromkeys(("late", "end", "close"), ("E", "end"))
    words |= {word: ("R", step) for word, step in _NOW.items()}
    words |= dict.fromkeys(
        "morning afternoon evening noon midnight midday lunchtime dawn dusk nightfall breakfast dinner".split(),
        ("p", None),
    )
    words |= dict.fromkeys("mornings afternoons evenings nights".split(), ("q", None))
    words |= dict.fromkeys(("am", "pm", "o'clock", "oclock"), ("m", None))
    words |= {"the": ("t", None), "of": ("f", None), "a": ("g", 1), "an": ("g", 1)}
    words |= {"in": ("i", None), "within": ("i", None)}
    words |= dict.fromkeys("on at during around about circa for over throughout".split(), ("I", None))
    words |= {"year": ("u", "year"), "from": ("1", None), "between": ("2", None), "after": ("4", None)}
    words |= {"before": ("3", None), "since": ("5", None), "starting": ("5", None), "beginning": ("E", "start")}
    words |= dict.fromkeys(("to", "through", "thru"), ("6", None))
    words |= dict.fromkeys(("until", "till", "til", "untill"), ("7", None))
    words |= {"than": ("0", None)}
    words |= dict.fromkeys("gmt utc est edt cst cdt mst pst pdt cet cest bst ist jst".split(), ("m", None))
    words |= {"and": ("8", None), "by": ("9", None)}
    words |= dict.fromkeys(("each", "every", "any", "daily", "weekly", "monthly"), ("v", None))
    return words
