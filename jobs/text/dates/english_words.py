"""The words of time in English: their values, and pieces of expressions that match them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from quern.jobs.text.dates.calendar import Part
from quern.jobs.text.numbers import ORDINALS, english_value
from quern.schemas.words.patterns import lazy_pattern

_Rule = TypeVar("_Rule", bound=Callable[..., object])

MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS: Final = "mon tue wed thu fri sat sun".split()
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
DECADES: Final = "twenties thirties forties fifties sixties seventies eighties nineties".split()
STEPS: Final = {
    **dict.fromkeys(("last", "past", "previous", "preceding", "prior"), -1),
    **dict.fromkeys(("this", "current", "that", "same"), 0),
    **dict.fromkeys(("next", "coming", "upcoming", "following"), 1),
}
# Steps that count from the time of which the text spoke last.
FROM_ANCHOR: Final = ("that", "same", "previous", "preceding", "following")
VAGUE: Final = {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 3}
TODAY: Final = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
PARTS: Final[dict[str, Part]] = {
    **dict.fromkeys(("early", "start", "beginning", "dawn"), "start"),
    **dict.fromkeys(("mid", "middle"), "mid"),
    **dict.fromkeys(("late", "end", "close"), "end"),
}
# Units from the exact to the vague: `that year` is not told by a time that is vaguer.
FINENESS: Final = ("day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade", "century")

# ---- the words of time, as pieces of expressions

MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
WEEKDAY: Final = r"(?P<weekday>(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?)\b\.?"
SEASON: Final = rf"(?P<season>{'|'.join(SEASONS)})\b"
ORDINAL: Final = rf"(?:(?:twenty|thirty)[- ](?:{'|'.join(ORDINALS[:9])})|{'|'.join(ORDINALS)}|thirtieth)\b"
NTH: Final = rf"(?P<n>last\b|\d\d?(?:st|nd|rd|th)\b|{ORDINAL})"
FIGURES: Final = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\d:%]|[.,]\d|\s?[ap]\.?m\b)"
DAY: Final = rf"(?P<day>{FIGURES}|{ORDINAL})"
_ONES: Final = "one|two|three|four|five|six|seven|eight|nine"
_TWO_DIGITS: Final = (
    rf"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:{_ONES}))?"
    r"|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
YEAR: Final = (
    r"(?P<year>(?:1\d|2[01])\d\d(?![\d\u2e80-\u9fff]|[.,]\d)"
    rf"|(?:nineteen|twenty) {_TWO_DIGITS}\b|two thousand(?: and)?(?: (?:{_TWO_DIGITS}|{_ONES})\b)?)"
)
COUNT: Final = (
    rf"(?P<n>\d{{1,4}}|{_TWO_DIGITS}|{_ONES}"
    r"|(?:an? )?(?:few|couple(?: of)?)|several|an?)\b"
)
UNIT: Final = (
    r"(?:(?P<business>business|working|work|trading) )?"
    r"(?P<unit>days?|weeks?|weekends?|fortnights?|months?|quarters?|years?|yrs?|decades?|century|centuries)\b"
)
STEP: Final = rf"(?P<step>{'|'.join(STEPS)})\b"
LEAD: Final = rf"(?:{WEEKDAY},? (?:the )?)?"
TO: Final = r"(?:\s?[-–—~]{1,2}\s?|\s(?:to|until|till|through)\s)"
OF_YEAR: Final = rf"(?:[-/,]?\s?(?:of |in )?{YEAR}|,? ?['’](?P<short>\d\d)\b)"


def nameless(expression: str) -> str:
    """An expression without the names of its groups, to stand in one beside another."""
    return re.sub(r"\?P<\w+>", "?:", expression)


def month_number(m: re.Match[str]) -> int:
    """The month that a match names, 1 to 12."""
    return 1 + MONTHS.index(m["month"][:3].lower())


def weekday_number(m: re.Match[str]) -> int:
    """The weekday that a match names, 0 for Monday."""
    return WEEKDAYS.index(m["weekday"][:3].lower())


def unit_name(word: str) -> str:
    """A unit in the singular, in full."""
    singular = {"yr": "year", "centurie": "century"}
    plain = word.lower().rstrip("s")
    return singular.get(plain, plain)


def number(words: str) -> int:
    """The number that figures, a number in words or an ordinal write; -1 for the last."""
    plain = words.lower().removesuffix(" of")
    if plain[0].isdigit():
        return int(re.sub(r"\D", "", plain))
    if plain == "last":
        return -1
    last = plain.replace("-", " ").split()[-1]
    if last in VAGUE:
        return VAGUE[last]
    if last in ORDINALS:
        return 1 + ORDINALS.index(last) + {"twenty": 20, "thirty": 30}.get(plain[:6], 0) * (last != plain)
    return 30 if last == "thirtieth" else english_value(plain) or 0


def year_number(words: str) -> int:
    """A year in figures or in words, of which the first may be its hundreds: `nineteen ninety six`."""
    if words.isdigit() or words.lower().startswith("two thousand"):
        return int(words) if words.isdigit() else english_value(words) or 0
    high, _, low = words.partition(" ")
    return 100 * (english_value(high) or 0) + (english_value(low) or 0)


def compiled(rules: dict[str, _Rule]) -> tuple[tuple[re.Pattern[str], _Rule], ...]:
    """Rules by their expressions, each compiled when it is first tried."""
    return tuple((lazy_pattern(expression, re.IGNORECASE), rule) for expression, rule in rules.items())
